import numpy as np
import pytest

from streamjoin.reference.arrivals import Arrivals, Row, Windows, concatenate


def test_slices_masks_and_rows_keep_all_fields():
    arrivals = Arrivals([0, 1, 0], [5, 6, 7], time=[1, 1, 2])
    assert len(arrivals) == 3
    assert list(arrivals[1:].rows()) == [Row(1, 6, time=1), Row(0, 7, time=2)]
    assert list(arrivals[arrivals.stream == 0].rows()) == [Row(0, 5, time=1), Row(0, 7, time=2)]
    assert list(arrivals[np.array([2, 0])].rows()) == [Row(0, 7, time=2), Row(0, 5, time=1)]
    assert arrivals.key.dtype == np.int64
    assert arrivals.stream.dtype == np.uint8


def test_concatenate_undoes_slicing():
    arrivals = Arrivals([0, 1, 0], [5, 6, 7], payload=[1, 1, 2])
    assert list(concatenate([arrivals[:1], arrivals[1:]]).rows()) == list(arrivals.rows())


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"key has shape \(2,\): give it one value for each of 3 tuples"):
        Arrivals([0, 1, 0], [5, 6])


@pytest.mark.parametrize(
    ("rooms", "spans", "message"),
    [
        ((4,), None, "at least two streams"),
        ((4, 0), None, "give every window at least 1"),
        ((4, 4), 0, "give at least 1, or none at all"),
        ((4, 4), (3, 0), "a span of 0 ticks holds nothing: give at least 1, or none at all"),
        ((4, 4), (3, 3, 3), "3 spans are not for 2 streams: give one for each, or one"),
    ],
)
def test_windows_that_cannot_be(rooms, spans, message):
    with pytest.raises(ValueError, match=message):
        Windows(rooms, spans)


@pytest.mark.parametrize(
    ("windows", "arrivals", "message"),
    [
        (Windows((4, 4)), Arrivals([2], [0]), "give 3 windows, not 2"),
        (Windows((4, 4), 3), Arrivals([1], [0]), "add a time column"),
        (Windows((4, 4), 3), Arrivals([1, 0], [0, 0], time=[2, 1]), "sort them by time"),
    ],
)
def test_windows_and_arrivals_that_do_not_fit(windows, arrivals, message):
    with pytest.raises(ValueError, match=message):
        windows.check(arrivals)
