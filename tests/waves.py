"""Waves as a viewer reads them: the values of signals just before each rising edge of the clock."""

from collections.abc import Iterator
from pathlib import Path


def at_edges(path: Path, scope: str) -> list[dict[str, int]]:
    """The signals of the modules that are called ``scope``, by name, just before each rising edge of their ``clk``.

    What is unknown is taken for 0. Reading fails where the file is no VCD.
    """
    lines = iter(path.read_text().splitlines())
    names = _declared(lines, scope)
    clock, before, edges = names["clk"], {}, []
    for changes in _moments(lines):
        if changes.get(clock) and not before.get(clock):
            edges.append({name: before.get(code, 0) for name, code in names.items()})
        before |= changes
    return edges


def _moments(lines) -> Iterator[dict[str, int]]:
    """What changes at each moment, by short name."""
    changes: dict[str, int] = {}
    for line in lines:
        kind, rest = line[:1], line[1:]
        if kind == "#":
            yield changes
            changes = {}
        elif kind == "b":
            bits, _, code = rest.partition(" ")
            changes[code] = int(bits, 2) if set(bits) <= {"0", "1"} else 0
        elif line and kind in "01xz":
            changes[rest] = int(kind == "1")
        else:
            assert not line or kind == "$", f"{line!r} is neither a change nor a time"
    yield changes


def _declared(lines, scope: str) -> dict[str, str]:
    """The short names that stand for signals of a scope; leaves the lines where changes begin."""
    scopes, names = [], {}
    for line in lines:
        match line.split():
            case ["$scope", _, name, "$end"]:
                scopes.append(name)
            case ["$upscope", "$end"]:
                scopes.pop()
            case ["$var", _, _, code, name, *_] if scopes[-1] == scope:
                names[name] = code
            case ["$enddefinitions", "$end"]:
                return names
    raise AssertionError("the definitions do not end")


def transfers(edges: list[dict[str, int]], port: str) -> int:
    """How many items went through a stream."""
    return sum(edge[f"{port}__valid"] and edge[f"{port}__ready"] for edge in edges)
