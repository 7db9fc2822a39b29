"""The papers that this project implements: the one place that knows who wrote them, where and when.

People are told authors and year. The numbers are for what wants a short name: files, figures (``000-table-1``) and
presets (``paper-000``).
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Paper:
    """A published paper; ``gives`` says what we have taken from it."""

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int
    gives: str

    @property
    def short(self) -> str:
        """As it is called in a sentence: ``Teubner and Mueller 2011``, ``Oge et al. 2011``."""
        first, *others = (name.split()[-1] for name in self.authors)
        who = f"{first} et al." if len(others) > 1 else " and ".join((first, *others))
        return f"{who} {self.year}"

    def place(self, where: str) -> str:
        """A figure, table or section of it: ``Oge et al. 2011, figure 13``."""
        return f"{self.short}, {where}"


PAPERS = {
    "000": Paper(
        ("Jens Teubner", "Rene Mueller"),
        "How Soccer Players Would do Stream Joins",
        "SIGMOD, Athens",
        2011,
        "handshake join: in lock step on an FPGA, and with message queues and two-phase forwarding",
    ),
    "001": Paper(
        ("Yasin Oge", "Takefumi Miyoshi", "Hideyuki Kawashima", "Tsutomu Yoshinaga"),
        "An Implementation of Handshake Join on FPGA",
        "International Conference on Networking and Computing (ICNC), Osaka",
        2011,
        "state machines of join core and merger, the merging tree, admission control, the nested loop beside them",
    ),
    "002": Paper(
        ("Pratanu Roy", "Jens Teubner", "Rainer Gemulla"),
        "Low-Latency Handshake Join",
        "Proceedings of the VLDB Endowment 7 (9)",
        2014,
        "expeditions and home nodes, punctuations, ordered output, indexes in the cores, the model of latency",
    ),
    "003": Paper(
        ("Fei Pan", "Hans-Arno Jacobsen"),
        "PanJoin: A Partition-based Adaptive Stream Join",
        "arXiv",
        2018,
        "chains of subwindows; RaP-Table, WiB+-Tree and BI-Sort; BI-Sort's mergers and probers on an FPGA",
    ),
    "004": Paper(
        ("Mohammadreza Najafi", "Mohammad Sadoghi", "Hans-Arno Jacobsen"),
        "A Scalable Circular Pipeline Design for Multi-Way Stream Joins in Hardware",
        "International Conference on Data Engineering (ICDE), Paris",
        2018,
        "Circular-MJ with its order control unit, Stashed-MJ with its stash",
    ),
}


def as_markdown() -> str:
    """All of them as a table."""
    lines = ["| we say | authors, title, venue | what it gives us | number |", "|---|---|---|---|"]
    for number, paper in PAPERS.items():
        *others, last = paper.authors
        full = f"{', '.join(others)} and {last}: *{paper.title}*. {paper.venue}, {paper.year}"
        lines.append(f"| {paper.short} | {full} | {paper.gives} | {number} |")
    return "\n".join(lines)
