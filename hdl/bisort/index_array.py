"""The index array: the first key of each partition, searched by halving, a search a cycle."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, memory
from amaranth.lib.wiring import In
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.request import request_response, tagged

#: Cycles of a step of a search: to ask the memory, to have its word, to compare.
CYCLES_A_STEP = 3


def search(arrays: SortedArrays) -> data.StructLayout:
    """A request: the region of an array, its last partition, and a bound."""
    return data.StructLayout(
        {"region": arrays.array["region"].shape, "last": arrays.partition_number, "bound": arrays.bound}
    )


class IndexArray(Part):
    """For each region the first key of each of its partitions but the first.

    A search finds the last partition that begins with a key below the bound, or the first partition. So the first key
    that is not below the bound is in that partition, or right behind it. Half of the partitions that are left go in
    each step, and each step has a memory of its own, with the keys that can be asked for there: so a search begins in
    every cycle, and ends after :data:`CYCLES_A_STEP` cycles a step. Keys come from the lines that are written: the
    first tuple of a line that begins a partition.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    clients
        How many share the searches.

    Members
    -------
    write, line, key
        A line is being written, its number, the key of its first tuple.
    searches
        Requests are always taken; the response is the number of a partition.
    """

    def __init__(self, arrays: SortedArrays, clients: int):
        self._arrays = arrays
        self._request = tagged(search(arrays), clients)
        response = tagged(arrays.partition_number, clients)
        super().__init__(
            {
                "write": In(1),
                "line": In(range(arrays.places // arrays.lanes)),
                "key": In(arrays.tuple["key"].shape),
                "searches": In(request_response(self._request, response)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays = self._arrays
        steps = exact_log2(arrays.partitions)
        lines = exact_log2(arrays.partition // arrays.lanes)  # of a partition
        begins = self.write & (self.line[:lines] == 0)
        partition, region = self.line[lines : lines + steps], self.line[lines + steps :]
        write, written, key = Signal(), Signal.like(Cat(partition, region)), Signal.like(self.key)
        m.d.sync += [write.eq(begins), written.eq(Cat(partition, region)), key.eq(self.key)]
        partition, region = written[:steps], written[steps:]

        valid, query, found = self.searches.request.valid, self.searches.request.p, Signal(0)
        m.d.comb += self.searches.request.ready.eq(1)
        for step in range(steps):
            # Nodes of this step: those partitions whose number is an odd multiple of ``1 << below``.
            below = steps - 1 - step
            m.submodules[f"step{step}"] = keys = memory.Memory(
                shape=key.shape(), depth=(arrays.places // arrays.subwindow) << step, init=[]
            )
            port, read = keys.write_port(), keys.read_port()
            m.d.comb += [
                port.en.eq(write & partition[below] & (partition[:below] == 0)),
                port.addr.eq(Cat(partition[below + 1 :], region)),
                port.data.eq(key),
                read.addr.eq(Cat(found, query.what.region)),
            ]
            valid, query, found = self._halve(m, step, valid, query, found, read.data)
        m.d.comb += [
            self.searches.response.valid.eq(valid),
            self.searches.response.p.client.eq(query.client),
            self.searches.response.p.what.eq(found),
        ]
        return m

    def _halve(self, m, step, valid, query, found, key):
        """One step: what has been found so far, and one bit more."""
        below = exact_log2(self._arrays.partitions) - 1 - step
        looks = Signal(name=f"looks{step}")
        looking = Signal(self._request, name=f"looking{step}", reset_less=True)
        at = Signal(len(found), name=f"at{step}", reset_less=True)
        m.d.sync += [looks.eq(valid), looking.eq(query), at.eq(found)]
        # A large memory shows its word late in a cycle: it has the next one to itself.
        seen = Signal.like(key, name=f"seen{step}", reset_less=True)
        sees = Signal(name=f"sees{step}")
        seeing = Signal.like(looking, name=f"seeing{step}", reset_less=True)
        beside = Signal.like(at, name=f"beside{step}", reset_less=True)
        m.d.sync += [sees.eq(looks), seeing.eq(looking), beside.eq(at), seen.eq(key)]
        looked = Signal(name=f"looked{step}")
        knowing = Signal(self._request, name=f"knowing{step}", reset_less=True)
        known = Signal(len(found) + 1, name=f"known{step}", reset_less=True)
        node = Cat(1, beside) << below
        goes_on = (node <= seeing.what.last) & (seen < seeing.what.bound)
        m.d.sync += [looked.eq(sees), knowing.eq(seeing), known.eq(Cat(goes_on, beside))]
        return looked, knowing, known
