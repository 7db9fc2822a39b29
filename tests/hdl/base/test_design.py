"""A design says of itself where it was published, in our bibliography or elsewhere."""

import pytest

from streamjoin.hdl.base.design import Design, Published
from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.nested_loop.join import NestedLoopJoin
from streamjoin.hdl.nested_loop.parameters import NestedLoopParameters


def design(name: str = "mine", **more) -> Design:
    return Design(name, "from outside", NestedLoopParameters, NestedLoopJoin, **more)


def test_papers_are_cited_by_author_and_year():
    assert design(papers=("001", "Doe 2025")).citations == ("Oge et al. 2011", "Doe 2025")
    for paper, source in (("001", "Oge et al. 2011, figure 13"), ("Doe 2025", "Doe 2025, figure 13")):
        figure = Published("fmax", 100.0, paper, "figure 13", "a chip", applies=bool)
        assert figure.source == source
        assert source.startswith(figure.citation)


@pytest.mark.parametrize("name", ["", "Mine", "my_design", "a.b", "mine-", "-mine", "a--b", "mine:MINE", "2"])
def test_a_name_is_of_words_with_hyphens(name):
    with pytest.raises(ValueError, match="a design is named like tiny-join, in small letters and digits, not "):
        design(name)


def test_presets_and_what_is_given_beside_them():
    presets = {"large": {"window": 100, "queue": 9}}
    p = design(presets=presets).parameters(window_s=7, preset="large")
    assert (p.window_r, p.window_s, p.queue) == (100, 7, 9)
    with pytest.raises(ParameterError, match="mine has no preset 'small'; there are large"):
        design(presets=presets).parameters(preset="small")


def test_sources_are_where_it_is_made_and_where_it_is_found():
    made = ("streamjoin.hdl.nested_loop.join", "streamjoin.hdl.nested_loop.parameters")
    assert design().sources == made
    assert design(found_as="mine.deep:DESIGN").sources == ("mine.deep", *made)
