"""What the hash join cannot do it refuses in one sentence, which names a design that can."""

import pytest

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.hash.parameters import HashParameters
from streamjoin.hdl.registry import find


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"buckets": 3}, "buckets must be a power of two, not 3"),
        ({"buckets": 0}, "buckets must be .*, not 0"),
        ({"buckets": -4}, "buckets must be .*, not -4"),
        ({"probe_queue": 0}, "probe_queue must be a whole number from 1 up, not 0"),
        ({"result_queue": 0}, "result_queue must be a whole number from 1 up, not 0"),
        ({"window": 0}, "window_r must be a whole number from 1 up, not 0"),
        ({"width": 3}, "width is one of 1, 2, 4, 8, not 3"),
        ({"results": 3}, "results must be a power of two, not 3"),
        ({"predicate": "ne"}, "'ne' sets no bounds to that: use bisort for one bound, handshake or llhj for any"),
        ({"predicate": "lt"}, "'lt' sets no bounds to that: use bisort"),
        ({"predicate": "ge"}, "'ge' sets no bounds to that: use bisort"),
        ({"predicate": "tests.own_predicates:one_sided"}, ":one_sided' sets no bounds .* llhj for any predicate"),
    ],
)
def test_one_sentence_that_names_the_fix(given, sentence):
    with pytest.raises(ParameterError, match=sentence) as caught:
        HashParameters.parse(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("predicate", ["lt", "le", "gt", "ge", "ne", "tests.own_predicates:one_sided"])
def test_the_designs_that_are_named_instead_take_it(predicate):
    for name in ("handshake", "llhj", *(["bisort"] if predicate in ("lt", "le", "gt", "ge") else [])):
        assert find(name).parameters(predicate=predicate).predicate.spec == predicate


@pytest.mark.parametrize(
    ("predicate", "bounds"),
    [("equi", (0, 0)), ("band:3", (-3, 3)), ("bands:-4..-2,1..1", (-4, 1)), ("band2:1,2", (-1, 1))],
)
def test_bounds_are_read_off_the_predicate(predicate, bounds):
    groups = HashParameters.parse({"predicate": predicate}).groups
    assert (groups.lo, groups.hi) == bounds


def test_buckets_that_are_not_given_fit_the_window():
    """Two for each place of a full window, or four in two banks; each side's by its own window."""
    p = HashParameters.parse({"window_r": 1000, "window_s": 5})
    assert (p.sizes["r"].depth, p.sizes["s"].depth) == (2048, 16)
    p = HashParameters.parse({"window_r": 1000, "window_s": 5, "predicate": "band:1"})
    assert (p.sizes["r"].depth, p.sizes["s"].depth) == (2048, 16)
    assert HashParameters.parse({"window": 1}).sizes["r"].depth == 2


def test_buckets_that_are_given_are_those_of_a_table():
    """Of all its banks, each of which has one at least."""
    assert HashParameters.parse({"buckets": 64}).sizes["r"].depth == 64
    assert HashParameters.parse({"buckets": 64, "predicate": "band:1"}).sizes["r"].depth == 32
    assert HashParameters.parse({"buckets": 1, "predicate": "band:1"}).sizes["s"].depth == 1


@pytest.mark.parametrize(("preset", "banks"), [("equi-4k", 1), ("band-4k", 2)])
def test_presets(preset, banks):
    design = find("hash")
    p = design.parameters(preset=preset)
    assert p.windows == (4096, 4096)
    assert p.groups.banks == banks
    assert design.parameters(preset=preset, window_s=8).windows == (4096, 8)


def test_a_soak_draws_what_can_be_built():
    for predicate in ("lt", "le", "gt", "ge", "ne", "equi", "band:2"):
        drawn = {"predicate": predicate, "width": 1, "span_r": None, "span_s": 3}
        assert find("hash").parameters(**HashParameters.reconciled(drawn)).groups.banks in (1, 2)


def test_it_is_patient_enough_for_the_longest_walk():
    """A walk that is alone takes four cycles a visit, and every probe in a queue may have to see a whole window."""
    p = HashParameters.parse({"window_r": 7, "window_s": 4000, "probe_queue": 3})
    assert p.patience > 4 * 4000 * 3
