"""All figures and tables that are reproduced, by name: the modules of the folders that are named after a paper."""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pkgutil import iter_modules

from streamjoin.reference.wording import listed, shown
from streamjoin.report import reproduce
from streamjoin.report.reproduce.framework.entry import Entry
from streamjoin.support.files import InputError


def _entries() -> Iterator[Entry]:
    for paper in iter_modules(reproduce.__path__, f"{reproduce.__name__}."):
        if paper.name.rpartition(".")[2].startswith("paper_"):
            for figure in iter_modules(import_module(paper.name).__path__, f"{paper.name}."):
                yield import_module(figure.name).ENTRY


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
