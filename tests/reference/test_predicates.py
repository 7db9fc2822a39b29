import pickle
import sys
from itertools import pairwise

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib.data import StructLayout
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.reference.arrivals import Row
from streamjoin.reference.predicates import Predicate, parse_predicate
from tests.strategies import KEYS, SPECS, SPECS2, written

# What each predicate means, said again in plain arithmetic.
MEANING = {
    "equi": lambda d, _: d == 0,
    "ne": lambda d, _: d != 0,
    "lt": lambda d, _: d < 0,
    "le": lambda d, _: d <= 0,
    "gt": lambda d, _: d > 0,
    "ge": lambda d, _: d >= 0,
    "band:0": lambda d, _: d == 0,
    "band:2": lambda d, _: abs(d) <= 2,
    "bands:-4..-2,1..1": lambda d, _: -4 <= d <= -2 or d == 1,
    "bands:0..3,2..5": lambda d, _: 0 <= d <= 5,
    "band2:1,2": lambda d, d2: abs(d) <= 1 and abs(d2) <= 2,
    "band2:0,4294967295": lambda d, _: d == 0,
}

rows = st.builds(Row, st.just(0), st.sampled_from(KEYS), st.sampled_from(KEYS))


@pytest.mark.parametrize("spec", SPECS + SPECS2)
@given(pairs=st.lists(st.tuples(rows, rows), min_size=1))
def test_integers_and_arrays_agree_with_the_meaning(spec, pairs):
    predicate = parse_predicate(spec)
    expected = [MEANING[spec](r.key - s.key, r.key2 - s.key2) for r, s in pairs]
    assert [bool(predicate.holds(r, s)) for r, s in pairs] == expected
    r, s = (Row(0, *np.array([(t.key, t.key2) for t in side]).T) for side in zip(*pairs, strict=True))
    assert predicate.holds_for(r, s).tolist() == expected


OWN = (
    "r.key < 7",
    "(2 < s.key) & (s.key != 2**31)",
    "r.key - s.key <= 10**20",
    "r.key + s.key - 3 > r.key2 + 2**31",
    "r.key == r.key",
    "True",
    "False",
)


@pytest.mark.parametrize("spec", SPECS + SPECS2 + OWN)
def test_gates_agree_with_integers(spec):
    predicate = Predicate("own:own", written(spec), ("key", "key2")) if spec in OWN else parse_predicate(spec)
    layout = StructLayout({"key": unsigned(32), "key2": unsigned(32)})
    r, s, o = Signal(layout), Signal(layout), Signal()
    m = Module()
    m.d.comb += o.eq(TupleLayout(predicate).matches(r, s))

    rng = np.random.default_rng(1)
    tuples = [Row(0, *map(int, keys)) for keys in rng.choice(KEYS, (40, 2))]

    async def bench(ctx):
        for a, b in pairwise(tuples):
            ctx.set(r, {"key": a.key, "key2": a.key2})
            ctx.set(s, {"key": b.key, "key2": b.key2})
            assert bool(ctx.get(o)) == bool(predicate.holds(a, b)), (a, b)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("spec", SPECS + SPECS2)
@given(r=rows, s=rows)
def test_key_ranges_tell_on_which_differences_it_can_hold(spec, r, s):
    predicate = parse_predicate(spec)
    for name, ranges in (("key", predicate.ranges.key), ("key2", predicate.ranges.key2)):
        if ranges is not None:
            difference = getattr(r, name) - getattr(s, name)
            hits = sum((lo is None or lo <= difference) and (hi is None or difference <= hi) for lo, hi in ranges)
            assert hits == 1 or (hits == 0 and not predicate.holds(r, s))


@pytest.mark.parametrize("spec", SPECS + SPECS2)
def test_equal_hashed_and_pickled_by_spec(spec):
    predicate = parse_predicate(spec)
    copy = pickle.loads(pickle.dumps(predicate))
    assert copy == predicate
    assert hash(copy) == hash(predicate)
    assert parse_predicate(predicate.spec) == predicate


def test_the_spec_is_canonical():
    assert parse_predicate("band:03").spec == "band:3"
    assert parse_predicate("bands:4..6,-1..2,2..3").spec == "bands:-1..6"


def test_is_equi_goes_by_meaning():
    assert [s for s in SPECS + SPECS2 if parse_predicate(s).is_equi] == ["equi", "band:0"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "no predicate is called ''"),
        ("eq", "write one of equi, ne"),
        ("equi:3", "takes no argument: write 'equi'"),
        ("band", "write band:3"),
        ("band:-1", "write band:3"),
        ("band:1.5", "write band:3"),
        ("bands:", "write bands:-9..-7,2..4"),
        ("bands:1-2", "write bands:-9..-7,2..4"),
        ("bands:4..2", "write 2..4"),
        ("band2:1", "write band2:3,5"),
        ("no_such_module:f", "cannot be imported .*check the names"),
        ("math:no_such_function", "cannot be imported .*check the names"),
        ("math:pi", "is not a function"),
        (":f", "cannot be imported"),
        ("math:", "cannot be imported"),
    ],
)
def test_malformed_specs(spec, message):
    with pytest.raises(ValueError, match=message):
        parse_predicate(spec)


def test_a_users_own_function_is_found_in_the_current_directory(tmp_path, monkeypatch):
    (tmp_path / "my_predicates.py").write_text(
        "def both(r, s):\n    return (r.key == s.key) & (r.key2 != s.key2)\n"
        "both.fields = ('key', 'key2')\n"
        "def near(r, s):\n    return r.key - s.key <= 1\n"
        "def odd(r, s):\n    return r.size == s.size\n"
        "odd.fields = ('size',)\n"
        "def none(r, s):\n    return r.key == s.key\n"
        "none.fields = None\n"
    )
    monkeypatch.chdir(tmp_path)
    path = sys.path.copy()
    both, near = parse_predicate("my_predicates:both"), parse_predicate("my_predicates:near")
    assert sys.path == path
    assert (both.fields, near.fields) == (("key", "key2"), ("key",))
    assert both.key_ranges == ((0, 0),)
    assert not both.is_equi
    assert near.key_ranges == ((None, 1),)
    assert both.holds(Row(0, 1, 2), Row(1, 1, 3))
    assert pickle.loads(pickle.dumps(both)) == both
    for name in ("odd", "none"):
        with pytest.raises(ValueError, match=r"use \('key',\) or \('key', 'key2'\)"):
            parse_predicate(f"my_predicates:{name}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(:\n", "SyntaxError: "),
        ("raise SystemExit\n", "SystemExit"),
        ("import sys\nsys.exit('two\\nlines and a bell\\a')\n", r"SystemExit: two lines and a bell\\x07"),
        ("raise GeneratorExit\n", "GeneratorExit"),
        ("raise ValueError('all ' * 1000)\n", "ValueError: all all .*… *all"),
        ("raise ValueError('why' + 'y' * 1000)\n", "ValueError: whyy+…y+"),
    ],
)
def test_a_module_that_fails_is_one_sentence(tmp_path, monkeypatch, text, reason):
    (tmp_path / "broken_predicates.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=rf"'broken_predicates:f' cannot be imported \({reason}") as error:
        parse_predicate("broken_predicates:f")
    assert len(str(error.value)) <= 300
    assert str(error.value).isprintable()
