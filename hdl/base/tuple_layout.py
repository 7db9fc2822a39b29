"""What a tuple and a result look like in hardware, and when two tuples make a pair."""

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data, stream

from streamjoin.reference.predicates import Predicate
from streamjoin.reference.punctuations import ORDER_WIDTH


class TupleLayout:
    """The layouts and the join condition that all parts of one join share.

    This is about joins of two streams, R and S; where there are more, ``sides`` names them.

    A tuple is a struct of ``key``, ``key2`` (where the predicate looks at it), ``time`` (where windows are
    time-based) and ``payload``. A slot is a tuple with a ``valid`` bit: one place of a window. A result holds the
    keys of its tuples, or the one ``key`` they share in an equi-join, and their payloads: 96 bits for two streams with
    the default widths.

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
    """

    def __init__(
        self,
        predicate: Predicate,
        *,
        key_width: int = 32,
        payload_width: int = 32,
        time_width: int = 32,
        spans: tuple[int, ...] | None = None,
        numbered: bool = False,
        sides: tuple[str, ...] = ("r", "s"),
    ):
        self.predicate = predicate
        self.spans = spans
        self.numbered = numbered
        self.sides = sides
        self._settings = (predicate, key_width, payload_width, time_width, spans, numbered, sides)
        keys = predicate.fields
        timed = {"time": time_width} if spans is not None else {}
        arrival = {**dict.fromkeys(keys, key_width), **timed, "payload": payload_width}
        # What comes in, and what it becomes.
        self.arrival = data.StructLayout(arrival)
        self.tuple = data.StructLayout({**arrival, **({"order": ORDER_WIDTH} if numbered else {})})
        # What is compared, and what is only carried along.
        self.compared = data.StructLayout({f: self.tuple[f].width for f in (*keys, *timed)})
        # The valid bit comes last: a tuple of whole words stays aligned to them in the simulator.
        self.slot = data.StructLayout({"tuple": self.tuple, "valid": 1})
        # (field of the result, stream it is taken from, field of the tuple)
        if predicate.is_equi:
            self._columns = [("key", sides[0], "key")]
        else:
            self._columns = [(f"{key}_{side}", side, key) for key in keys for side in sides]
        self._columns += [(f"payload_{side}", side, "payload") for side in sides]
        # What a result tells of its pair, and a result.
        self.pair = data.StructLayout({name: self.tuple[field].width for name, _, field in self._columns})
        order = {"order": ORDER_WIDTH, "mark": 1} if numbered else {}
        self.result = data.StructLayout({**self.pair.members, **order})
        # What a result needs of each of its tuples: all that a core has to remember of a tuple once it is compared.
        self.r_part = self._part("r")
        self.s_part = self._part("s")

    def __eq__(self, other):
        return isinstance(other, TupleLayout) and self._settings == other._settings

    def __hash__(self):
        return hash(self._settings)

    def _part(self, side: str) -> data.StructLayout:
        return data.StructLayout({f: self.tuple[f].width for _, of, f in self._columns if of == side})

    @property
    def tuples(self) -> stream.Signature:
        return stream.Signature(self.arrival)

    @property
    def results(self) -> stream.Signature:
        return stream.Signature(self.result)

    def matches(self, r, s):
        """One bit: ``r`` and ``s`` make a pair; they are tuples, or the fields of them that are compared."""
        holds = Value.cast(self.predicate.holds(r, s)).bool()
        if self.spans is None:
            return holds
        span_r, span_s = self.spans
        return holds & (r.time - s.time < span_s) & (s.time - r.time < span_r)

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
