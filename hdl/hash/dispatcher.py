"""The dispatcher: numbers the tuples of a transfer, and sends each off to its home."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.hash_unit import flight_layout
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.placed_layout import PlacedLayout
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.merger import Merger
from streamjoin.hdl.lib.pipeline import delayed


class Dispatcher(Part):
    """Two lanes for each slot: tuples leave them with their place in the arrival order, their home and their epoch.

    The first half of the lanes is for homes in the lower half of the units, the other one for the upper half. So the
    tuples of a slot, of which there may be one in every cycle, do not wait for each other when they part.

    Parameters
    ----------
    ports
        Layout of the ports.
    layout
        Layout inside.
    groups
        Which keys have which home.
    pending
        Transfers that may still come after ``room`` went down.

    Members
    -------
    enters, transfer_r, transfer_s, epoch
        A transfer, and its epoch.
    newest_r, newest_s
        The number of the next tuple.
    o_r, o_s
        The lanes.
    sent, came
        So many tuples have been sent off, copies included, and the epoch in which they came.
    room
        Transfers may come.
    busy
        There is something inside, from :attr:`LATENCY` cycles after it came.
    """

    #: Cycles from a transfer to the queues of the lanes.
    LATENCY = 3
    #: Tuples that may wait in a lane.
    DEPTH = 8

    def __init__(self, ports: TupleLayout, layout: PlacedLayout, groups: KeyGroups, *, pending: int):
        self._ports = ports
        self._layout = layout
        self._groups = groups
        self._pending = pending
        lane = stream.Signature(flight_layout(layout, 1 << groups.home_bits))
        super().__init__(
            {
                "enters": In(1),
                "transfer_r": In(ports.input_payload("r")),
                "transfer_s": In(ports.input_payload("s")),
                "epoch": In(1),
                "newest_r": Out(layout.number_bits),
                "newest_s": Out(layout.number_bits),
                "o_r": Out(lane).array(2 * ports.width),
                "o_s": Out(lane).array(2 * ports.width),
                "sent": Out(range(3 * ports.width + 1)),
                "came": Out(1),
                "room": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        width = self._ports.width
        flying = flight_layout(self._layout, 1 << self._groups.home_bits)
        enters = delayed(m, self.enters, 1, resets=True, name="enters")
        transfer = {side: delayed(m, getattr(self, f"transfer_{side}"), 1, name=f"transfer_{side}") for side in "rs"}
        # Of slots beyond the count nothing is known: they come before nobody.
        counts = {side: transfer[side].count for side in "rs"}
        after = [transfer["s"].slots[n].after for n in range(width)]
        before = {
            "r": [sum((counts["s"] > j) & (after[j] <= n) for j in range(width)) for n in range(width)],
            "s": after,
        }
        full, busy, sent = [], [], []
        epoch = delayed(m, self.epoch, 1, name="epoch")
        for side, other in ("rs", "sr"):
            newest, others = getattr(self, f"newest_{side}"), getattr(self, f"newest_{other}")
            with m.If(enters):
                m.d.sync += newest.eq(newest + counts[side])
            expected = delayed(m, others, 1, name=f"expected_{side}")
            for n in range(width):
                numbered = Signal(flying, name=f"{side}{n}", reset_less=True)
                come_before = Signal(range(width + 1), name=f"before_{side}{n}", reset_less=True)
                slot = transfer[side].slots[n]
                m.d.sync += [
                    *(numbered.tuple[name].eq(slot[name]) for name in self._ports.arrival.members),
                    numbered.tuple.number.eq(newest + n),
                    numbered.epoch.eq(epoch),
                    come_before.eq(before[side][n]),
                ]
                homes = self._groups.homes(m, side, slot.key)
                there = delayed(m, enters & (counts[side] > n), 1, resets=True, name=f"there_{side}{n}")
                lanes = []
                for copy, home in enumerate(homes):
                    flight = Signal(flying, name=f"flight_{side}{n}_{copy}", reset_less=True)
                    goes = Signal(name=f"goes_{side}{n}_{copy}")
                    m.d.sync += [
                        flight.eq(numbered),
                        flight.tuple.other.eq(expected + come_before),
                        flight.home.eq(home),
                        goes.eq(there if copy == 0 else there & (homes[0] != homes[1])),
                    ]
                    if self._groups.copies:
                        m.d.sync += flight.tuple.home.eq(home)
                    sent.append(goes)
                    lanes.append(self._park(m, f"{side}{n}_{copy}", flight, goes, full, busy))
                for half in range(2):
                    port = flipped(getattr(self, f"o_{side}")[n + half * width])
                    if len(lanes) == 1:
                        connect(m, lanes[0][half].o, port)
                        continue
                    m.submodules[f"copies_{side}{half}_{n}"] = merger = Merger(flying, self.DEPTH)
                    for lane, way in zip(lanes, merger.i, strict=True):
                        connect(m, lane[half].o, way)
                    connect(m, merger.o, port)
                    busy.append(merger.busy)
        m.d.sync += [
            self.room.eq(~Cat(full).any()),
            self.busy.eq(Cat(busy).any()),
            self.sent.eq(sum(sent[1:], sent[0])),
            self.came.eq(delayed(m, epoch, 2, name="came")),
        ]
        return m

    def _park(self, m, name: str, flight, goes: Value, full: list[Value], busy: list[Value]) -> list[FIFO]:
        """Two queues for a flight, one for each half of the homes."""
        lanes = [FIFO.with_reserve(flight.shape(), self.DEPTH, self.LATENCY + self._pending) for _ in range(2)]
        for half, lane in enumerate(lanes):
            m.submodules[f"lane_{name}_{half}"] = lane
            m.d.comb += [lane.i.p.eq(flight), lane.i.valid.eq(goes & (flight.home[-1] == half))]
            full.append(lane.almost_full)
            busy.append(lane.busy)
        return lanes
