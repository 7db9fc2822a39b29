"""All parts that designs are made of, as classes and as instances."""

import importlib
from collections.abc import Iterator
from functools import cache
from pkgutil import walk_packages
from unittest.mock import patch

from amaranth.hdl import Fragment

from streamjoin import hdl
from streamjoin.hdl.base.part import Part, Ported
from streamjoin.hdl.board.self_test import SelfTest
from streamjoin.hdl.registry import find
from tests.sim.small_designs import DESIGNS as SMALL_DESIGNS
from tests.sim.small_designs import SMALL
from tests.sim.wide_design import DESIGN as WIDE

#: What no small design has: ports for what is thrown away and for the time of a pair in a stash, windows in registers.
FURTHER = {
    "registers": ("handshake", {"cores": 2, "window": 4, "scan": "sequential", "storage": "registers"}),
    "discard": ("circular", {"window": 3, "discard": 2}),
    "stashed, timed": ("stashed", {"window": 3, "span": 9}),
    "wide": ("hash", {"window": 3, "span": 9, "width": 2, "results": 2}),
}


def all_parts() -> set[type[Part]]:
    """All that are neither whole designs nor only there to be derived from."""
    for module in walk_packages(hdl.__path__, f"{hdl.__name__}."):
        importlib.import_module(module.name)
    classes = {each for each in derived_from(Part) if each.__module__.startswith(hdl.__name__)}
    bases = {base for each in classes for base in each.__mro__[1:]}
    return classes - bases - {type(component) for component in whole_designs()}


def whole_designs() -> Iterator[Ported]:
    """With small parameters. Which class a design is of can depend on these."""
    for name, given in (*SMALL_DESIGNS.values(), *FURTHER.values()):
        design = find(name)
        yield design.component(design.parameters(**SMALL | given))


def derived_from(base: type) -> set[type]:
    below = set(base.__subclasses__())
    return below.union(*(derived_from(each) for each in below))


@cache
def instances() -> dict[type[Part], list[Part]]:
    """Those that small designs and a self-test are made of, whole designs among them, by class."""
    found: dict[type[Part], list[Part]] = {}
    make = Part.__new__

    def noting(cls, *args, **kwargs):
        found.setdefault(cls, []).append(part := make(cls, *args, **kwargs))
        return part

    with patch.object(Part, "__new__", noting):
        for component in whole_designs():
            Fragment.get(component, None)
        for design in (find("nested-loop"), WIDE):
            parameters = design.parameters(window=4)
            Fragment.get(SelfTest(design.component(parameters), parameters), None)
    return found
