"""What people are shown names papers by author and year."""

import json
import re

import pytest

from streamjoin.cli.main import main
from streamjoin.hdl.registry import DESIGNS
from streamjoin.reference.bibliography import PAPERS
from streamjoin.report.bench.benchmark import SUITES
from streamjoin.report.page import render
from streamjoin.report.reproduce.framework.registry import ENTRIES
from streamjoin.report.reproduce.measuring.throughput import PAPER
from streamjoin.report.sweep_report import draw
from tests.report.sample import sample

NUMBERED = re.compile(r"\bpapers? \(?00\d", re.IGNORECASE)


@pytest.mark.parametrize("words", [("designs",), ("designs", "--json"), ("reproduce", "--list")])
def test_commands(words, capsys):
    assert main(list(words)) == 0
    told = capsys.readouterr().out
    assert not NUMBERED.search(told)
    for paper in PAPERS.values():
        assert paper.short in told


def test_designs_say_whose_they_are(capsys):
    main(["designs"])
    assert "admission control (Teubner and Mueller 2011; Oge et al. 2011)\n" in capsys.readouterr().out
    main(["designs", "--json"])
    papers = {design["name"]: design["papers"] for design in json.loads(capsys.readouterr().out)}
    assert papers["llhj"] == ["Roy et al. 2014"]
    assert list(papers) == list(DESIGNS)


def test_entries_name_their_source():
    """Their names begin with the paper's number, and what people read does not have it."""
    assert ENTRIES["003-table-1"].source == "Pan and Jacobsen 2018, table I"
    for name, entry in ENTRIES.items():
        assert entry.paper is PAPERS[name[:3]]
        texts = (entry.source, entry.title, entry.claim, entry.rule, entry.differs)
        assert not any(map(NUMBERED.search, texts)), name


def test_pages_and_benchmarks():
    results = sample()
    page = render(results, draw(results["rows"]))
    assert "Teubner and Mueller 2011, figure 18" in page
    for text in (page, PAPER, *(section for suite in SUITES.values() for section in suite)):
        assert not NUMBERED.search(text)
