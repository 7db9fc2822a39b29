"""What docs/python.md shows is what happens."""

import doctest
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"


# Amaranth warns of components that nobody elaborates, and the last one is only looked at.
@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
def test_the_document_is_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = DOCUMENT.read_text(encoding="utf-8").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, DOCUMENT.name, str(DOCUMENT), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=said.append)
    assert result.failed == 0, "".join(said)
    assert result.attempted >= 20
    assert {path.name for path in tmp_path.iterdir()} >= {"results.parquet", "myjoin.v", "myjoin.json", "join.vcd"}
