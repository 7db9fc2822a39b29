"""What documents say of the code, where it can be counted, and examples that have something to show."""

import re
from pathlib import Path

import pytest

from streamjoin.cli.main import main
from streamjoin.sim.run.bench_suite import COMPONENT_BENCHES
from tests.hdl.all_parts import all_parts

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_how_many_parts_have_benches():
    """The others have tests in Amaranth's simulator: that is tested elsewhere."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    benched = {type(part) for cases in COMPONENT_BENCHES.values() for _, part, _ in cases()}
    assert benched <= all_parts()
    assert f"for {len(benched)} of the {len(all_parts())} parts that designs are made of" in readme
    assert f"The other {len(all_parts() - benched)} parts have tests of their own in Amaranth's simulator" in readme


def examples(document: Path) -> list[str]:
    """The runs on generated tuples: lines of blocks, and code within sentences."""
    outside: list[str] = []
    blocks: list[str] = []
    for number, text in enumerate(document.read_text(encoding="utf-8").split("```")):
        (blocks if number % 2 else outside).append(text)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [code for code in lines + re.findall("`([^`]+)`", "".join(outside)) if re.search(r"--tuples\s\d", code)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_examples_match_something(document):
    """Uniform keys of 32 bits never do: an example says how often tuples match."""
    for example in examples(document):
        assert "--match-rate" in example, example


PLACE = re.compile(r"`((?:reference|hdl|sim|synth|spark_driver|report|api|cli|support|tests|examples)/[\w./-]*)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_files_that_are_named_are_there(document):
    named = PLACE.findall(document.read_text(encoding="utf-8"))
    assert not [place for place in named if not (ROOT / place).exists()]
    assert document.stem != "architecture" or len(named) > 80


def test_the_guide_shows_the_example_as_it_is():
    """Each piece of code in it stands in the file that is named last."""
    guide = (ROOT / "docs" / "write-a-design.md").read_text(encoding="utf-8")
    file, shown = "", []
    for number, text in enumerate(guide.split("```")):
        if number % 2 == 0:
            file = (re.findall(r"^`(examples/\S+)`:$", text, re.MULTILINE) or [file])[-1]
        elif text.startswith(("python\n", "toml\n")):
            assert text.partition("\n")[2] in (ROOT / file).read_text(encoding="utf-8"), (
                f"{file} has other code: {text}"
            )
            shown.append(file)
    assert len(shown) > 7
    assert len(set(shown)) == 5


def test_examples_are_found():
    assert sum(map(len, map(examples, DOCUMENTS))) >= 15


def test_the_bisort_example(capsys):
    """The figure in docs/designs.md, by the command that stands there."""
    text = " ".join((ROOT / "docs" / "designs.md").read_text(encoding="utf-8").split())
    said, command = re.search(r"Windows of 1000 then take ([\d.]+) cycles a tuple \(`([^`]*)`\)", text).groups()
    assert main([*command.split(), "--json", "-"]) == 0
    figures = dict(re.findall(r'"(\w+)": ([\d.]+)', capsys.readouterr().out))
    assert float(said) == pytest.approx(int(figures["cycles"]) / int(figures["tuples"]), abs=0.05)
    assert int(figures["results"]) > 1000
