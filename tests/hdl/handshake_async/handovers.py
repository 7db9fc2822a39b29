"""A small asynchronous handshake join, for tests of its parts."""

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.handshake_async.handover import Handover
from streamjoin.reference.predicates import parse_predicate

PREDICATE = parse_predicate("lt")
LAYOUT = TupleLayout(PREDICATE, key_width=4, payload_width=12)


def handover(*, cores=1, lanes=2, windows=(6, 6), flight=2) -> Handover:
    return Handover(LAYOUT, cores=cores, lanes=lanes, windows=windows, slack=2, link_queue=2, jobs=2, flight=flight)
