"""Pictures as a reader sees them."""

from pathlib import Path

import numpy as np
from matplotlib.image import imread


def assert_drawn(path: Path, *, width: int = 600, height: int = 400) -> None:
    """It is a picture of at least this size, with something on most of it, in several colours, on a plain ground."""
    picture = imread(path)[:, :, :3]
    assert picture.shape[1] >= width
    assert picture.shape[0] >= height
    inked = (np.abs(picture - picture[0, 0]) > 0.05).any(axis=2)
    assert 0.005 < inked.mean() < 0.7, "it is blank, or has no ground"
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    assert np.ptp(rows) > 0.5 * picture.shape[0]
    assert np.ptp(columns) > 0.5 * picture.shape[1]
    assert len(np.unique((picture[inked] * 15).astype(int), axis=0)) > 4, "all of it has the same colour"
