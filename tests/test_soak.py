"""What the soak draws can be built, and what it finds is written down; designs from outside are drawn, too."""

import random
import sys

import pytest

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.registry import DESIGNS, find
from streamjoin.sim.run.random_cases import load
from tests import soak
from tests.outside import add_module
from tests.soak import draw_parameters, drawn


@pytest.mark.parametrize("design", DESIGNS)
def test_every_parameter_is_drawn_and_every_draw_is_accepted(design):
    kind = find(design).parameters_type
    draws = [kind.parse(draw_parameters(design, random.Random(number))) for number in range(200)]
    for field in kind.fields():
        name, samples = field.name, field.metadata["samples"]
        assert field.metadata["choices"] or samples or name == "predicate", f"{name} has no samples"
        if len(samples) == 1:  # all else makes a design lose results, as it should, and has tests of its own
            continue
        assert len({getattr(draw, name) for draw in draws}) > 1, f"{name} is always the same"


#: A join that is wrong where windows are longer than one, and a parameter that takes few values.
WRONG = """
from dataclasses import dataclass, replace
from streamjoin.hdl.base.parameters import ParameterError, parameter
from streamjoin.hdl.nested_loop.design import DESIGN as NESTED_LOOP
from streamjoin.hdl.nested_loop.join import NestedLoopJoin
from streamjoin.hdl.nested_loop.parameters import NestedLoopParameters

@dataclass(frozen=True, kw_only=True)
class Parameters(NestedLoopParameters):
    even: int = 2
    odd: int | None = None
    colour: str = "red"

    def __post_init__(self):
        super().__post_init__()
        if self.even % 2 or not (self.odd or 1) % 2:
            raise ParameterError("even must be even and odd be odd")

def wrong(parameters):
    return NestedLoopJoin(replace(parameters, window_s=(parameters.window_s + 1) // 2))

DESIGN = replace(NESTED_LOOP, name="mine", parameters_type=Parameters, component=wrong)
"""


@pytest.fixture
def wrong(tmp_path, monkeypatch):
    add_module(tmp_path, "wrong_join", WRONG)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield "wrong_join:DESIGN"
    sys.modules.pop("wrong_join", None)  # found before, it is not loaded again


def test_parameters_of_a_design_from_outside_are_drawn_until_it_accepts_them(wrong, monkeypatch):
    draws = [drawn(wrong, random.Random(number)) for number in range(100)]
    assert len({draw.even for draw in draws}) > 3
    assert {None, 1} < {draw.odd for draw in draws}
    assert {draw.colour for draw in draws} == {"red"}
    monkeypatch.setattr(soak, "_unknown", lambda _: lambda _: 3)
    with pytest.raises(ParameterError, match="even must be even"):
        drawn(wrong, random.Random(1))


def test_what_the_soak_finds_is_written_down_and_run_again(wrong, tmp_path):
    assert soak.soak(first=4, rounds=4, designs=[wrong], examples=50) == 1
    path = min((tmp_path / "soak-failures").iterdir())
    assert path.name in [f"mine-{number}.json" for number in range(4, 8)]
    name, _, case = load(path)
    assert name == wrong
    assert 2 < len(case.arrivals) < 50
    assert soak.replay(path) == 1


def test_the_soak_names_what_there_is(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["soak", "--designs", "sort-merge"])
    with pytest.raises(SystemExit):
        soak.main()
    assert "there is no design 'sort-merge'" in capsys.readouterr().err
