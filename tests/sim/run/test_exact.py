"""Every design, with every kind of parameters, gives exactly the reference's result in every kind of case."""

import functools
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from streamjoin.hdl.registry import DESIGNS, find
from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.overflow import needed_rooms
from streamjoin.reference.vectorised import window_join_array
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from tests.cases import cases

#: Parameter sets, chosen so that each value of each parameter and each way to split windows occurs.
SETS = [
    ("nested-loop", "window=1"),
    ("nested-loop", "window_r=3 window_s=8 queue=1"),
    ("nested-loop", "window_r=9 window_s=2 storage=registers predicate=band:2"),
    ("nested-loop", "window=6 span=9 on_full=drop queue=1"),
    ("nested-loop", "window=4 predicate=band2:1,2 span_r=3 span_s=8 storage=registers"),
    ("nested-loop", "window=4 predicate=tests.own_predicates:one_sided key_width=4"),
    ("handshake", "cores=1 window=1"),
    ("handshake", "cores=1 window=1 scan=sequential"),
    ("handshake", "cores=1 window=1 scan=sequential storage=memory"),
    ("handshake", "cores=2 window=2"),
    ("handshake", "cores=3 window_r=3 window_s=10"),
    ("handshake", "cores=4 window_r=13 window_s=6 predicate=bands:-4..-2,1..1"),
    ("handshake", "cores=5 window=10 match_queue=1 core_queue=1 merger_queue=2 fan=2"),
    ("handshake", "cores=2 window=12 match_queue=2 on_full=drop"),
    ("handshake", "cores=3 window=7 span=6"),
    ("handshake", "cores=2 window_r=5 window_s=4 span_r=1 span_s=12 predicate=ne"),
    ("handshake", "cores=3 window=6 predicate=lt merger=three-state"),
    ("handshake", "cores=2 window=5 predicate=band2:1,2"),
    ("handshake", "cores=7 window_r=8 window_s=20 key_width=5 payload_width=7"),
    ("handshake", "cores=9 window=9 fan=2 merger_queue=2"),
    ("handshake", "cores=6 window=13 core_queue=1 match_queue=1 on_full=drop fan=3"),
    ("handshake", "cores=6 window=12 core_queue=1 match_queue=1 fan=3"),  # histories with no tuple to spare
    ("handshake", "cores=2 window=3 scan=sequential"),
    ("handshake", "cores=3 window_r=5 window_s=7 scan=sequential core_queue=1"),
    ("handshake", "cores=4 window_r=11 window_s=4 scan=sequential storage=memory"),
    ("handshake", "cores=3 window=8 scan=sequential storage=memory merger=three-state on_full=drop core_queue=1"),
    ("handshake", "cores=2 window=6 scan=sequential storage=memory span_r=9 span_s=2 predicate=ge"),
    ("handshake", "cores=3 window=6 scan=sequential span=4 predicate=band2:1,2 merger_queue=2"),
    ("handshake", "cores=5 window=5 scan=sequential merger=three-state merger_queue=2 fan=2"),
    ("handshake", "cores=2 window=9 scan=sequential key_width=40 payload_width=10 predicate=le"),
    ("handshake-async", "cores=1 window=1"),
    ("handshake-async", "cores=2 window=1 link_queue=1 job_queue=1 flight=1 slack=1 core_queue=1 merger_queue=2"),
    ("handshake-async", "cores=3 window_r=1 window_s=5 comparators=apart predicate=bands:-4..-2,1..1"),
    ("handshake-async", "cores=4 window_r=13 window_s=6 lanes=3 merger=three-state"),
    ("handshake-async", "cores=5 window=7 link_queue=1 job_queue=1 flight=1 slack=1 core_queue=1 lanes=2 fan=2"),
    ("handshake-async", "cores=3 window=6 span_r=3 span_s=9 predicate=band2:1,2 slack=2"),
    ("handshake-async", "cores=3 window=6 on_full=drop core_queue=1 link_queue=1 comparators=apart"),
    ("handshake-async", "cores=6 window_r=25 window_s=17 key_width=40 payload_width=10 flight=3 predicate=le"),
    ("llhj", "cores=1 window=1"),
    ("llhj", "cores=2 window=1 link_queue=1 job_queue=1 flight=1 core_queue=1 merger_queue=2"),
    ("llhj", "cores=3 window_r=1 window_s=5 comparators=apart predicate=bands:-4..-2,1..1"),
    ("llhj", "cores=4 window_r=13 window_s=6 lanes=3 merger=three-state"),
    ("llhj", "cores=5 window=7 link_queue=1 job_queue=1 flight=1 core_queue=1 comparators=apart lanes=2 fan=2"),
    ("llhj", "cores=3 window=6 span_r=2 span_s=9 predicate=band2:1,2"),
    ("llhj", "cores=3 window=6 on_full=drop core_queue=1 link_queue=1"),
    ("llhj", "cores=2 window_r=20 window_s=9 lanes=4 span_r=12 span_s=4 predicate=le comparators=apart"),
    ("llhj", "cores=6 window_r=5 window_s=17 key_width=40 payload_width=10 flight=3"),
    ("llhj", "cores=1 window=1 punctuation=1"),
    (
        "llhj",
        "cores=3 window_r=5 window_s=8 punctuation=1 link_queue=1 job_queue=1 flight=1 core_queue=1",
    ),
    ("llhj", "cores=4 window=13 punctuation=3 lanes=3 comparators=apart"),
    ("llhj", "cores=2 window=9 punctuation=2 index=hash on_full=drop link_queue=1"),
    ("llhj", "cores=1 window=1 ordered=true outstanding=8"),
    ("llhj", "cores=3 window_r=9 window_s=4 ordered=true punctuation=5 outstanding=16 lanes=2"),
    ("llhj", "cores=4 window=7 ordered=true comparators=apart core_queue=1 link_queue=1 job_queue=1 flight=1 span=9"),
    ("llhj", "cores=1 window=1 index=hash"),
    ("llhj", "cores=3 window_r=14 window_s=5 index=hash comparators=apart flight=1 job_queue=1 link_queue=1"),
    ("llhj", "cores=4 window_r=9 window_s=30 index=hash buckets=2 core_queue=1"),
    ("llhj", "cores=2 window=12 index=hash buckets=16 span_r=2 span_s=9 key_width=5 on_full=drop"),
    ("bisort", "window=1 subwindow=2 partitions=1 batch=1"),
    ("bisort", "window_r=3 window_s=17 subwindow=8 partitions=2 batch=3 predicate=bands:-4..-2,1..1"),
    ("bisort", "window=16 subwindow=16 partitions=4 batch=40 mergers=4 predicate=band:2 collect=20"),
    (
        "bisort",
        "window_r=20 window_s=9 subwindow=16 partitions=2 batch=7 mergers=2 probers=4 span_r=12 span_s=5 predicate=ne",
    ),
    ("bisort", "window=5 subwindow=32 partitions=8 batch=8 predicate=band2:1,2 span=5 on_full=drop probers=2"),
    ("bisort", "window=30 subwindow=64 partitions=2 batch=16 mergers=8 predicate=lt key_width=40 payload_width=10"),
    ("bisort", "window=20 subwindow=32 partitions=2 batch=11 mergers=2 predicate=le bandwidth=9 latency=7 probers=2"),
    ("bisort", "window_r=9 window_s=25 subwindow=16 partitions=4 batch=6 output=records predicate=bands:-4..-2,1..1"),
    ("bisort", "window_r=21 window_s=90 mergers=2 predicate=band:1 batch=100"),
    ("bisort", "window=12 subwindow=4 partitions=1 batch=2 collect=3 predicate=ge key_width=5 ahead=1"),
    ("circular", "window=1 flight=1 buffer=1 result_queue=1 merger_queue=2"),
    ("circular", "window_s1=7 window_s2=1 window_s3=4 lanes=3 buffer=1"),
    ("circular", "window=6 lanes=2 span=9 on_full=drop flight=2"),
    ("circular", "window_s1=2 window_s2=5 window_s3=3 lanes=2 predicate=bands:-4..-2,1..1 flight=5"),
    ("circular", "streams=4 window=3 predicate=band2:1,2 span=7 buffer=1"),
    ("circular", "streams=5 window=2 lanes=4 buffer=1 flight=3 fan=2 predicate=ne"),
    ("circular", "streams=8 window=1 lanes=2 buffer=1 result_queue=1 key_width=5 payload_width=7"),
    ("circular", "window=2 predicate=tests.own_predicates:always"),
    ("circular", "window=1 index=hash flight=1 buffer=1"),
    ("circular", "window_s1=7 window_s2=3 window_s3=12 index=hash buckets=4 flight=9 span=20"),
    ("circular", "streams=4 window=4 index=hash buckets=1 buffer=1 on_full=drop flight=5"),
    ("stashed", "window=1 stash=1 flight=1 buffer=1 result_queue=1 merger_queue=2 spare_bits=1"),
    ("stashed", "window_s1=3 window_s2=7 window_s3=2 stash=0 lanes=2 second_lanes=3 predicate=band:2"),
    ("stashed", "window=5 stash=9 lanes=2 span=9 on_full=drop flight=2"),
    ("stashed", "window_s1=6 window_s2=2 window_s3=9 stash=4 lanes=3 second_lanes=1 predicate=le buffer=1"),
    ("stashed", "window=4 stash=30 lanes=4 predicate=band2:1,2 span=12 spare_bits=1 fan=2"),
    ("hash", "window=1 buckets=1 probe_queue=1 result_queue=1"),
    ("hash", "window_r=3 window_s=20"),
    ("hash", "window=9 predicate=bands:-4..-2,1..1 buckets=16 probe_queue=2 hash_seed=7"),
    ("hash", "window=6 span=9 on_full=drop probe_queue=1 result_queue=1"),
    ("hash", "window_r=12 window_s=5 predicate=band2:1,2 span_r=3 span_s=8 result_queue=2"),
    ("hash", "window=30 predicate=bands:3..3 key_width=62 payload_width=10"),
    ("hash", "window=4 predicate=band:9 key_width=3"),  # a range that is wider than all keys
]
EXAMPLES = 45


@functools.cache
def simulator(design: str, words: str) -> Simulator:
    parameters = find(design).parameters(**dict(word.split("=", 1) for word in words.split()))
    return Simulator.build(find(design), parameters)


def streams_of(design: str, words: str) -> int:
    return len(simulator(design, words).parameters.streams)


# The quick tier takes the last set of each design.
MARKED = [pytest.param(*each, marks=pytest.mark.quick if each in dict(SETS).items() else ()) for each in SETS]


@pytest.mark.parametrize(("design", "words"), MARKED, ids=lambda text: text.replace(" ", ","))
def test_random_cases(design, words):
    simulated = simulator(design, words)

    @settings(max_examples=EXAMPLES)
    @given(cases(simulated.parameters))
    def exact(case):
        case.check(simulated)

    exact()


def test_there_are_a_thousand_cases_and_no_design_is_left_out():
    assert len(SETS) * EXAMPLES >= 1000
    assert {design for design, _ in SETS} == set(DESIGNS)


SMALL = [
    ("nested-loop", "window=1"),
    ("handshake", "cores=2 window=2"),
    ("handshake", "cores=2 window=3 scan=sequential"),
    ("handshake-async", "cores=2 window=1 link_queue=1 job_queue=1 flight=1 slack=1 core_queue=1 merger_queue=2"),
    ("llhj", "cores=2 window=1 link_queue=1 job_queue=1 flight=1 core_queue=1 merger_queue=2"),
    ("llhj", "cores=1 window=1 index=hash"),
    ("llhj", "cores=1 window=1 punctuation=1"),
    ("llhj", "cores=1 window=1 ordered=true outstanding=8"),
    ("bisort", "window=1 subwindow=2 partitions=1 batch=1"),
    ("circular", "window=1 flight=1 buffer=1 result_queue=1 merger_queue=2"),
    ("stashed", "window=1 stash=1 flight=1 buffer=1 result_queue=1 merger_queue=2 spare_bits=1"),
    ("hash", "window=1 buckets=1 probe_queue=1 result_queue=1"),
]


@pytest.mark.parametrize(("design", "words"), SMALL)
class TestOrdinaryCases:
    """Cases that users meet and that random ones may miss."""

    def test_empty_input(self, design, words):
        outcome = simulator(design, words).run(Workload().slice(0, 0))
        assert outcome.exact
        assert outcome.summary()["latency_cycles"]["max"] is None

    def test_one_stream_only(self, design, words):
        for stream in range(streams_of(design, words)):
            outcome = simulator(design, words).run(Arrivals(stream=np.full(50, stream), key=np.zeros(50)))
            assert outcome.exact
            assert len(outcome.numbers) == 0

    def test_a_single_result(self, design, words):
        for streams in permutations(range(streams_of(design, words))):
            outcome = simulator(design, words).run(Arrivals(stream=streams, key=[2**32 - 1] * len(streams)))
            assert outcome.exact
            assert outcome.numbers.tolist() == [[streams.index(stream) for stream in sorted(streams)]]

    def test_output_that_waits_for_long(self, design, words):
        arrivals = Workload(streams=streams_of(design, words), match_rate=1.0).slice(0, 200)
        outcome = simulator(design, words).run(arrivals, output_stalls=Stalls(0.99, burst=2000.0, seed=3))
        assert outcome.exact


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ("nested-loop", "window=4 predicate=tests.own_predicates:one_sided key_width=4"),
        ("circular", "window=2 predicate=tests.own_predicates:always"),
    ],
)
def test_many_tuples_that_need_not_match_each_other(design, words):
    arrivals = Workload(streams=streams_of(design, words), key_width=4).slice(0, 15_000)
    outcome = simulator(design, words).run(arrivals)
    assert outcome.exact, outcome.difference.describe()
    assert len(outcome.numbers) > 10_000


def test_fewer_tuples_than_cores():
    outcome = simulator("handshake", "cores=9 window=9 fan=2 merger_queue=2").run(Workload(match_rate=1.0).slice(0, 4))
    assert outcome.exact
    assert len(outcome.numbers) == 4


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ("handshake", "cores=2 window=12 match_queue=2 on_full=drop"),
        ("handshake", "cores=6 window=13 core_queue=1 match_queue=1 on_full=drop fan=3"),
        ("handshake-async", "cores=3 window=6 on_full=drop core_queue=1 link_queue=1 comparators=apart"),
        ("llhj", "cores=3 window=6 on_full=drop core_queue=1 link_queue=1"),
        ("llhj", "cores=2 window=9 punctuation=2 index=hash on_full=drop link_queue=1"),
        ("bisort", "window=5 subwindow=32 partitions=8 batch=8 on_full=drop probers=2"),
        ("circular", "window=6 lanes=2 span=9 on_full=drop flight=2"),
        ("stashed", "window=5 stash=9 lanes=2 span=9 on_full=drop flight=2"),
        ("hash", "window=6 span=9 on_full=drop probe_queue=1 result_queue=1"),
    ],
)
def test_overload_drops_and_joins_what_was_accepted(design, words):
    # The output waits for longer than windows and queues can make up for.
    stalls = Stalls(0.9, burst=1000.0, seed=3) if design != "handshake" else None
    arrivals = Workload(streams=streams_of(design, words), match_rate=1.0).slice(0, 2000)
    outcome = simulator(design, words).run(arrivals, output_stalls=stalls)
    assert outcome.difference.design_is_right
    summary = outcome.summary()
    assert 0 < summary["dropped"] < 2000
    assert len(summary["dropped_arrivals"]) == summary["dropped"]


def test_results_that_overflows_cost_are_told_apart():
    timed = simulator("handshake", "cores=3 window=7 span=6")
    outcome = timed.run(Workload(match_rate=0.5).slice(0, 500))
    assert outcome.exact
    assert outcome.run.overflows == 0
    crowded = Workload(match_rate=0.5, tuples_per_tick=8).slice(0, 500)
    outcome = timed.run(crowded)
    roomy = Windows((500, 500), 6)
    whole = window_join_array(crowded, timed.parameters.predicate, roomy)
    lacking = len(whole) - len(outcome.numbers)
    assert lacking > 0
    summary = outcome.summary()
    assert summary["check"] == {"missing": 0, "extra": 0, "repeated": 0, "missing_by_overflow": lacking}
    assert summary["overflows"] == outcome.run.overflows > 0
    needed = needed_rooms(crowded, roomy)
    assert summary["needed_windows"] == {"window_r": needed[0], "window_s": needed[1]}
    assert outcome.overflow_sentence == (
        f"{lacking} results are missing by overflow: this input needs window_r={needed[0]} and window_s={needed[1]}, "
        "not 7 (or --allow-overflows)"
    )


def test_overflows_that_cost_nothing_leave_a_run_exact():
    """Tuples leave too early, but none that would have met another."""
    arrivals = Arrivals(np.arange(40) // 20, np.arange(40), time=np.zeros(40))
    outcome = simulator("handshake", "cores=3 window=7 span=6").run(arrivals)
    assert outcome.exact
    assert outcome.run.overflows == 26
    assert outcome.summary()["check"] == "exact"
    assert outcome.overflow_sentence is None


def test_what_was_dropped_is_not_missing_by_overflow():
    """Both refer to the tuples that were accepted."""
    timed = simulator("nested-loop", "window=6 span=9 on_full=drop queue=1")
    crowded = Workload(match_rate=0.5, tuples_per_tick=8).slice(0, 2000)
    outcome = timed.run(crowded, output_stalls=Stalls(0.9, burst=300.0, seed=3))
    assert outcome.run.dropped > 100
    whole = window_join_array(outcome.accepted, timed.parameters.predicate, Windows((2000, 2000), 9))
    assert outcome.difference.design_is_right
    assert outcome.difference.missing_by_overflow == len(whole) - len(outcome.numbers) > 0
    assert not np.isin(outcome.difference.lost, np.flatnonzero(outcome.run.discarded)).any()
