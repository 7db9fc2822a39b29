"""Whole runs of a toy join: exact under any stalls, told apart from stuck or unruly designs, and able to start over."""

import dataclasses
import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.reference.errors import DesignError
from streamjoin.sim.run.model import Model, Stalls, StuckError
from streamjoin.sim.run.verilate import build_library
from streamjoin.sim.verilog.generate import generate
from streamjoin.support.files import InputError
from streamjoin.support.toolchain import ToolError
from tests.sim.toy import Slot, Toy, expected
from tests.waves import at_edges, transfers


@functools.cache
def built(**options):
    verilog = generate(Toy(**options), "toy")
    return build_library(verilog), verilog.manifest


def arrivals(count: int, seed: int = 0, keys: int = 3):
    random = np.random.default_rng(seed)
    fields = {"key": random.integers(0, keys, count), "payload": np.arange(count)}
    return fields, random.integers(0, 2, count, dtype=np.uint8)


def rows(run) -> list[tuple[int, int, int]]:
    return list(zip(*(run.result[name].tolist() for name in ("key", "r", "s")), strict=True))


def check(run, fields, stream) -> None:
    """The results are right, and the cycles noted are possible ones."""
    assert run.finished
    assert rows(run) == expected(fields["key"], stream, ~run.discarded)
    assert (np.diff(run.accepted_cycle) >= 0).all()
    together = np.diff(run.accepted_cycle) == 0
    assert (np.diff(stream.astype(int))[together] > 0).all()
    assert (np.diff(run.result_cycle) > 0).all()
    later = np.maximum(run.result["r"], run.result["s"])
    assert (run.result_cycle > run.accepted_cycle[later]).all()
    assert run.dropped == run.discarded.sum()


STALLS = st.builds(
    Stalls,
    probability=st.sampled_from((0.0, 0.2, 0.9)),
    burst=st.sampled_from((1.0, 7.0)),
    pattern=st.lists(st.booleans(), max_size=5).filter(lambda bits: not all(bits) or not bits).map(tuple),
    seed=st.integers(0, 9),
)


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(0, 99), STALLS, STALLS, st.booleans())
def test_exact_under_any_stalls(count, seed, input_stalls, output_stalls, drops):
    fields, stream = arrivals(count, seed)
    with Model(*built(drops=drops)) as model:
        run = model.run(fields, stream, input_stalls=input_stalls, output_stalls=output_stalls, patience=1000)
    check(run, fields, stream)


def test_without_stalls_both_streams_are_taken_together():
    fields = {"key": np.arange(10) % 7, "payload": np.arange(10)}
    stream = np.arange(10, dtype=np.uint8) % 2
    with Model(*built()) as model:
        run = model.run(fields, stream)
    assert run.accepted_cycle.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert (run.cycles, run.stall_cycles, run.halted_cycles) == (6, 0, 0)


def test_stalls_by_pattern():
    fields, stream = {"key": np.zeros(4, int), "payload": np.arange(4)}, np.zeros(4, np.uint8)
    with Model(*built()) as model:
        run = model.run(fields, stream, input_stalls=Stalls(pattern=(True, False, True)))
    assert run.accepted_cycle.tolist() == [1, 4, 7, 10]


@pytest.mark.parametrize(("probability", "burst"), [(0.5, 1), (0.3, 8), (0.8, 20)])
def test_stalls_by_probability(probability, burst):
    fields, stream = arrivals(20_000)
    stream[:] = 0
    with Model(*built()) as model:
        run = model.run(fields, stream, input_stalls=Stalls(probability, burst, seed=1), drain=False)
    gaps = np.diff(run.accepted_cycle)
    assert len(stream) / run.cycles == pytest.approx(1 - probability, rel=0.1)
    assert (gaps[gaps > 1] - 1).mean() == pytest.approx(max(burst, 1 / (1 - probability)), rel=0.1)


def test_stalled_output_halts_the_design():
    fields, stream = arrivals(200, keys=1)
    with Model(*built()) as model:
        run = model.run(fields, stream, output_stalls=Stalls(probability=0.8))
    check(run, fields, stream)
    assert 0 < run.stall_cycles <= run.halted_cycles


def test_dropped_arrivals_are_reported():
    fields, stream = arrivals(500, keys=1)
    with Model(*built(drops=True)) as model:
        run = model.run(fields, stream, output_stalls=Stalls(probability=0.8))
    check(run, fields, stream)
    assert 0 < run.dropped < 500


def test_large_run_with_progress():
    fields, stream = arrivals(300_000)
    seen = []
    with Model(*built()) as model:
        run = model.run(fields, stream, progress=seen.append)
    check(run, fields, stream)
    assert seen == sorted(seen)
    assert seen[-1] == len(stream)
    assert len(seen) > 1


def test_stuck_with_an_arrival_waiting():
    fields, stream = arrivals(20)
    stream[:] = 1
    message = "arrival 5 waits on i_s, whose ready is low, the result is not valid, .* not draining and not drained"
    with Model(*built(stuck_after=5)) as model, pytest.raises(StuckError, match=message):
        model.run(fields, stream, patience=50)


def test_patience_counts_only_cycles_in_which_the_design_could_move():
    fields, stream = {"key": np.zeros(9, int), "payload": np.arange(9)}, np.arange(9, dtype=np.uint8) % 2
    with Model(*built()) as model:
        run = model.run(fields, stream, output_stalls=Stalls(pattern=(True,) * 30 + (False,)), patience=5)
    check(run, fields, stream)


def test_order_violation():
    # The output is closed, so that R (which matches) has to wait while S (which does not) could pass.
    fields = {"key": np.array([1, 1, 1, 1, 1, 2]), "payload": np.arange(6)}
    stream = np.array([1, 0, 1, 0, 0, 1], np.uint8)
    with Model(*built(hasty=True)) as model, pytest.raises(DesignError, match="it took arrival 5 on i_s before"):
        model.run(fields, stream, output_stalls=Stalls(pattern=(True,) * 50 + (False,)))


def test_reset_in_mid_stream():
    fields, stream = arrivals(400)
    with Model(*built()) as model:
        whole = model.run(fields, stream)
        for cut in (0, 1, 17, 100):
            short = model.run(fields, stream, max_cycles=cut)
            assert not short.finished
            assert short.cycles == cut
            assert rows(short) == rows(whole)[: len(rows(short))]
            again = model.run(fields, stream)
            assert rows(again) == rows(whole)
            assert (again.result_cycle == whole.result_cycle).all()


def test_two_models_side_by_side():
    fields, stream = arrivals(100)
    with Model(*built()) as one, Model(*built(drops=True)) as other:
        assert rows(one.run(fields, stream)) == rows(other.run(fields, stream))


def test_vcd_waves(tmp_path):
    verilog = generate(Toy(), "toy")
    library = build_library(verilog, waves="vcd")
    fields, stream = arrivals(20)
    with Model(library, verilog.manifest, waves=tmp_path / "toy.vcd") as model:
        done = model.run(fields, stream)
        check(done, fields, stream)
        assert not (tmp_path / "toy.vcd").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["toy.vcd"]
    edges = at_edges(tmp_path / "toy.vcd", "design")
    assert done.cycles <= len(edges) <= done.cycles + 10
    assert transfers(edges, "i_r") == (stream == 0).sum()
    assert transfers(edges, "i_s") == (stream == 1).sum()
    keys = [edge["o_result__payload"] & 255 for edge in edges if edge["o_result__valid"] & edge["o_result__ready"]]
    assert keys == done.result["key"].tolist()
    assert len(keys) > 3


def test_waves_in_a_folder_that_is_not_there(tmp_path):
    verilog = generate(Toy(), "toy")
    with pytest.raises(InputError, match="cannot be written"):
        Model(build_library(verilog, waves="vcd"), verilog.manifest, waves=tmp_path / "nowhere" / "toy.vcd")


def test_waves_need_a_library_built_for_them(tmp_path):
    with pytest.raises(ValueError, match="built without waves"):
        Model(*built(), waves=tmp_path / "toy.vcd")


def test_libraries_are_cached():
    verilog = generate(Toy(), "toy")
    first, second = build_library(verilog), build_library(verilog)
    assert second.cached
    assert first.path == second.path


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(
        ToolError, match=r"no-such-compiler was not found: install it \(Debian: apt-get install g\+\+\)"
    ):
        build_library(generate(Toy(), "toy"))


def test_a_failing_tool_is_quoted():
    verilog = generate(Toy(), "toy")
    broken = dataclasses.replace(verilog, text=verilog.text.replace("endmodule", "endmodul"))
    with pytest.raises(ToolError, match=r"verilator failed: %Error: .*verilator\.log"):
        build_library(broken)


def test_fst_without_its_headers_is_refused(monkeypatch, tmp_path):
    (tmp_path / "lz4.h").write_text("#error not for us")
    monkeypatch.setenv("CXX", f"g++ -I{tmp_path}")
    with pytest.raises(ToolError, match=r"liblz4-dev zlib1g-dev\) or write a \.vcd file instead"):
        build_library(generate(Toy(), "toy"), waves="fst")


def test_only_whole_designs_can_be_driven():
    with pytest.raises(ValueError, match="slot is not a whole design: it lacks o_result__valid, drain"):
        build_library(generate(Slot(), "slot"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": 1.0}, "below 1, not 1.0"),
        ({"burst": 0.5}, "at least 1 cycle, not 0.5"),
        ({"pattern": (True, True)}, "needs a cycle that is not stalled"),
    ],
)
def test_impossible_stalls(options, message):
    with pytest.raises(ValueError, match=message):
        Stalls(**options)


def test_fields_and_streams_must_agree():
    with Model(*built()) as model:
        with pytest.raises(ValueError, match="key has 1 rows for 2 arrivals"):
            model.run({"key": np.array([1])}, np.array([0, 1]))
        with pytest.raises(ValueError, match="an arrival is for port 2, the last one is 1"):
            model.run({}, np.array([0, 2]))


def offered_run(fields, stream, offered, *, drops=False, **options):
    with Model(*built(drops=drops)) as model:
        return model.run(fields, stream, offered=np.asarray(offered), patience=1000, **options)


OFFERS = st.lists(st.integers(0, 4), max_size=60).map(np.cumsum)


@settings(max_examples=40)
@given(OFFERS, st.integers(0, 99), STALLS, STALLS, st.sampled_from((0, 7)))
def test_what_is_offered_waits_in_arrival_order(offered, seed, input_stalls, output_stalls, quiet):
    fields, stream = arrivals(len(offered), seed)
    stalls = {"input_stalls": input_stalls, "output_stalls": output_stalls}
    run = offered_run(fields, stream, offered, quiet=quiet, **stalls)
    check(run, fields, stream)
    assert not run.discarded.any()
    assert (run.accepted_cycle >= offered).all()
    assert run.input_cycles == max(run.accepted_cycle, default=-1) + 1
    assert run.undrained_cycles >= run.input_cycles + quiet
    assert (run.result_cycle[run.result_cycle >= run.input_cycles] < run.undrained_cycles).all() or not quiet


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2), min_size=20).map(np.cumsum), st.integers(0, 99), STALLS, STALLS, st.booleans())
def test_without_a_queue_each_is_taken_in_its_cycle_or_dropped(offered, seed, input_stalls, output_stalls, drops):
    fields, stream = arrivals(len(offered), seed, keys=1)
    stalls = {"input_stalls": input_stalls, "output_stalls": output_stalls}
    run = offered_run(fields, stream, offered, drops=drops, queue=False, **stalls)
    assert run.finished
    assert rows(run) == expected(fields["key"], stream, ~run.discarded)
    taken = run.accepted_cycle >= 0
    assert (run.accepted_cycle[taken] == offered[taken]).all()
    assert run.discarded[~taken].all()
    assert run.dropped == run.discarded.sum()
    assert run.stall_cycles == 0


def test_without_a_queue_one_of_each_stream_is_taken_in_a_cycle():
    fields = {"key": np.arange(7), "payload": np.arange(7)}
    run = offered_run(fields, np.array([0, 1, 0, 1, 1, 0, 1], np.uint8), [3, 3, 3, 3, 5, 5, 5], queue=False)
    assert run.accepted_cycle.tolist() == [3, 3, -1, -1, 5, -1, -1]
    assert run.dropped == 4


def test_what_is_offered_late_makes_nobody_stuck():
    fields, stream = arrivals(3)
    run = offered_run(fields, stream, [0, 5000, 90_000])
    assert run.accepted_cycle.tolist() == [0, 5000, 90_000]
    assert run.stall_cycles == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"offered": np.array([1])}, "1 arrivals are offered, and there are 2"),
        ({"offered": np.array([1, 0])}, "offered before an earlier one"),
        ({"queue": False}, "need a cycle in which they are offered"),
    ],
)
def test_impossible_offers(options, message):
    with Model(*built()) as model, pytest.raises(ValueError, match=message):
        model.run({"key": np.zeros(2, int), "payload": np.arange(2)}, np.array([0, 1]), **options)
