"""Runs under offered load: times agree with a queue fed with the same offers, and designs hold back what they say."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from streamjoin.hdl.registry import DESIGNS, find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.model import Model
from streamjoin.sim.run.offered_load import is_sustained
from streamjoin.sim.run.simulate import Simulation, Simulator
from streamjoin.sim.tuples import offers
from streamjoin.sim.tuples.offers import Offers
from streamjoin.sim.tuples.workload import Workload

WINDOW = 15


@functools.cache
def simulator(design: str, words: str = "") -> Simulator:
    parameters = find(design).parameters(**dict(word.split("=", 1) for word in words.split()))
    return Simulator.build(find(design), parameters)


def nested_loop() -> Simulator:
    return simulator("nested-loop", f"window_r=12 window_s={WINDOW}")


def queue(offered: np.ndarray, stream: np.ndarray, pace, opens: int) -> np.ndarray:
    """When a server takes each customer that waits in one line.

    It opens in some cycle. It serves one at a time, or an R and the S right behind it together if both are there when
    it begins, as long as ``pace`` says.
    """
    begins, free, n = np.empty_like(offered), opens, 0
    while n < len(offered):
        begin = max(free, offered[n])
        both = stream[n] == 0 and n + 1 < len(offered) and stream[n + 1] == 1 and offered[n + 1] <= begin
        begins[n : n + 1 + both] = begin
        free = begin + (pace.both if both else pace.s if stream[n] else pace.r)
        n += 1 + both
    return begins


@pytest.mark.parametrize("arrivals", ["alternating", "random"])
@pytest.mark.parametrize("pace", ["even", "poisson", "bursty"])
def test_sojourn_times_agree_with_a_queue(pace, arrivals):
    simulated, count = nested_loop(), 10_000
    workload = Workload(match_rate=0.02, arrivals=arrivals, seed=5).slice(0, count)
    warm = 4 * WINDOW  # windows are full from here on

    def mean(simulation: Simulation, since: np.ndarray) -> float:
        later = simulation.numbers.max(axis=1)
        return simulation.since(since, later >= warm).mean()

    alone = simulated.run(workload, offers=offers.even(count, Fraction(1, 200)))
    service = mean(alone, alone.run.accepted_cycle)
    opens = int(simulated.run(workload[:1]).run.accepted_cycle[0])
    # What the server takes a cycle when somebody always waits.
    all_at_once = queue(np.zeros(count, int), workload.stream, simulated.parameters.pace, 0)
    for load in ("0.3", "0.6", "0.9"):
        rate = Fraction(load) * Fraction(count, int(all_at_once[-1])).limit_denominator(10**6)
        offered = offers.even(count, rate) if pace == "even" else getattr(offers, pace)(count, rate, seed=7)
        loaded = simulated.run(workload, offers=offered)
        begins = queue(offered.cycle, workload.stream, simulated.parameters.pace, opens)
        expected = (begins - offered.cycle)[loaded.numbers.max(axis=1)][loaded.numbers.max(axis=1) >= warm].mean()
        assert loaded.exact
        assert mean(loaded, offered.cycle) == pytest.approx(expected + service, rel=0.02)
        assert loaded.summary()["sustained"]


def test_the_figures_of_a_run():
    stream, count = np.arange(2000) % 2, 2000
    arrivals = Arrivals(stream=stream, key=np.arange(count) // 2)
    offered = offers.even(count, Fraction(1, 100))
    loaded = nested_loop().run(arrivals, offers=offered)
    summary = loaded.summary()
    assert summary["check"] == "exact"
    assert summary["offered_tuples_per_cycle"] == 0.01
    assert summary["tuples_per_cycle"] == pytest.approx(0.01, rel=0.01)
    assert summary["results_per_cycle"] == pytest.approx(0.005, rel=0.01)
    # Each comes alone and waits for nobody, but for the first, which the reset holds up.
    assert summary["sojourn_cycles"]["p99"] == summary["latency_cycles"]["p99"]
    assert (summary["waiting_max"], summary["results_after_drain"], summary["sustained"]) == (1, 0, True)
    assert "sojourn_cycles" not in nested_loop().run(arrivals).summary()


def test_all_at_once_is_as_fast_as_it_is_taken():
    """Offers that are always there change no cycle until the drain."""
    workload = Workload(match_rate=0.02, arrivals="bursty").slice(0, 500)
    for design, words in (("nested-loop", f"window_r=12 window_s={WINDOW}"), ("handshake", "cores=2 window=2")):
        free = simulator(design, words).run(workload)
        loaded = simulator(design, words).run(workload, offers=Offers(np.zeros(500, np.int64), 500.0))
        assert (free.run.accepted_cycle == loaded.run.accepted_cycle).all()
        before = free.run.result_cycle < free.run.undrained_cycles
        assert (free.run.result_cycle[before] == loaded.run.result_cycle[: before.sum()]).all()
        assert loaded.summary()["waiting_max"] == 500 - (loaded.run.accepted_cycle == 0).sum()
        assert not loaded.summary()["sustained"]


def test_what_a_busy_gate_does_not_take_is_dropped():
    """One tuple in 19 cycles, and no more than that: two of three find the gate shut."""
    stream, count = np.zeros(300, np.uint8), 300
    simulated = simulator("nested-loop", f"window_r=12 window_s={WINDOW} on_full=drop")
    loaded = simulated.run(Arrivals(stream=stream, key=np.arange(count)), offers=offers.even(count, Fraction(1, 7)))
    taken = np.flatnonzero(~loaded.run.discarded)
    assert loaded.exact
    assert set(np.diff(taken)) == {3}
    assert (loaded.run.accepted_cycle[taken] == 7 * taken).all()
    summary = loaded.summary()
    assert summary["dropped"] == 300 - len(taken)
    assert summary["dropped_arrivals"] == np.flatnonzero(loaded.run.discarded).tolist()
    assert (summary["waiting_max"], summary["sustained"]) == (0, False)


@pytest.mark.parametrize("design", ["handshake", "bisort", "circular", "hash"])
def test_dropping_designs_join_what_was_accepted(design):
    words = {
        "handshake": "cores=2 window=12 match_queue=2 on_full=drop",
        "bisort": "window=5 subwindow=32 partitions=8 batch=8 predicate=band2:1,2 span=5 on_full=drop probers=2",
        "circular": "streams=4 window=4 index=hash buckets=1 buffer=1 on_full=drop flight=5",
        "hash": "window=6 span=9 on_full=drop probe_queue=1 result_queue=1",
    }
    simulated = simulator(design, words[design])
    p = simulated.parameters
    workload = Workload(streams=len(p.streams), predicate=p.predicate, match_rate=None, key_width=2, arrivals="random")
    outcome = simulated.run(workload.slice(0, 600), offers=offers.bursty(600, Fraction("0.1")))
    assert outcome.exact
    assert 0 < outcome.summary()["dropped"] < 600
    assert len(outcome.numbers)


class Served:
    """As much of a run as tells whether it was sustained: a server that takes ``service`` cycles for each."""

    def __init__(self, offered: Offers, service: int):
        number = np.arange(len(offered))
        self.accepted_cycle = np.maximum.accumulate(offered.cycle - number * service) + number * service
        self.discarded = np.zeros(len(offered), bool)


@pytest.mark.parametrize(("pace", "count"), [("even", 1000), ("poisson", 1000), ("poisson", 100_000), ("bursty", 5000)])
def test_a_load_below_one_is_sustained(pace, count):
    for load in (0.3, 0.9, 0.98):
        for seed in range(20):
            rate = Fraction(load).limit_denominator(1000) / 18
            offered = offers.even(count, rate) if pace == "even" else getattr(offers, pace)(count, rate, seed)
            assert is_sustained(offered, Served(offered, 18))


@pytest.mark.parametrize(
    ("pace", "load", "count"),
    [("even", "1.02", 1000), ("poisson", "1.02", 200_000), ("bursty", "1.5", 20_000), ("poisson", "1.5", 1000)],
)
def test_an_overload_is_not(pace, load, count):
    for seed in range(20):
        rate = Fraction(load) / 18
        offered = offers.even(count, rate) if pace == "even" else getattr(offers, pace)(count, rate, seed)
        assert not is_sustained(offered, Served(offered, 18))


def test_a_load_of_exactly_one_is_sustained_though_somebody_always_waits():
    for count in range(1000, 1010):
        offered = offers.even(count, Fraction(2, 37))
        served = Served(offered, 1)
        served.accepted_cycle = 100 + np.cumsum(np.arange(count) % 2 + 18)
        assert is_sustained(offered, served)


#: A parameter set or two of every design, as in test_exact, so that they are built once.
CLAIMS = [
    ("nested-loop", "window_r=3 window_s=8 queue=1"),
    ("handshake", "cores=1 window=1"),
    ("handshake", "cores=5 window=10 match_queue=1 core_queue=1 merger_queue=2 fan=2"),
    ("handshake", "cores=4 window_r=11 window_s=4 scan=sequential storage=memory"),
    ("handshake-async", "cores=1 window=1"),
    ("handshake-async", "cores=4 window_r=13 window_s=6 lanes=3 merger=three-state"),
    ("llhj", "cores=4 window_r=13 window_s=6 lanes=3 merger=three-state"),
    ("llhj", "cores=4 window=13 punctuation=3 lanes=3 comparators=apart"),
    ("llhj", "cores=3 window_r=9 window_s=4 ordered=true punctuation=5 outstanding=16 lanes=2"),
    ("llhj", "cores=4 window_r=9 window_s=30 index=hash buckets=2 core_queue=1"),
    ("bisort", "window_r=3 window_s=17 subwindow=8 partitions=2 batch=3 predicate=bands:-4..-2,1..1"),
    ("bisort", "window=20 subwindow=32 partitions=2 batch=11 mergers=2 predicate=le bandwidth=9 latency=7 probers=2"),
    ("circular", "window_s1=7 window_s2=1 window_s3=4 lanes=3 buffer=1"),
    ("circular", "window_s1=7 window_s2=3 window_s3=12 index=hash buckets=4 flight=9 span=20"),
    ("stashed", "window_s1=6 window_s2=2 window_s3=9 stash=4 lanes=3 second_lanes=1 predicate=le buffer=1"),
    ("hash", "window=1 buckets=1 probe_queue=1 result_queue=1"),
    ("hash", "window=9 predicate=bands:-4..-2,1..1 buckets=16 probe_queue=2 hash_seed=7"),
]


def test_every_design_is_asked_what_it_holds_back():
    assert {design for design, _ in CLAIMS} == set(DESIGNS)


def results_and_drain(simulated: Simulator, arrivals: Arrivals) -> tuple[np.ndarray, int]:
    """In which cycles results leave, and that of a drain, which comes when nothing can come by itself any more."""
    p, count = simulated.parameters, len(arrivals)
    fields = {name: getattr(arrivals, name) for name in p.layout.arrival.members if name != "payload"}
    with Model(simulated.library, simulated.verilog.manifest) as model:
        run = model.run(
            {**fields, "payload": np.arange(count)},
            arrivals.stream,
            offered=100 * np.arange(count),
            quiet=p.patience,
            patience=p.patience,
        )
    cycles = run.result_cycle[~run.result["mark"].astype(bool)] if p.numbered else run.result_cycle
    return cycles, run.undrained_cycles


@pytest.mark.parametrize(("design", "words"), CLAIMS)
def test_designs_hold_back_what_they_say(design, words):
    simulated = simulator(design, words)
    streams = len(simulated.parameters.streams)
    random = np.random.default_rng(1)
    many = {"stream": random.integers(0, streams, 60), "key": random.integers(0, 4, 60)}
    arrivals = Arrivals(**many, time=np.arange(60))
    results, drain = results_and_drain(simulated, arrivals)
    assert (results < drain).any()
    assert (results >= drain).any() == (simulated.parameters.holds_back is not None)
    loaded = simulated.run(arrivals, offers=offers.even(60, Fraction(1, 100)))
    assert loaded.difference.design_is_right
    assert loaded.summary()["results_after_drain"] == (results >= drain).sum()
    assert (loaded.run.result_cycle == results).all()  # although that drain came sooner


@pytest.mark.parametrize(
    ("design", "words", "meets"),
    [
        ("handshake", "cores=5 window=10 match_queue=1 core_queue=1 merger_queue=2 fan=2", False),
        ("nested-loop", "window_r=3 window_s=8 queue=1", True),
        ("llhj", "cores=4 window_r=13 window_s=6 lanes=3 merger=three-state", True),
        ("hash", "window_r=3 window_s=20", True),
    ],
)
def test_whether_two_tuples_alone_ever_meet_without_a_drain(design, words, meets):
    pair = Arrivals(stream=[0, 1], key=[5, 5])
    results, drain = results_and_drain(simulator(design, words), pair)
    assert (results < drain).tolist() == [meets]
    summary = simulator(design, words).run(pair, offers=offers.even(2, Fraction(1, 10))).summary()
    assert summary["results_after_drain"] == (0 if meets else 1)
    assert (summary["sojourn_cycles"]["min"] is not None) == meets
