"""The command ``reproduce``: what it writes, what it says, and its exit status."""

import dataclasses
import json

import pytest

from streamjoin.cli.main import main
from streamjoin.report.reproduce.framework import registry
from streamjoin.report.reproduce.framework.entry import EntrySettings
from streamjoin.report.reproduce.paper_000 import table_1
from streamjoin.synth.flow.errors import SynthError
from tests.pictures import assert_drawn


@pytest.fixture
def small(monkeypatch):
    """Table 1 for a small window, under its own name."""

    def measure(settings: EntrySettings) -> dict:
        return table_1.measure(settings, window=12, cores=(1, 3))

    _replace(monkeypatch, "000-table-1", measure)


def _replace(monkeypatch, name, measure):
    monkeypatch.setitem(registry.ENTRIES, name, dataclasses.replace(registry.ENTRIES[name], measure=measure))


def test_list(capsys):
    assert main(["reproduce", "--list"]) == 0
    said = capsys.readouterr().out
    assert all(
        f"{name}  {entry.title} ({entry.source})\n  {entry.claim}" in said for name, entry in registry.ENTRIES.items()
    )


@pytest.mark.usefixtures("small")
def test_one_figure(tmp_path, capsys):
    assert main(["reproduce", "000-table-1", "-o", str(tmp_path / "out"), "--json", str(tmp_path / "all.json")]) == 0
    said = capsys.readouterr().out
    assert "000-table-1: Rate × window = clock × cores\n" in said
    assert "  holds: clock × cores / (rate × window) is" in said
    assert "1 of 1 claims hold" in said
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "000-table-1.json",
        "000-table-1.png",
        "index.md",
    ]
    (record,) = json.loads((tmp_path / "all.json").read_text())
    assert record["verdict"]["holds"] is True
    assert {"claim", "rule", "differs", "data", "date", "versions", "machine", "seconds"} <= set(record)
    assert "`streamjoin reproduce 000-table-1 -o out`" in (tmp_path / "out" / "index.md").read_text()


@pytest.mark.usefixtures("small")
def test_json_alone_on_stdout(tmp_path, capsys):
    assert main(["reproduce", "000-table-1", "-o", str(tmp_path), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "000-table-1"


@pytest.mark.usefixtures("small")
def test_one_figure_that_fails_withholds_no_other(tmp_path, monkeypatch, capsys):
    def fail(_):
        raise SynthError("the tool is missing: install it")

    _replace(monkeypatch, "000-figure-18", fail)
    assert main(["reproduce", "000-figure-18", "000-table-1", "-o", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert "000-figure-18 could not be measured: the tool is missing: install it" in told.err
    assert "1 of 1 claims hold" in told.out
    assert_drawn(tmp_path / "000-table-1.png")


def test_cores_seeds_and_jobs_reach_the_entry(tmp_path, monkeypatch):
    seen = []

    def measure(settings):
        seen.append((settings.cores, settings.seeds, settings.jobs))
        raise SynthError("enough")

    _replace(monkeypatch, "000-figure-18", measure)
    main(["reproduce", "000-figure-18", "--cores", "8,2", "--seeds", "3", "--jobs", "2", "-o", str(tmp_path)])
    assert seen == [((2, 8), 3, 2)]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("there is no figure 'figure-99'; there are 000-figure-18", ("figure-99",)),
        ("must be a whole number from 1 up", ("--cores", "2,x")),
        ("cannot be made a folder", ("000-table-1", "-o", "file/out")),
        ("cannot be written", ("000-table-1", "--json", "nowhere/all.json")),
    ],
)
def test_wrong_usage(tmp_path, monkeypatch, capsys, sentence, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    try:
        status = main(["reproduce", *words])
    except SystemExit as left:
        status = left.code
    assert status == 2
    assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
