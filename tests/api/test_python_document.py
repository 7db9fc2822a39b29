"""What documents show of Python is what happens."""

import doctest
from pathlib import Path

import pytest

DOCUMENTS = Path(__file__).parents[2] / "docs"


# Amaranth warns of components that nobody elaborates, and the last one is only looked at.
@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
@pytest.mark.parametrize(
    ("document", "least", "files"),
    [
        ("python.md", 20, {"results.parquet", "myjoin.v", "myjoin.json", "join.vcd"}),
        ("write-a-design.md", 3, set()),
    ],
)
def test_the_document_is_right(document, least, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCUMENTS / document).read_text(encoding="utf-8").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, document, str(DOCUMENTS / document), 0)
    try:
        result = doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(examples)
    except doctest.DocTestFailure as failure:
        pytest.fail(f"{failure.example.source}gives {failure.got}instead of {failure.example.want}")
    except doctest.UnexpectedException as error:
        raise error.exc_info[1] from None  # even that the test is not quick
    assert result.attempted >= least
    assert {path.name for path in tmp_path.iterdir()} >= files
