"""What a design says of itself: its name, how to make one, and which parameters it takes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.hdl.base.part import Ported
from streamjoin.reference.bibliography import PAPERS
from streamjoin.reference.wording import listed, shown


@dataclass(frozen=True)
class Published:
    """A figure that a paper reports of a design, for plots to show beside ours.

    Attributes
    ----------
    metric, value
        Which of our metrics it is, such as ``fmax``, and what they found.
    paper, place, device
        Where it stands (a number of our bibliography, or a citation), and on what it was measured.
    applies
        Whether it is about a design with these parameters, given as plain values. Designs travel to other processes:
        a function with a name.
    """

    metric: str
    value: float
    paper: str
    place: str
    device: str
    applies: Callable[[Mapping[str, Any]], bool]

    @property
    def source(self) -> str:
        """Authors, year and place."""
        return f"{self.citation}, {self.place}"

    @property
    def citation(self) -> str:
        """Authors and year."""
        return _cited(self.paper)


@dataclass(frozen=True)
class Design:
    """A kind of join.

    This is all that the command line, the tests, synthesis and Spark know about it; what depends on the values of its
    parameters (streams, windows, pace, patience, what its output means, what a drain needs) its parameters say, see
    :class:`~streamjoin.hdl.base.parameters.JoinParameters`.

    Attributes
    ----------
    name
        What users call it: small letters and digits, in words with hyphens between.
    summary
        What it is, in half a sentence.
    parameters_type
        The class of its parameters.
    component
        Makes the hardware, given parameters: an Amaranth component with the ports of
        :func:`~streamjoin.hdl.base.ports.join_ports`. A class or a function: its module is among the ``sources``.
    papers
        Where it was published: numbers of our bibliography, or citations.
    presets
        Named parameter sets that tests, synthesis and documentation share.
    published
        What its papers report, where our measurements can be set beside it.
    found_as
        By which name the registry finds it: ``module:NAME`` where it is from outside. The registry says so.
    """

    name: str
    summary: str
    parameters_type: type[JoinParameters]
    component: Callable[..., Ported]
    papers: tuple[str, ...] = ()
    presets: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    found_as: str = ""

    def __post_init__(self):
        if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", self.name):
            raise ValueError(f"a design is named like tiny-join, in small letters and digits, not {shown(self.name)}")

    def parameters(self, **given: object) -> JoinParameters:
        """Parameters by name, as values or as text; ``preset`` names a set, and what is given beside it wins.

        ``window`` sets all windows at once, ``span`` all spans.
        """
        preset = given.pop("preset", None)
        if preset is None:
            return self.parameters_type.parse(given)
        if not isinstance(preset, str) or preset not in self.presets:
            there = f"there are {listed(self.presets, str(preset))}" if self.presets else "it has none"
            raise ParameterError(f"{self.name} has no preset {shown(preset)}; {there}")
        return self.parameters_type.parse(self.parameters_type.resolved(self.presets[preset], given))

    @property
    def citations(self) -> tuple[str, ...]:
        """Its papers by author and year."""
        return tuple(map(_cited, self.papers))

    @property
    def sources(self) -> tuple[str, ...]:
        """The modules that it is made of, with all that they import; and where it is found, if that is outside."""
        found = [self.found_as.partition(":")[0]] if self.found_as else []
        return tuple(dict.fromkeys((*found, self.component.__module__, self.parameters_type.__module__)))

    @property
    def key(self) -> str:
        """What :func:`streamjoin.hdl.registry.find` finds it by, if it has been found by that."""
        return self.found_as or self.name


def _cited(paper: str) -> str:
    return PAPERS[paper].short if paper in PAPERS else paper
