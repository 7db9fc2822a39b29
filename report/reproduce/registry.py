"""All figures and tables that can be reproduced; a new one is a file with an ``ENTRY`` and a line here."""

from collections.abc import Sequence

from streamjoin.report.reproduce import (
    paper_000_figure_18,
    paper_000_table_1,
    paper_000_table_2,
    paper_001_figure_10,
    paper_001_figure_11,
    paper_001_figure_12,
    paper_001_figure_13,
    paper_002_figure_5,
    paper_002_figure_17,
    paper_002_figure_18,
    paper_002_figure_21,
    paper_002_table_2,
    paper_003_figure_5,
    paper_003_figure_10f,
    paper_003_figure_11f,
    paper_003_figure_12a,
    paper_003_figure_12d,
    paper_003_figure_13a,
    paper_003_figure_13b,
    paper_003_figure_15a,
)
from streamjoin.report.reproduce.entry import Entry
from streamjoin.sim.files import InputError

ENTRIES: dict[str, Entry] = {
    module.ENTRY.name: module.ENTRY
    for module in (
        paper_000_figure_18,
        paper_000_table_1,
        paper_000_table_2,
        paper_001_figure_10,
        paper_001_figure_11,
        paper_001_figure_12,
        paper_001_figure_13,
        paper_002_figure_5,
        paper_002_figure_17,
        paper_002_figure_18,
        paper_002_figure_21,
        paper_002_table_2,
        paper_003_figure_5,
        paper_003_figure_10f,
        paper_003_figure_11f,
        paper_003_figure_12a,
        paper_003_figure_12d,
        paper_003_figure_13a,
        paper_003_figure_13b,
        paper_003_figure_15a,
    )
}


def choose(names: Sequence[str]) -> list[Entry]:
    """The entries of these names, or all; the error names all there are."""
    for name in names:
        if name not in ENTRIES:
            raise InputError(f"there is no figure {name!r}; there are {', '.join(ENTRIES)}")
    return [ENTRIES[name] for name in dict.fromkeys(names or ENTRIES)]
