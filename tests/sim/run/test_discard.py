"""Circular join that throws intermediate results away, as the paper's does: part of the join, each result once."""

import functools

import pytest
from hypothesis import given, settings

from streamjoin.cli.main import main
from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from tests.cases import cases

SETS = [
    "window=4 discard=1 buffer=1 flight=9",
    "streams=4 window=3 discard=2 buffer=3 predicate=ne lanes=2",
    "streams=5 window=2 index=hash discard=1",
]


@functools.cache
def simulator(words: str) -> Simulator:
    circular = find("circular")
    return Simulator.build(circular, circular.parameters(**dict(word.split("=") for word in words.split())))


@pytest.mark.parametrize("words", SETS)
def test_no_result_that_should_not_be_and_none_twice(words):
    simulated = simulator(words)

    @settings(max_examples=30)
    @given(cases(simulated.parameters))
    def part_of_the_join(case):
        outcome = case.run(simulated)
        counts = outcome.difference.counts
        assert counts["extra"] == counts["repeated"] == 0
        # What is missing was thrown away, and most of the time something is missing for what was.
        assert outcome.run.lost or outcome.exact

    part_of_the_join()


@pytest.mark.parametrize("words", SETS)
def test_where_everything_matches_much_is_lost_and_counted(words):
    simulated = simulator(words)
    outcome = simulated.run(Workload(streams=len(simulated.parameters.streams), match_rate=0.5).slice(0, 400))
    summary = outcome.summary()
    assert summary["check"]["missing"] > 0
    assert summary["lost_intermediates"] > 0


def test_nothing_is_thrown_away_where_nothing_waits():
    outcome = simulator(SETS[0]).run(Workload(streams=3, match_rate=0.0).slice(0, 200))
    assert outcome.exact
    assert "lost_intermediates" not in outcome.summary()


def test_the_command_line_says_how_many_results_are_missing(capsys):
    words = [word for setting in SETS[0].split() for word in ("-p", setting)]
    assert main(["sim", "circular", *words, "--tuples", "200", "--match-rate", "0.5"]) == 1
    out, err = capsys.readouterr()
    assert "intermediate results thrown away" in out
    assert " missing " in err
    assert "0 extra, 0 repeated" in err
