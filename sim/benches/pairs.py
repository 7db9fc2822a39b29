"""What tuples are told apart by, and what the result of some looks like."""

from collections import Counter
from collections.abc import Iterable

from streamjoin.sim.benches.dut import Dut
from streamjoin.sim.tuples.numbering import payloads

Tuple = dict[str, int]

#: All payloads of the components' tuples, which have 12 bits: in an order in which every bit moves.
PAYLOADS: list[int] = payloads(range(1 << 12), 12).tolist()


def joined(dut: Dut, tuples: dict[str, Tuple]) -> Tuple:
    """The result that ``dut`` must give for these, one for each side.

    ``key_r`` is r's key, and a lone ``key`` is all tuples'; of numbered tuples it has the later ``order``.
    """
    first = next(iter(tuples.values()))
    shared = {**first, "order": max(t["order"] for t in tuples.values()), "mark": 0} if "order" in first else first
    result = {}
    for name in dut.field_names("o_result__payload"):
        field, _, side = name.rpartition("_")
        result[name] = tuples[side][field] if field else shared[name]
    return result


def assert_same(came: Iterable[Tuple], expected: Iterable[Tuple]) -> None:
    """Both hold the same results, each as often, in any order."""
    there, due = (Counter(tuple(result.items()) for result in results) for results in (came, expected))
    missing, extra = due - there, there - due
    assert not missing, f"{missing.total()} of {due.total()} results are missing, such as {next(iter(missing))}"
    assert not extra, f"{extra.total()} results are wrong or repeated, such as {next(iter(extra))}"
