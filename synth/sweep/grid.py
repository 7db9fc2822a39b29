"""The points of a sweep: every combination of the parameter values that were asked for.

``cores=2,4`` gives two values. Where a whole number is wanted, a value may be an expression of other parameters:
``window=8*cores`` keeps segments at 8 tuples. A name that no design has is free for use in expressions
(``segment=8,16`` with ``window=segment*cores``); one that only some designs have is passed over by the others;
``nested-loop.storage=registers`` goes to one design alone; ``preset=NAME`` is where a design's parameters start from.
"""

import dataclasses
import typing
from collections.abc import Iterable, Sequence
from itertools import product

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.reference.wording import listed, printable, shown
from streamjoin.synth.sweep.arithmetic import evaluate, names_in

# Names that stand for several parameters.
_SHORT = ("window", "span", "preset")


@dataclasses.dataclass(frozen=True)
class Axis:
    """A parameter and the values it takes, as text; ``design`` is empty where it is meant for all."""

    name: str
    values: tuple[str, ...]
    design: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class GridPoint:
    """A design with its parameters; ``choices`` are those that the grid made, in the user's words."""

    design: Design
    parameters: JoinParameters
    choices: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A combination that the design refuses, and its sentence."""

    design: str
    choices: dict[str, str]
    sentence: str


@dataclasses.dataclass(frozen=True)
class Grid:
    """What there is to measure, and what cannot be."""

    points: list[GridPoint]
    refusals: list[Refusal]


def read_axis(text: str) -> Axis:
    """``NAME=V1,V2,…`` or ``DESIGN.NAME=V1,V2,…``."""
    name, equals, values = text.partition("=")
    design, _, name = name.strip().rpartition(".")
    parts = tuple(part.strip() for part in _at_commas(values))
    if not equals or not name or not all(parts):
        raise ParameterError(f"-p takes NAME=VALUE,VALUE,…, not {shown(text)}")
    if name == "predicate":
        raise ParameterError("predicates have commas of their own: give each with --predicate")
    if len(set(parts)) < len(parts):
        raise ParameterError(f"-p {text} has a value twice: give it once")
    return Axis(name, parts, design)


def expand(designs: Sequence[Design], axes: Iterable[Axis]) -> Grid:
    """All combinations, design by design; equal ones once, those that a design refuses apart."""
    axes = list(axes)
    _check(designs, axes)
    points, refusals, seen = [], [], set()
    for design in designs:
        # What names the design wins over what is meant for all.
        own = {
            axis.name: axis for axis in sorted(axes, key=lambda axis: axis.design) if axis.design in ("", design.name)
        }
        for values in product(*(axis.values for axis in own.values())):
            choices = dict(zip(own, values, strict=True))
            told = _that_matter(design, choices)
            try:
                parameters = design.parameters(**_resolve(design, choices))
            except ParameterError as error:
                refusal = Refusal(design.name, told, str(error))
                if refusal not in refusals:
                    refusals.append(refusal)
                continue
            key = design.name, *parameters.as_dict().items()
            if key not in seen:
                seen.add(key)
                points.append(GridPoint(design, parameters, told))
    return Grid(points, refusals)


def _check(designs: Sequence[Design], axes: list[Axis]) -> None:
    """Every axis must be of use to somebody, or it is a slip of the pen."""
    named, used = set(), {name for axis in axes for value in axis.values for name in names_in(value)}
    for axis in axes:
        if (axis.design, axis.name) in named:
            raise ParameterError(f"-p {axis.name} is given twice: give all its values at once, with commas between")
        named.add((axis.design, axis.name))
        of = [design for design in designs if axis.design in ("", design.name)]
        if not of:
            raise ParameterError(
                f"-p {axis.design}.{axis.name} names a design that is not swept: add it, or drop the -p"
            )
        if axis.name not in used and not any(_has(design, axis.name) for design in of):
            known = dict.fromkeys([*_SHORT, *(name for each in of for name in each.parameters_type.names())])
            raise ParameterError(
                f"there is no parameter {printable(axis.name, 30)}; there are {listed(known, axis.name)}"
            )


def _has(design: Design, name: str) -> bool:
    return name in _SHORT or name in design.parameters_type.names()


def _that_matter(design: Design, choices: dict[str, str]) -> dict[str, str]:
    """The choices that the design has, and those that their expressions lead to."""
    matter = [name for name in choices if _has(design, name)]
    for name in matter:
        matter += [other for other in choices if other in names_in(choices[name]) and other not in matter]
    return {name: value for name, value in choices.items() if name in matter}


def _resolve(design: Design, choices: dict[str, str]) -> dict[str, object]:
    """The values of the design's own parameters, expressions worked out."""
    types_of = typing.get_type_hints(design.parameters_type) | {"preset": str}
    defaults = design.parameters(preset=choices.get("preset")).as_dict()

    def number(name: str, asking: tuple[str, ...]) -> int:
        if name in asking:
            raise ParameterError(f"{' needs '.join((*asking, name))}: give one of them as a number")
        if name in choices:
            return evaluate(choices[name], lambda other: number(other, (*asking, name)))
        if isinstance(value := defaults.get(name), int):
            return value
        raise ParameterError(f"{asking[-1]} needs {name}, which is no number here: give it with -p {name}=…")

    given = {}
    for name, text in choices.items():
        if _has(design, name):
            wanted = types_of.get(name) or types_of.get(f"{name}_r", int)  # window and span are short for several
            is_number = wanted is int or (wanted == int | None and text.lower() != "none")
            given[name] = number(name, ()) if is_number else text
    return given


def _at_commas(text: str) -> list[str]:
    """Split at commas, but not within parentheses: ``max(cores,4)`` is one value."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
