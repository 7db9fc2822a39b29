"""Punctuations that say too much, or too little, are noticed."""

import numpy as np
import pytest

from streamjoin.reference.errors import DesignError
from streamjoin.reference.punctuations import Punctuations

LATER = np.array([1, 4, 3, 7])


def punctuations(*marks, order=LATER):
    covered, position = zip(*marks, strict=True)
    return Punctuations(np.array(covered), np.array(position), np.asarray(order))


def test_promises_that_were_kept():
    punctuations((1, 0), (3, 1), (5, 3), (9, 4)).check(LATER, 9, ordered=False)
    Punctuations(*[np.empty(0, dtype=int)] * 3).check(np.empty(0, dtype=int), 0, ordered=True)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (punctuations((4, 1), (9, 4)), r"after punctuation \[4\] came a result of arrival 3"),
        (punctuations((9, 3)), r"after punctuation \[9\] came a result of arrival 7"),
        (punctuations((3, 1), (3, 1), (9, 4)), "punctuation 1 covers no more arrivals"),
        (punctuations((5, 4)), "the last punctuation covers 5 of 9 arrivals"),
        (punctuations((9, 4), order=[1, 4, 4, 7]), "result 2 says that it is of arrival 4, but it is of 3"),
    ],
)
def test_promises_that_were_broken(said, complaint):
    with pytest.raises(DesignError, match=complaint):
        said.check(LATER, 9, ordered=False)


def test_results_out_of_order():
    with pytest.raises(DesignError, match="one of arrival 4 came before one of 3"):
        punctuations((9, 4)).check(LATER, 9, ordered=True)
