"""What is no predicate is refused, and says why in one sentence."""

import re

import pytest

from streamjoin.reference.predicates import Predicate
from tests.strategies import written

REFUSED = {
    "r.key": "gives a number, not a condition",
    "r.key - s.key": "gives a number, not a condition",
    "1": "gives a number, not a condition",
    "None": "gives None, not a condition",
    "[r.key == s.key]": "gives a value of type list, not a condition",
    "r": "gives r, not a condition",
    "r == s": "uses == between r and s",
    "r.key & s.key": "uses & between numbers",
    "r.key == s.key & r.key < 5": "uses & between numbers",
    "r.key | (r.key == s.key)": "uses | between a number and a condition",
    "(r.key == s.key) & r.key": "uses & between a condition and a number",
    "1 & (r.key == s.key)": "uses & between a condition and a number",
    "(r.key == 1) == (s.key == 1)": "uses == between conditions",
    "(r.key == 1) + (s.key == 1) == 1": "uses + between conditions",
    "(r.key == 1) ^ (s.key == 1)": "uses ^ between conditions",
    "r.key * 2 == s.key": "uses * between numbers",
    "2 * r.key == s.key": "uses * between numbers",
    "r.key % 2 == 0": "uses % between numbers",
    "r.key / 2 == s.key": "uses / between numbers",
    "r.key // 2 == s.key": "uses // between numbers",
    "r.key ** 2 == s.key": "uses ** between numbers",
    "r.key << 1 == s.key": "uses << between numbers",
    "r.key >> 1 == s.key": "uses >> between numbers",
    "r.key ^ s.key == 0": "uses ^ between numbers",
    "~(r.key == s.key)": "uses ~ on a condition",
    "~r.key == s.key": "uses ~ on a number",
    "abs(r.key - s.key) <= 3": "uses abs on a number",
    "r.key == s.key and r.key < 5": "asks whether a condition is true",
    "r.key == s.key or r.key < 5": "asks whether a condition is true",
    "not (r.key == s.key)": "asks whether a condition is true",
    "r.key <= s.key <= r.key + 8": "asks whether a condition is true",
    "r.key in (1, 2)": "asks whether a condition is true",
    "max(r.key, s.key) == 3": "asks whether a condition is true",
    "True if r.key else False": "asks whether a number is true",
    "r.key < 1.5": "computes with a value of type float where a whole number belongs",
    "0.5 + r.key < s.key": "computes with a value of type float where a whole number belongs",
    "r.key == 'a'": "computes with a value of type str where a whole number belongs",
    "r.key != None": "computes with None where a whole number belongs",
    "r.key == True": "computes with a condition where a whole number belongs",
    "r.key + (s.key == 1) == 2": "computes with a condition where a whole number belongs",
    "__import__('numpy').int64(3) < r.key": "computes with a value of type int64 where a whole number belongs",
    "r.payload == s.payload": "reads r.payload",
    "s.payload": "reads s.payload",
    "s.time < 5": "reads s.time",
    "r.key2 == s.key2": "reads r.key2: give the function the attribute fields = ('key', 'key2')",
    "r.key[0] == s.key[0]": "takes a number apart",
    "r.key.astype(bool)": "fails (AttributeError: 'Number' object has no attribute 'astype')",
    "1 / 0": "fails (ZeroDivisionError: division by zero)",
    "__import__('sys').exit(0)": "fails (SystemExit: 0)",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(ValueError, match=re.escape(f"predicate 'mine:own' {REFUSED[text]}")) as error:
        Predicate("mine:own", written(text))
    assert len(str(error.value)) <= 300
    assert str(error.value).isprintable()


def test_a_sum_of_too_many_keys():
    def holds(r, s):
        total = r.key
        for _ in range(21):
            total = total + total
        return total == s.key

    with pytest.raises(ValueError, match="adds up keys more than a million times: return one condition"):
        Predicate("mine:own", holds)


def test_ctrl_c_is_nobodys_mistake():
    def holds(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Predicate("mine:own", holds)
