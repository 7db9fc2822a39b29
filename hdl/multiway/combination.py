"""What goes round in a multi-way join: arrivals, combinations of tuples, and when another one goes with them."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Value
from amaranth.lib import data
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.tuple_layout import TupleLayout


@dataclass(frozen=True)
class Combination:
    """The layouts that all parts of one multi-way join share.

    A *combination* of depth d holds d tuples, one for each of d streams in a row, the arriving one first. Tuples are
    reduced to their ``part``, what a result needs of them; in an equi-join the key is one for all.

    Parameters
    ----------
    layout
        The predicate between two streams in a row, the layout of tuples and results.
    flight
        Arrivals that may be under way.
    """

    layout: TupleLayout
    flight: int

    @property
    def streams(self) -> int:
        return len(self.layout.sides)

    @property
    def equi(self) -> bool:
        return self.layout.predicate.is_equi

    @property
    def span(self) -> int | None:
        """Length of time-based windows: one for all streams."""
        return None if self.layout.spans is None else self.layout.spans[0]

    @property
    def keys(self) -> data.StructLayout:
        """What the predicate looks at."""
        return data.StructLayout({field: self.layout.tuple[field].width for field in self.layout.predicate.fields})

    @property
    def part(self) -> data.StructLayout:
        """What a result needs of each of its tuples, beside the key of all in an equi-join."""
        keys = {} if self.equi else self.keys.members
        return data.StructLayout({**keys, "payload": self.layout.tuple["payload"].width})

    @property
    def number(self) -> int:
        """Bits of an arrival's number: enough to tell those under way from each other."""
        return max(1, ceil_log2(self.flight))

    @property
    def arrival(self) -> data.StructLayout:
        """A tuple on its way past the stages. ``ahead``: how many stages further its own one is, round the ring."""
        return data.StructLayout({"tuple": self.layout.tuple, "number": self.number, "ahead": range(self.streams)})

    def message(self, depth: int) -> data.StructLayout:
        """A combination.

        ``some``: there is one, or this is but an end; ``last``: nothing further comes of this arrival. ``time`` is that
        of the arriving tuple.
        """
        return data.StructLayout(
            {
                "parts": data.ArrayLayout(self.part, depth),
                **(self.keys.members if self.equi else {}),
                **({"time": self.layout.tuple["time"].width} if self.span is not None else {}),
                "number": self.number,
                "some": 1,
                "last": 1,
            }
        )

    @property
    def probe(self) -> data.StructLayout:
        """What is compared of a combination: its latest tuple in the order of the ring, and its first one."""
        return data.StructLayout(
            {
                "previous": self.keys,
                **({} if self.equi else {"origin": self.keys}),
                **({"time": self.layout.tuple["time"].width} if self.span is not None else {}),
            }
        )

    def probe_of(self, message):
        """The probe of a message."""
        if self.equi:
            fields = [message.key]
        else:
            tuples = [message.parts[-1], message.parts[0]]
            fields = [self.layout.part(self.keys, part).as_value() for part in tuples]
        if self.span is not None:
            fields.append(message.time)
        return data.View(self.probe, Cat(fields))

    def first(self, tuple_, number):
        """An arriving tuple as a combination of depth 1."""
        fields = [self.layout.part(self.part, tuple_).as_value()]
        if self.equi:
            fields.append(tuple_.key)
        if self.span is not None:
            fields.append(tuple_.time)
        return data.View(self.message(1), Cat(*fields, number, 1, 1))

    def matches(self, probe, resting, *, after: bool, before: bool, closes):
        """One bit: the resting tuple goes with the probe.

        In an equi-join keys are equal all round, so it is enough to be equal to one. Any other predicate is between a
        stream and the next: the resting tuple's stream comes ``after`` the probe's previous one, and ``before`` its
        origin where the combination ``closes`` the ring; the first stream comes after none and the last before none.
        """
        holds = self.layout.predicate.holds
        conditions = []
        if self.equi or after:
            conditions.append(Value.cast(holds(probe.previous, resting)).bool())
        if not self.equi and before:
            conditions.append(~closes | Value.cast(holds(resting, probe.origin)).bool())
        if self.span is not None:
            conditions.append(probe.time - resting.time < self.span)
        return Cat(conditions).all()
