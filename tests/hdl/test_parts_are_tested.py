"""Every part has a test of its own, and its docstring names its ports."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

from streamjoin import hdl
from streamjoin.sim.run.bench_suite import COMPONENT_BENCHES
from tests.hdl.all_parts import all_parts, instances

HERE = Path(__file__).parent
PARTS = sorted(all_parts(), key=lambda part: (part.__module__, part.__name__))


@cache
def benched() -> set[type]:
    return {type(part) for cases in COMPONENT_BENCHES.values() for _, part, _ in cases()}


def named_after(part: type) -> Path:
    """Where the test of a part stands: in the same folder, under the name of its module."""
    *folders, module = part.__module__.removeprefix(f"{hdl.__name__}.").split(".")
    return HERE.joinpath(*folders, f"test_{module}.py")


def imported_in(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}


def test_there_are_parts():
    assert len(PARTS) > 60


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_a_part_has_a_bench_or_a_test_named_after_its_module(part):
    if part not in benched():
        path = named_after(part)
        assert path.exists(), f"{part.__name__} has neither a bench nor {path.relative_to(HERE)}"
        assert part.__name__ in imported_in(path), f"{path.relative_to(HERE)} does not know {part.__name__}"


def members(part: type) -> set[str]:
    """What the section ``Members`` of a docstring names, and those of what the part is derived from.

    Names stand at the margin, with commas between them. ``x1, x2, …`` goes on as it began: it stands for ``x`` with
    any number.
    """
    names: set[str] = set()
    for each in part.__mro__:
        section = re.search(
            r"^Members\n-+\n(.*?)(?=\n\n?\S+\n-+\n|\Z)", inspect.cleandoc(each.__doc__ or ""), re.M | re.S
        )
        lines = section[1].splitlines() if section else []
        for line in lines:
            if line and not line[0].isspace():
                given = line.split(", ")
                names |= {re.sub(r"\d+$", "#", name) for name in given} - {"…"} if given[-1] == "…" else set(given)
    return names


def ports(part: type) -> set[str]:
    """The ports of all instances of a part: not each of them may have all."""
    numbered = {name for name in members(part) if name.endswith("#")}
    there = {name for each in instances()[part] for name in each.signature.members}
    return {counted if (counted := re.sub(r"\d+$", "#", name)) in numbered else name for name in there}


@pytest.mark.slow
def test_members_are_the_ports():
    assert set(PARTS) <= set(instances()), "all parts are looked at"
    wrong = {
        part.__name__: {"not there": members(part) - ports(part), "not named": ports(part) - members(part)}
        for part in instances()
        if members(part) != ports(part)
    }
    assert wrong == {}
