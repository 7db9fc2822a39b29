"""All designs by name: what the command line, the tests, the synthesis and Spark read.

The built-in ones are the folders of this package that have a module ``design`` with a ``DESIGN``. Installed packages
add theirs through the entry-point group ``streamjoin.designs``, and ``module:NAME`` names one that is not installed.
"""

import copyreg
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.reference.wording import listed, one_sentence, shown

GROUP = "streamjoin.designs"

_LONGEST_WARNING = 280  # characters: there is something in front of it


def _built_in() -> dict[str, Design]:
    package = __name__.rpartition(".")[0]
    folders = (module.name for module in iter_modules([str(Path(__file__).parent)]) if module.ispkg)
    modules = (f"{package}.{folder}.design" for folder in folders if folder != "base")  # which says what a design is
    designs = [import_module(module).DESIGN for module in modules if find_spec(module)]
    return {design.name: design for design in designs}


#: The designs of this package.
DESIGNS: Mapping[str, Design] = MappingProxyType(_built_in())


class DesignWarning(UserWarning):
    """An installed package offers a design that cannot be had."""


@cache
def installed() -> Mapping[str, Design]:
    """The designs of this package and of all packages that add some; a warning for each that cannot be had."""
    designs = dict(DESIGNS)
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            design = _checked(entry.load(), entry.value)
            if designs.setdefault(design.name, design) != design:
                raise ValueError(f"there is another one called {design.name}")
        except (Exception, SystemExit) as error:  # whatever is wrong with it, others go on
            said = f"the design {entry.name} of {entry.value} is left out ({type(error).__name__}: {error})"
            warnings.warn(one_sentence(said, _LONGEST_WARNING), DesignWarning, stacklevel=2)
    return MappingProxyType(designs)


def key_of(design: Design) -> str:
    """The name by which other processes find this very design; ParameterError where there is none."""
    if (_named(design.key) if ":" in design.key else DESIGNS.get(design.key)) != design:
        raise ParameterError(
            f"other processes cannot find the design {design.name}: take find('module:NAME') of streamjoin.hdl.registry"
        )
    return design.key


def find(name: str) -> Design:
    """The design of this name; the error names all there are."""
    if name in DESIGNS:
        return DESIGNS[name]
    if ":" in name:
        return _named(name)
    designs = installed()
    if name not in designs:
        there = listed([*designs, "module:NAME"], name)
        raise ParameterError(f"there is no design {shown(name)}; there are {there}")
    return designs[name]


@cache
def _named(name: str) -> Design:
    """The design that a module holds under a name; modules of the current folder count."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return _checked(getattr(import_module(module), attribute), name)
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}"
        raise ParameterError(f"the design {shown(name)} cannot be loaded ({one_sentence(said, 150)})") from error


def _checked(design: object, found_as: str) -> Design:
    """A design from outside that can be had, as it is found here and on other machines."""
    if not isinstance(design, Design):
        raise TypeError("it is not a Design")
    if design.name in DESIGNS:
        raise ValueError(f"it calls itself {design.name}, which is built in: rename it")
    design.parameters()  # every command counts on defaults that are right
    return replace(design, found_as=found_as)


# Whatever a design is made of, it goes to other processes by its name.
copyreg.pickle(Design, lambda design: (find, (key_of(design),)))
