"""Several streams into one: the checks that mergers and merging trees share."""

from streamjoin.sim.benches.dut import Dut
from streamjoin.sim.benches.streams import Sink, Source
from streamjoin.sim.tuples.numbering import numbers, payloads

_ITEM_BITS, _NUMBER_BITS = 16, 12


class Gathering:
    """Sources at ``i__0``, ``i__1``, …, a sink at ``o``; an item tells, scrambled, which input it came from.

    In every cycle ``busy`` must tell whether something is inside.
    """

    def __init__(self, dut: Dut, counts: list[int], source: str = "none", sink: str = "none"):
        self._dut = dut
        firsts = [leaf << _NUMBER_BITS for leaf in range(len(counts))]
        self._sent = [
            payloads(range(first, first + count), _ITEM_BITS).tolist()
            for first, count in zip(firsts, counts, strict=True)
        ]
        # Before the others: it must see what was inside at the beginning of the cycle.
        dut.attach(self)
        self.sources = [Source(dut, f"i__{leaf}", items, source) for leaf, items in enumerate(self._sent)]
        self.out = Sink(dut, "o", sink)

    @property
    def origins(self) -> list[int]:
        """The input that each item came from, in the order in which they left."""
        return (numbers(self.out.items, _ITEM_BITS) >> _NUMBER_BITS).tolist()

    def drive(self) -> None:
        pass

    def sample(self) -> None:
        inside = sum(len(source.taken) for source in self.sources) - len(self.out.items)
        if "busy" in self._dut:
            assert (self._dut["busy"] != 0) == (inside > 0), f"busy is wrong with {inside} items inside"

    async def finish(self, within: int) -> None:
        """Run to the end; then everything has come once, each input in its own order."""
        total = sum(map(len, self._sent))
        await self._dut.until(lambda: len(self.out.items) >= total, within=within)
        await self._dut.cycles(10)
        for leaf, sent in enumerate(self._sent):
            came = [item for item, origin in zip(self.out.items, self.origins, strict=True) if origin == leaf]
            assert came == sent, f"input {leaf} came out as {came[:20]}…"
        assert len(self.out.items) == total
