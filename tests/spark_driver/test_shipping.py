"""What workers are sent of predicates that users have written themselves."""

import subprocess
import sys

import pytest

from streamjoin.reference.predicates import parse_predicate
from streamjoin.spark_driver.shipping import _own_modules


@pytest.fixture
def mine(tmp_path):
    """A file with a predicate, and one beside it that it uses."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "how_near.py").write_text("EPS = 1\n")
    (folder / "near.py").write_text("from how_near import EPS\ndef near(r, s):\n    return r.key <= s.key + EPS\n")
    return folder / "near.py"


def test_a_file_is_sent_with_what_it_uses(mine, tmp_path):
    predicate = parse_predicate(f"{mine}:near")
    sent = tmp_path / "sent"
    sent.mkdir()
    modules = _own_modules(predicate, sent)
    assert [path.name for path in modules[1:]] == ["how_near.py"]
    for path in modules[1:]:
        (sent / path.name).write_bytes(path.read_bytes())
    # A worker has the files in its path, and not where they came from.
    for path in mine.parent.glob("*.py"):
        path.unlink()
    program = (
        "import sys; from streamjoin.reference.predicates import parse_predicate as p; print(p(sys.argv[1]).expression)"
    )
    words = [sys.executable, "-c", program, predicate.spec]
    done = subprocess.run(words, cwd=sent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(predicate.expression)


def test_modules_and_packages_are_sent_and_built_in_predicates_are_not(tmp_path):
    (archive,) = _own_modules(parse_predicate("tests.own_predicates:always"), tmp_path)
    assert archive.suffix == ".zip"
    assert _own_modules(parse_predicate("band:3"), tmp_path) == []
    assert _own_modules(parse_predicate("r.key < s.key"), tmp_path) == []
