"""Cases that the soak once found to fail; each file says in its name what it was about."""

from pathlib import Path

import pytest

from streamjoin.hdl.registry import find
from streamjoin.sim.run.random_cases import load
from streamjoin.sim.run.simulate import Simulator

CASES = sorted((Path(__file__).parent / "once_failed").glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_once_failed_is_exact(path):
    name, given, case = load(path)
    design = find(name)
    case.check(Simulator.build(design, design.parameters(**given)))
