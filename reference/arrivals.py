"""The input of a join: tuples in arrival order, and the windows they meet in."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Row(NamedTuple):
    """One tuple as plain integers."""

    stream: int
    key: int
    key2: int | None = None
    time: int | None = None
    payload: int | None = None


@dataclass(frozen=True, eq=False, init=False)
class Arrivals:
    """Tuples in arrival order, one array a field; the row is the arrival number.

    Indexing with a slice, a mask or an array of rows gives Arrivals again.

    Parameters
    ----------
    stream : index of the stream, from 0; for two streams R is 0 and S is 1
    key : unsigned values of at most 63 bits, held as int64 so that every difference of two is exact; wider ones, for
        the plain reference alone, as an array of Python's integers
    key2, time, payload : int64 like the key, or None where the tuples have no such field
    """

    stream: np.ndarray
    key: np.ndarray
    key2: np.ndarray | None = None
    time: np.ndarray | None = None
    payload: np.ndarray | None = None

    def __init__(
        self,
        stream: ArrayLike,
        key: ArrayLike,
        key2: ArrayLike | None = None,
        time: ArrayLike | None = None,
        payload: ArrayLike | None = None,
    ):
        given = {"stream": stream, "key": key, "key2": key2, "time": time, "payload": payload}
        for name, values in given.items():
            wide = isinstance(values, np.ndarray) and values.dtype.hasobject
            kind = np.uint8 if name == "stream" else object if wide else np.int64
            column = None if values is None else np.asarray(values, dtype=kind)
            object.__setattr__(self, name, column)
            if column is not None and (column.ndim != 1 or len(column) != len(self)):
                raise ValueError(f"{name} has shape {column.shape}: give it one value for each of {len(self)} tuples")

    def __len__(self) -> int:
        return len(self.stream)

    def __getitem__(self, rows) -> "Arrivals":
        return Arrivals(**{name: column[rows] for name, column in self._columns()})

    @property
    def times(self) -> np.ndarray:
        """The time of each, where windows have spans: their check has seen that it is there."""
        assert self.time is not None
        return self.time

    def slice(self, start: int, stop: int) -> "Arrivals":
        """Arrivals [start, stop)."""
        return self[start:stop]

    def rows(self) -> Iterator[Row]:
        """The tuples one by one."""
        columns = dict(self._columns())
        return map(Row, *(columns[name].tolist() if name in columns else repeat(None) for name in Row._fields))

    def _columns(self) -> list[tuple[str, np.ndarray]]:
        return [(field.name, column) for field in fields(self) if (column := getattr(self, field.name)) is not None]


def concatenate(parts: Iterable[Arrivals]) -> Arrivals:
    """The parts one after the other; a field that any part lacks is None. At least one part."""
    parts = list(parts)
    columns = {name: [getattr(part, name) for part in parts] for name in Row._fields}
    return Arrivals(**{name: np.concatenate(cs) for name, cs in columns.items() if all(c is not None for c in cs)})


@dataclass(frozen=True, init=False)
class Windows:
    """How far back an arriving tuple looks in each of the other streams.

    Parameters
    ----------
    rooms : for each stream, how many of its last tuples its window holds
    spans : for time-based windows, for each stream, how long its tuples stay (one number: those of all streams). A
        tuple is seen while it is less than its stream's span older than the arriving one, and still among the last
        ``rooms`` of its stream. None for count-based windows
    """

    rooms: tuple[int, ...]
    spans: tuple[int, ...] | None

    def __init__(self, rooms: Iterable[int], spans: Iterable[int] | int | None = None):
        object.__setattr__(self, "rooms", tuple(rooms))
        if spans is not None:
            spans = (spans,) * self.streams if isinstance(spans, int) else tuple(spans)
        object.__setattr__(self, "spans", spans)
        if len(self.rooms) < 2:
            raise ValueError(f"{len(self.rooms)} window cannot join: give a window for each of at least two streams")
        if min(self.rooms) < 1:
            raise ValueError(f"a window of {min(self.rooms)} tuples holds nothing: give every window at least 1")
        if self.spans is not None and len(self.spans) != self.streams:
            raise ValueError(f"{len(self.spans)} spans are not for {self.streams} streams: give one for each, or one")
        if self.spans is not None and min(self.spans) < 1:
            raise ValueError(f"a span of {min(self.spans)} ticks holds nothing: give at least 1, or none at all")

    @property
    def streams(self) -> int:
        return len(self.rooms)

    def is_young(self, old: Row, now: Row) -> bool:
        """Whether the time of ``old`` is not up yet when ``now`` arrives."""
        if self.spans is None:
            return True
        assert old.time is not None
        assert now.time is not None
        return now.time - old.time < self.spans[old.stream]

    def with_room_for(self, arrivals: Arrivals) -> "Windows":
        """The same spans, with more room than these arrivals can need."""
        return Windows((max(1, len(arrivals)),) * self.streams, self.spans)

    def check(self, arrivals: Arrivals) -> None:
        """Raise ValueError where these windows cannot hold those arrivals."""
        if len(arrivals) and (last := int(arrivals.stream.max())) >= self.streams:
            raise ValueError(f"a tuple of stream {last} has no window: give {last + 1} windows, not {self.streams}")
        if self.spans is not None:
            if arrivals.time is None:
                raise ValueError("windows with a span need the time of each tuple: add a time column")
            if np.any(arrivals.time[1:] < arrivals.time[:-1]):
                raise ValueError("the time of arrivals goes back: sort them by time")
