"""The parts that a design consists of, each kind once, so that each can be measured by itself."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth.hdl import Fragment, Instance

from streamjoin.hdl.base.part import Part, Ported, SharingPlatform
from streamjoin.synth.flow.errors import SynthError


@dataclass(frozen=True)
class Kind:
    """A kind of part.

    Attributes
    ----------
    name
        Its class.
    first
        Where the design has one, such as ``core0.matches``; empty for the design itself.
    count
        How many the design has.
    make
        Makes one more.
    """

    name: str
    first: str
    count: int
    make: Callable[[], Ported]


def kinds(design: Ported) -> list[Kind]:
    """All kinds of parts of a design, the design first; SynthError if it is none itself."""
    if not isinstance(design, Part):
        raise SynthError(f"{type(design).__name__} does not know its parts: make it a Part, or measure it as a whole")
    survey = _Survey(design)
    places: dict[int, list[str]] = {}
    for path, number in survey.walk(0):
        places.setdefault(number, []).append(path)
    return [_kind(survey.parts[number], paths) for number, paths in places.items()]


def _kind(part: Part, places: list[str]) -> Kind:
    cls, arguments, named = part.kind
    return Kind(cls.__name__, places[0], len(places), partial(cls, *arguments, **named))


class _Survey(SharingPlatform):
    """A platform that elaborates each kind of part once and marks with a stand-in wherever one is used."""

    def __init__(self, design: Part):
        self.parts = [design]
        # By the number of their part; the stubs leave out what a fragment has.
        self._fragments: dict[int, Any] = {}
        self._elaborating = [design]
        self._fragments[0] = Fragment.get(design, self)

    def instance_of(self, part: Part) -> Instance | None:
        if part is self._elaborating[-1]:
            return None
        # Kinds are compared, not hashed: among their arguments are layouts, which cannot be.
        known = (number for number, other in enumerate(self.parts) if other.kind == part.kind)
        number = next(known, None)
        if number is None:
            number = len(self.parts)
            self.parts.append(part)
            self._elaborating.append(part)
            self._fragments[number] = Fragment.get(part, self)
            self._elaborating.pop()
        return Instance(f"part {number}")

    def walk(self, number: int, path: str = "") -> Iterator[tuple[str, int]]:
        """Every place in the design and the number of the part there."""
        yield path, number
        yield from self._walk_inside(self._fragments[number], path)

    def _walk_inside(self, fragment: Any, path: str) -> Iterator[tuple[str, int]]:
        for inner, name, _ in fragment.subfragments:
            below = f"{path}.{name}" if path else str(name)
            # The stubs leave out what an instance has.
            module = inner.type if isinstance(inner, Instance) else ""  # pyright: ignore[reportAttributeAccessIssue]
            if module.startswith("part "):
                yield from self.walk(int(module.removeprefix("part ")), below)
            else:
                yield from self._walk_inside(inner, below)
