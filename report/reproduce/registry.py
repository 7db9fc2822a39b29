"""All figures and tables that are reproduced, by name: the modules of this package that are named after a paper."""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pkgutil import iter_modules

from streamjoin.reference.wording import listed, shown
from streamjoin.report import reproduce
from streamjoin.report.reproduce.entry import Entry
from streamjoin.sim.files import InputError


def _entries() -> Iterator[Entry]:
    for module in iter_modules(reproduce.__path__):
        if module.name.startswith("paper_"):
            yield import_module(f"{reproduce.__name__}.{module.name}").ENTRY


def _in_the_papers(entry: Entry) -> list[int | str]:
    """Orders figure 5 before figure 18."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", entry.name)]


ENTRIES: dict[str, Entry] = {entry.name: entry for entry in sorted(_entries(), key=_in_the_papers)}


def choose(names: Sequence[str]) -> list[Entry]:
    """The entries of these names, or all; the error names all there are."""
    for name in names:
        if name not in ENTRIES:
            raise InputError(f"there is no figure {shown(name)}; there are {listed(ENTRIES, name)}")
    return [ENTRIES[name] for name in dict.fromkeys(names or ENTRIES)]
