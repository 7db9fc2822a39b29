"""What a tuple and a result look like in hardware, and when two tuples make a pair."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, reduce
from operator import and_

from amaranth.hdl import Cat, Const, Mux, Value
from amaranth.lib import data, stream

from streamjoin.hdl.base.slots import Slots
from streamjoin.reference.predicates import Predicate
from streamjoin.reference.punctuations import ORDER_WIDTH


@dataclass(frozen=True)
class TupleLayout:
    """The layouts and the join condition that all parts of one join share.

    This is about joins of two streams, R and S; where there are more, ``sides`` names them.

    A tuple is a struct of ``key``, ``key2`` (where the predicate looks at it), ``time`` (where windows are
    time-based) and ``payload``. A slot of a window is a tuple with a ``valid`` bit: one place of it. A result holds the
    keys of its tuples, or the one ``key`` they share in an equi-join, and their payloads: 96 bits for two streams with
    the default widths.

    Ports carry one tuple, or one result, in a transfer, unless the design has ``width`` and ``results_width``: then
    their payloads are :class:`~streamjoin.hdl.base.slots.Slots`, and of the two inputs those of S have a field
    ``after`` in every slot: how many R tuples of the same cycle come before that tuple. What the rules of such ports
    are, :func:`~streamjoin.hdl.base.ports.join_ports` says. Inside a design tuples and results are what they always
    were.

    Time-based windows need no machinery of their own. Timestamps never decrease along the arrival order, so
    "the earlier tuple is less than its span older than the later one" is a band on the two timestamps, whichever
    tuple came first; it joins the predicate as one more condition.

    Parameters
    ----------
    predicate
        The join condition over ``key`` (and ``key2``).
    key_width, payload_width, time_width
        Bits of each key, of the payload, of the timestamp.
    spans
        For time-based windows, how long a tuple of each stream stays; ``None`` for count-based windows.
    numbered
        Whether tuples get an ``order`` when they are let in, the number of arrivals before them, and results have that
        of their later tuple. Then the results' stream has punctuations, too: items with ``mark``, after which no result
        comes whose order is below theirs. Numbers wrap round. What a result tells of its pair, a punctuation leaves 0.
    sides
        What the fields of a result are named after, for each stream.
    width
        How many tuples of each stream may enter in a cycle; more than one for two streams only.
    results_width
        How many results may leave in a cycle.
    """

    predicate: Predicate
    _: KW_ONLY
    key_width: int = 32
    payload_width: int = 32
    time_width: int = 32
    spans: tuple[int, ...] | None = None
    numbered: bool = False
    sides: tuple[str, ...] = ("r", "s")
    width: int = 1
    results_width: int = 1

    def __post_init__(self):
        if min(self.width, self.results_width) < 1:
            raise ValueError(
                f"a port has slots from 1 up, not {self.width} for tuples and {self.results_width} for results"
            )
        if self.width > 1 and len(self.sides) != 2:
            raise ValueError(f"several tuples a cycle are for two streams, not for {len(self.sides)}")

    @cached_property
    def _columns(self) -> list[tuple[str, str, str]]:
        """Field of the result, stream it is taken from, field of the tuple."""
        if self.predicate.is_equi:
            keys = [("key", self.sides[0], "key")]
        else:
            keys = [(f"{key}_{side}", side, key) for key in self.predicate.fields for side in self.sides]
        return [*keys, *((f"payload_{side}", side, "payload") for side in self.sides)]

    @property
    def _timed(self) -> dict[str, int]:
        return {} if self.spans is None else {"time": self.time_width}

    @cached_property
    def arrival(self) -> data.StructLayout:
        """A tuple as it comes in."""
        keys = dict.fromkeys(self.predicate.fields, self.key_width)
        return data.StructLayout({**keys, **self._timed, "payload": self.payload_width})

    @cached_property
    def compared(self) -> data.StructLayout:
        """What is compared of a tuple; the rest is only carried along."""
        return self._fields((*self.predicate.fields, *self._timed))

    @cached_property
    def slot(self) -> data.StructLayout:
        """One place of a window."""
        # The valid bit comes last: a tuple of whole words stays aligned to them in the simulator.
        return data.StructLayout({"tuple": self.tuple, "valid": 1})

    @cached_property
    def pair(self) -> data.StructLayout:
        """What a result tells of its pair."""
        return data.StructLayout({name: self.tuple[field].width for name, _, field in self._columns})

    @cached_property
    def result(self) -> data.StructLayout:
        order = {"order": ORDER_WIDTH, "mark": 1} if self.numbered else {}
        return data.StructLayout({**self.pair.members, **order})

    @cached_property
    def r_part(self) -> data.StructLayout:
        """What a result needs of its R tuple: all that a core has to remember of one that has been compared."""
        return self._fields(field for _, side, field in self._columns if side == "r")

    @cached_property
    def s_part(self) -> data.StructLayout:
        """The same for S."""
        return self._fields(field for _, side, field in self._columns if side == "s")

    # Below the annotations that mean Python's own tuple.
    @cached_property
    def tuple(self) -> data.StructLayout:
        """What an arrival becomes when it is let in."""
        return data.StructLayout({**self.arrival.members, **({"order": ORDER_WIDTH} if self.numbered else {})})

    def _fields(self, names: Iterable[str]) -> data.StructLayout:
        """Some fields of a tuple."""
        return data.StructLayout({name: self.tuple[name].width for name in names})

    @property
    def tuples(self) -> stream.Signature:
        """One tuple after the other."""
        return stream.Signature(self.arrival)

    @property
    def results(self) -> stream.Signature:
        """One result after the other."""
        return stream.Signature(self.result)

    def input_slot(self, side: str) -> data.StructLayout:
        """A tuple as it enters by the port of this side: with its place among those of R, if there are several."""
        if self.width == 1 or side != "s":
            return self.arrival
        return data.StructLayout({**self.arrival.members, "after": range(self.width + 1)})

    def input_payload(self, side: str) -> data.StructLayout:
        """What enters by the port of this side in one transfer."""
        return self.arrival if self.width == 1 else Slots(self.input_slot(side), self.width)

    @property
    def output_payload(self) -> data.StructLayout:
        """What leaves in one transfer."""
        return self.result if self.results_width == 1 else Slots(self.result, self.results_width)

    def matches(self, r, s):
        """One bit: ``r`` and ``s`` make a pair; they are tuples, or the fields of them that are compared."""
        return reduce(and_, self.conditions(r, s))

    def conditions(self, r, s) -> list[Value]:
        """What has to hold of a pair, one bit each, for whoever does not look at all of it in the same cycle."""
        holds = Value.cast(self.predicate.holds(r, s)).bool()
        if self.spans is None:
            return [holds]
        span_r, span_s = self.spans
        return [holds, r.time - s.time < span_s, s.time - r.time < span_r]

    def distances(self, _r, _s) -> list[Value]:
        """What has to be known of how far a pair is apart, a cycle before :meth:`in_windows`; nothing, as a rule."""
        return []

    def in_windows(self, _distances: list[Value], _stored: str) -> Value:
        """One bit: the earlier tuple was in its window. As a rule whoever compares two tuples knows that it was."""
        return Const(1, 1)

    def part(self, fields: data.StructLayout, whole):
        """The ``fields`` cut out of the tuple ``whole``."""
        return data.View(fields, Cat(whole[field] for field in fields.members))

    def join(self, result, r, s):
        """Statements that make ``result`` of two tuples, or of the parts of them that a result needs."""
        columns = [result[name].eq({"r": r, "s": s}[side][field]) for name, side, field in self._columns]
        if self.numbered:
            columns += [result.order.eq(Mux(is_before(r.order, s.order), s.order, r.order)), result.mark.eq(0)]
        return columns


def is_before(order, other):
    """Whether one number of an arrival is below another, if they are less than half the range apart."""
    return (order - other)[ORDER_WIDTH - 1]
