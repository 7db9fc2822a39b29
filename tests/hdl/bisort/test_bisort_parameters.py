"""What BI-Sort cannot do it refuses in one sentence."""

import pytest

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.bisort.parameters import BisortParameters
from streamjoin.hdl.board.self_test import SelfTest
from streamjoin.hdl.lib.external_memory import ExternalMemory


def low(r, s):
    return (r.key == s.key) & (r.key < 5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"subwindow": 48}, "subwindow must be a power of two, not 48"),
        ({"mergers": 3}, "mergers must be a power of two, not 3"),
        ({"partitions": 0}, "partitions must be a whole number from 1 up, not 0"),
        ({"batch": 0}, "batch must be a whole number from 1 up, not 0"),
        ({"subwindow": 16, "partitions": 8, "mergers": 4}, "must hold a line of 4, .*: take fewer partitions or"),
        (
            {"predicate": "tests.own_predicates:one_sided"},
            ":one_sided' does not tell which: compare r.key - s.key with",
        ),
        ({"output": "tuples"}, "output is one of pairs, records, not 'tuples'"),
        ({"output": "records", "span": 5}, "output=records cannot look at time or a second key: take output=pairs"),
        ({"output": "records", "predicate": "band2:1,2"}, "cannot look at time or a second key: take output=pairs"),
        ({"output": "records", "predicate": f"{__name__}:low"}, "more than the difference of keys, as '.*:low' does"),
        ({"bandwidth": 0}, "bandwidth must be at least 1 byte a cycle, not 0"),
        ({"latency": 1}, "latency must be at least 2, not 1"),
    ],
)
def test_one_sentence_that_names_the_fix(given, sentence):
    with pytest.raises(ParameterError, match=sentence) as caught:
        BisortParameters.parse(given)
    assert "\n" not in str(caught.value)


def test_subwindows_hold_a_window_and_a_batch():
    arrays = BisortParameters.parse({"window_r": 100, "window_s": 64, "subwindow": 64}).arrays
    assert arrays.chains == (3, 2)
    assert arrays.regions == 6
    assert 1 << (arrays.number_width - 1) > 3 * 64


def test_sizes_that_are_not_given_fit_the_longer_window():
    arrays = BisortParameters.parse({"window_r": 1000, "window_s": 20, "probers": 4}).arrays
    assert (arrays.subwindow, arrays.partitions, arrays.batch) == (1024, 128, 256)
    assert arrays.chains == (2, 2)
    arrays = BisortParameters.parse({"window": 1, "mergers": 4}).arrays
    assert (arrays.subwindow, arrays.partitions, arrays.batch) == (4, 1, 1)
    arrays = BisortParameters.parse({"window": 1 << 23}).arrays
    assert (arrays.subwindow, arrays.partitions, arrays.batch) == (1 << 23, 1 << 16, 1 << 15)


def test_a_self_test_looks_at_pairs():
    parameters = BisortParameters.parse({"output": "records"})
    with pytest.raises(ParameterError, match=r"this join gives records, which stand for .*: take output=pairs"):
        SelfTest(None, parameters)


def test_a_memory_behind_a_bus_takes_its_time():
    with pytest.raises(ValueError, match="takes at least 2 cycles to answer, not 1"):
        ExternalMemory(8, 4, (1, 1), latency=1, bandwidth=8)
