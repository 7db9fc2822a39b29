"""Several tuples and several results a cycle: exact whatever the mix, and what is wrong at such ports is noticed."""

import dataclasses
import functools
import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from streamjoin.cli.main import main
from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.errors import DesignError
from streamjoin.sim.run.cocotb_runner import run_bench
from streamjoin.sim.run.model import Stalls, StuckError
from streamjoin.sim.run.random_cases import hold_to_reference
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.sim.tuples import offers
from streamjoin.sim.tuples.workload import Workload
from tests.sim.wide_design import DESIGN, WideJoin

NAME = "tests.sim.wide_design:DESIGN"
SMALL = {"window_r": 5, "window_s": 3, "queue": 2}


@functools.cache
def simulator(fault: str = "", **given) -> Simulator:
    return Simulator.build(faulty(fault), DESIGN.parameters(**SMALL | given))


def faulty(fault):
    def component(parameters):
        return WideJoin(parameters, fault)

    return dataclasses.replace(DESIGN, component=component)


def transfers(run) -> list[np.ndarray]:
    """The numbers of the arrivals that were taken together."""
    taken = np.flatnonzero(run.accepted_cycle >= 0)
    return np.split(taken, np.flatnonzero(np.diff(run.accepted_cycle[taken])) + 1)


@pytest.mark.parametrize(
    "given",
    [
        {"width": 1, "results": 2},
        {"width": 2, "results": 1},
        {"width": 2, "results": 2, "span": 9},
        {"width": 4, "results": 4, "predicate": "band:1", "key_width": 5, "payload_width": 12},
        {"width": 8, "results": 2, "predicate": "band2:1,2", "key_width": 40, "payload_width": 64},
        {"width": 3, "results": 3, "on_full": "drop"},
        {"width": 8, "results": 8, "on_full": "drop", "span_r": 4, "span_s": 11, "time_width": 62},
        {"width": 2, "results": 1, "payload_width": 7, "key_width": 2},
    ],
    ids=str,
)
def test_exact_in_random_cases(given):
    """Stalls, a reset in mid-run, any memory contents."""
    assert hold_to_reference(simulator(**given), cases=60) > 1000


@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize("streams", ["alternate", "random", "one by one"])
def test_without_stalls_a_transfer_holds_as_many_as_fit(width, streams):
    rng = np.random.default_rng(width)
    stream = {
        "alternate": np.arange(200) % 2,
        "random": rng.integers(2, size=200),
        "one by one": np.repeat([0, 1, 0, 1], 50),
    }[streams]
    run = simulator(width=width, results=1).run(Arrivals(stream=stream, key=np.arange(200))).run
    together = transfers(run)
    assert np.concatenate(together).tolist() == [*range(200)]
    for these, those in pairwise(together):
        counts = np.bincount(stream[these], minlength=2)
        assert counts.max() <= width
        assert counts[stream[those[0]]] == width, "the first of the next transfer would not have fitted"


@pytest.mark.parametrize("pattern", [(), (False,), (True, False, False)])
def test_with_stalls_transfers_hold_any_number(pattern):
    stalls = Stalls(0.3, seed=3) if not pattern else Stalls(pattern=pattern)
    arrivals = Arrivals(stream=np.random.default_rng(1).integers(2, size=4000), key=np.arange(4000))
    run = simulator(width=4, results=1).run(arrivals, input_stalls=stalls).run
    counts = {tuple(np.bincount(arrivals.stream[these], minlength=2).tolist()) for these in transfers(run)}
    # A fixed pattern stalls both ports at once.
    least = [0] if not pattern else [1]
    assert counts >= {(r, s) for r in (*least, 2, 3, 4) for s in (*least, 2, 3, 4) if r + s}
    assert {r for r, _ in counts} == {s for _, s in counts} == {0, 1, 2, 3, 4}


def test_results_of_one_transfer_leave_in_one_cycle():
    outcome = simulator(width=2, results=3).run(
        Workload(match_rate=0.8).slice(0, 2000), output_stalls=Stalls(0.5, seed=1)
    )
    assert outcome.exact
    _, counts = np.unique(outcome.run.result_cycle, return_counts=True)
    assert {*counts.tolist()} == {1, 2, 3}
    assert (outcome.latencies > 0).all()


def test_only_what_has_been_offered_enters():
    arrivals = Workload(match_rate=0.2).slice(0, 3000)
    offered = offers.poisson(len(arrivals), Fraction(1, 20), 7)
    outcome = simulator(width=4, results=2).run(arrivals, offers=offered)
    assert outcome.exact
    assert (outcome.run.accepted_cycle >= offered.cycle).all()
    assert len(transfers(outcome.run)) > len(arrivals) / 4
    assert outcome.summary()["sustained"]


def test_without_a_queue_a_transfer_is_taken_in_its_cycle_or_dropped():
    """What does not fit is dropped in front of the design, and others of the same cycle go on without it."""
    arrivals = Workload(match_rate=0.5, arrivals="random").slice(0, 3000)
    offered = offers.bursty(len(arrivals), Fraction(1, 5), 7)
    stalls = {"input_stalls": Stalls(0.2, seed=1), "output_stalls": Stalls(0.9, burst=60.0, seed=3)}
    outcome = simulator(width=3, results=2, on_full="drop").run(arrivals, offers=offered, **stalls)
    run = outcome.run
    assert outcome.known_difference.design_is_right
    taken = run.accepted_cycle >= 0
    assert (run.accepted_cycle[taken] == offered.cycle[taken]).all()
    assert run.discarded[~taken].all()
    assert run.discarded[taken].any(), "the design itself discards"
    assert not run.discarded.all()
    for these in transfers(run):
        assert np.bincount(arrivals.stream[these]).max() <= 3
        assert len({*run.discarded[these].tolist()}) == 1, "a transfer is discarded as a whole"
    gaps = [np.diff(these).max(initial=1) > 1 for these in transfers(run)]
    assert any(gaps), "some go on without one that did not fit"


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("torn", r"took arrivals of one port only at cycle \d+: .* a transfer of i_r and i_s together"),
        ("empty", r"gave 0 results at once at cycle \d+, not from 1 to 2"),
        ("late", r"random case \d+, cut to \d+ tuples: .*(missing|extra)"),
        ("beyond", r"random case \d+, cut to [1-9] tuples: .*(missing|extra)"),
    ],
)
def test_what_is_wrong_at_the_ports_is_noticed(fault, sentence):
    wrong = simulator(fault, width=2, results=2)
    with pytest.raises(DesignError, match=sentence):
        hold_to_reference(wrong, cases=60)


def test_stuck_with_a_transfer_waiting():
    """The output never takes anything: the design fills, and stands."""
    stuck = simulator(width=4, results=2)
    impatient = dataclasses.replace(stuck, parameters=Impatient(**vars(stuck.parameters)))
    with pytest.raises(StuckError, match=r"arrival \d+ waits on i_[rs], whose ready is low"):
        impatient.run(Arrivals(stream=[0, 1] * 200, key=[1] * 400))


class Impatient(DESIGN.parameters_type):
    """Waits for less than a transfer takes."""

    patience = 5


@pytest.mark.parametrize("axi", [False, True])
def test_the_manifest_tells_where_slots_are(axi):
    parameters = DESIGN.parameters(width=2, results=4, key_width=5, payload_width=9)
    manifest = design_verilog(DESIGN, parameters, axi=axi).manifest
    ports = {port["name"]: port for port in manifest["ports"]}
    r, s, result = (
        ports[name]
        for name in (
            ("s_axis_r_tdata", "s_axis_s_tdata", "m_axis_result_tdata")
            if axi
            else ("i_r__payload", "i_s__payload", "o_result__payload")
        )
    )
    assert (r["slots"], s["slots"], result["slots"]) == (2, 2, 4)
    assert r["fields"] == [
        {"name": "slots.0.key", "offset": 0, "width": 5},
        {"name": "slots.0.payload", "offset": 5, "width": 9},
        {"name": "slots.1.key", "offset": 14, "width": 5},
        {"name": "slots.1.payload", "offset": 19, "width": 9},
        {"name": "count", "offset": 28, "width": 2},
    ]
    assert [field["name"] for field in s["fields"] if field["name"].startswith("slots.1.")] == [
        *("slots.1.key", "slots.1.payload", "slots.1.after")
    ]
    assert result["fields"][-1] == {"name": "count", "offset": 4 * 23, "width": 3}
    assert (r["width"], s["width"], result["width"]) == ((32, 40, 96) if axi else (30, 34, 95))
    assert [stream["stream"] for stream in manifest["inputs"]] == ["R", "S"]


def test_by_the_command_line(capsys):
    words = ["-p", "width=4", "-p", "results=2", "-p", "window=8", "--match-rate", "0.1", "--json", "-"]
    assert main(["sim", NAME, *words, "--tuples", "500", "--rate", "0.1", "--input-stalls", "0.2"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["check"] == "exact"
    assert summary["parameters"]["width"] == 4
    assert find(NAME).parameters(**summary["parameters"]).results == 2


@pytest.mark.parametrize(
    ("fault", "named"), [("torn", "is_exact_whatever_stalls"), ("late", "is_exact_"), ("beyond", "is_exact_")]
)
def test_the_bench_of_whole_designs_notices(fault, named):
    parameters = DESIGN.parameters(**SMALL, width=2, results=2, key_width=8, payload_width=12)
    settings = {"design": NAME, "parameters": parameters.as_dict()}
    report = run_bench(WideJoin(parameters, fault), "wide", "join", settings, seed=1)
    assert any(name.startswith(named) for name in report.failures)
