"""A small low-latency handshake join, for tests of its parts."""

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.llhj.expedition import Expedition
from streamjoin.reference.predicates import parse_predicate


def expedition(predicate="lt", *, cores=1, lanes=2, windows=(6, 6), buckets=None, numbered=False) -> Expedition:
    layout = TupleLayout(parse_predicate(predicate), key_width=4, payload_width=12, numbered=numbered)
    return Expedition(layout, cores=cores, lanes=lanes, windows=windows, buckets=buckets)
