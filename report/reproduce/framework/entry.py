"""One figure or table of a paper: what it claims, how we measure it, and when the claim holds.

An entry is a file of its own that ends in ``ENTRY = Entry(...)`` and is named in ``registry.py``. Measuring gives plain
data; judging, tabulating and drawing are functions of that data and of nothing else, so that a record can be looked at
without being measured again, and a test can doctor it.
"""

import dataclasses
from collections.abc import Callable

from streamjoin.reference.bibliography import PAPERS, Paper
from streamjoin.report.charts import Chart


@dataclasses.dataclass(frozen=True)
class EntrySettings:
    """What the user may choose; an entry passes over what does not concern it.

    Parameters
    ----------
    cores : core counts for figures that run over them; ``None`` for those of the entry
    seeds, jobs : of place and route
    progress : hears a few words before each step that takes its time
    """

    cores: tuple[int, ...] | None = None
    seeds: int = 1
    jobs: int = 1
    progress: Callable[[str], None] = lambda _: None


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether the claim holds, with the figures that decide, in a sentence."""

    holds: bool
    because: str

    def __str__(self) -> str:
        return f"holds: {self.because}" if self.holds else f"does not hold: {self.because}"


@dataclasses.dataclass(frozen=True)
class Table:
    """Theirs beside ours; the values of a row stand as they are to be read."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def as_markdown(self) -> str:
        lines = [self.head, ("---:",) * len(self.head), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def __str__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A claim of a paper and its test.

    Parameters
    ----------
    name : the paper's number and the figure, as the command line calls it
    where : the figures, tables or sections of the paper that make the claim
    title : what it shows
    claim : what the paper says, in our words, with the numbers that its text gives
    rule : when the claim counts as held by what we measured
    differs : what is not the same as in the paper, and what follows from that
    measure : the data, as plain values for JSON; DesignError where a result differs from the reference
    judge : the verdict on such data
    table : theirs beside ours
    chart : the picture, with the claim drawn in
    """

    name: str
    where: str
    title: str
    claim: str
    rule: str
    differs: str
    measure: Callable[[EntrySettings], dict]
    judge: Callable[[dict], Verdict]
    table: Callable[[dict], Table]
    chart: Callable[[dict], Chart]

    @property
    def paper(self) -> Paper:
        return PAPERS[self.name.partition("-")[0]]

    @property
    def source(self) -> str:
        """Who claims it, and where: ``Oge et al. 2011, figure 13``."""
        return self.paper.place(self.where)
