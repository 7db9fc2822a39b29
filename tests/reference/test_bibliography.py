"""Papers have names: author and year wherever people read, and all the rest in one place."""

import re
from pathlib import Path

from streamjoin.reference.bibliography import PAPERS, as_markdown

DOCS = Path(__file__).parents[2] / "docs"


def test_short_names():
    assert [paper.short for paper in PAPERS.values()] == [
        "Teubner and Mueller 2011",
        "Oge et al. 2011",
        "Roy et al. 2014",
        "Pan and Jacobsen 2018",
        "Najafi et al. 2018",
    ]
    assert PAPERS["001"].place("figure 13") == "Oge et al. 2011, figure 13"


def test_the_document_is_the_data():
    assert as_markdown() in (DOCS / "bibliography.md").read_text(encoding="utf-8")


def test_documents_name_people():
    """Numbers stand in names of figures, files and presets alone, and those have no blank before the number."""
    documents = [DOCS.parent / "README.md", DOCS.parent / "CHANGELOG.md", *DOCS.rglob("*.md")]
    assert len(documents) > 12
    for document in documents:
        found = re.findall(r".*\bpapers? 00\d.*", document.read_text(encoding="utf-8"), re.IGNORECASE)
        assert not found, (document, found[0])
