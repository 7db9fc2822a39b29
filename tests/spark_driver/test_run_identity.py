"""What a checkpoint keeps of a run tells it from any other."""

import dataclasses
import json
import re
import sys

import pytest

from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.run_identity import first_difference, identity
from streamjoin.spark_driver.stream import Lanes

LANES = Lanes(Workload(seed=1, match_rate=0.1), tuples=100)


def of(lanes=LANES, **given):
    design = find("nested-loop")
    parameters = design.parameters(**{"window": 4} | given)
    source = dataclasses.replace(lanes.source, predicate=parameters.predicate)
    whole = identity(design_verilog(design, parameters), dataclasses.replace(lanes, source=source))
    return json.loads(json.dumps(whole))  # as it is kept


@pytest.fixture(scope="module")
def base():
    return of()


def test_the_same_run_is_the_same(base):
    assert first_difference(base, of()) is None


@pytest.mark.parametrize(
    ("lanes", "given", "sentence"),
    [
        ({"tuples": 101}, {}, "tuples was 100, not 101"),
        ({"lanes": 2}, {}, "lanes was 1, not 2"),
        ({"batch": 5}, {}, "batch was 10000, not 5"),
        ({"source": Workload(seed=2, match_rate=0.1)}, {}, "seed was 1, not 2"),
        ({"source": Workload(seed=1)}, {}, "match_rate was 0.1, not null"),
        ({"source": Workload(seed=1, match_rate=0.1, keys="zipf")}, {}, "keys was uniform, not zipf"),
        ({}, {"window_s": 5}, "window_s was 4, not 5"),
        ({}, {"predicate": "ge"}, r"predicate was r\.key\b.* == .*, not .*\bs\.key\b.* <= .*"),
    ],
)
def test_whatever_decides_is_told_apart(base, lanes, given, sentence):
    assert re.fullmatch(sentence, first_difference(base, of(dataclasses.replace(LANES, **lanes), **given)))


def test_other_gates_under_the_same_name(base, monkeypatch):
    monkeypatch.setattr("streamjoin.sim.verilog.generate._header", lambda *_: "// another release of a tool\n")
    assert first_difference(base, of()).startswith("Verilog was ")


def test_another_release(base, monkeypatch):
    monkeypatch.setattr("streamjoin.sim.verilog.generate.version", lambda _: "9.9")
    assert first_difference(base, of()).endswith(", not 9.9")


def test_a_function_that_has_changed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    uniform = dataclasses.replace(LANES, source=Workload())

    def changed(text):
        (tmp_path / "changing.py").write_text(f"def near(r, s):\n    return {text}\n")
        sys.modules.pop("changing", None)
        return of(uniform, predicate="changing:near")

    before = changed("r.key <= s.key + 8")
    now = changed("r.key <= s.key + 9")
    assert re.fullmatch(r"predicate was .*r\.key.*\b8\b.*, not .*r\.key.*\b9\b.*", first_difference(before, now))
    # Gates would tell by themselves, too.
    assert first_difference({**before, "predicate": None}, {**now, "predicate": None}).startswith("Verilog was ")
    assert first_difference(before, changed("r.key <= s.key + 8  # the same")) is None
    del sys.modules["changing"]


def test_what_is_on_one_side_only():
    assert first_difference({"a": 1}, {"a": 1, "b": None}) == "b was absent, not null"
    assert first_difference({"a": {"x": 1}, "b": 1}, {"a": {"x": 1}}) == "b was 1, not absent"
