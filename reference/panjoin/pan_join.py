"""PanJoin as a whole: batches are collected, probe the chain of the other stream, and go into their own.

**Batches do not change the result.** A pair of tuples is found once: by the one whose batch is processed later, which
finds the other in its chain. Tuples stay in a chain as long as a tuple of the other stream that has not been processed
could see them, or had been seen by them; and pairs are kept only if the arrival order itself puts the earlier tuple
into the window of its stream when the later one arrives. If ``i`` tuples of R precede r in R and ``seen(r)`` tuples of
S arrived before r, and likewise ``j`` and ``seen(s)``, that is ``seen(r) - j <= window of S`` and ``seen(s) - i <=
window of R``: of the two differences the one that belongs to the earlier tuple is not positive.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from ..arrivals import Arrivals, Windows
from ..key_bounds import LAST
from ..predicates import Predicate
from .chain import Chain
from .collecting import Collector
from .probe import Probe
from .subwindow import Subwindow
from .tuple_log import TupleLog


class _Stream:
    """One stream: its chain, what is known of its tuples, and how many of them have been processed."""

    def __init__(self, make: Callable[[], Subwindow], room: int):
        self.chain = Chain(make)
        self.log = TupleLog("number", "seen", "time", "watermark", "key", "key2")
        self.room = room
        self.processed = 0


class PanJoin:
    """The window join of two streams, exact for any batch size.

    Parameters
    ----------
    predicate : one that has key ranges
    windows : of both streams
    make : an empty subwindow, of any of the three structures and any size
    batch : a stream is processed as soon as it has collected so many tuples
    patience : and, if tuples have a time, as soon as its first one has waited for so many ticks
    lateness : for time-based windows of tuples that are out of order: how many ticks a tuple may be older than the
        newest before it. A pair then counts if the one of lesser time is less than its stream's span older,
        whichever came first. Without, a time that goes back is a ValueError.

    Members
    -------
    refused : arrival numbers of tuples that were later than that; they take no part
    """

    def __init__(
        self,
        predicate: Predicate,
        windows: Windows,
        make: Callable[[], Subwindow],
        batch: int = 1,
        *,
        patience: int | None = None,
        lateness: int | None = None,
    ):
        Probe.of(np.empty(0, np.int64), predicate, keys_are_r=True)  # says what is wrong with the predicate
        if windows.streams != 2:
            raise ValueError(f"PanJoin joins two streams, not {windows.streams}: give two windows")
        if lateness is not None and (lateness < 0 or windows.spans is None):
            raise ValueError("lateness counts ticks from 0 up and needs windows with a span: give both, or no lateness")
        self.predicate, self.windows, self.lateness = predicate, windows, lateness
        self.streams = [_Stream(make, room) for room in windows.rooms]
        self.refused: list[int] = []
        self._collector = Collector(batch, patience)
        self._arrived = 0
        self._clock = -LAST

    def feed(self, arrivals: Arrivals) -> np.ndarray:
        """The next arrivals. Returns the pairs that were found meanwhile, as arrival numbers: results × 2."""
        clock = self._tell_time(arrivals)
        watermark = clock - (self.lateness or 0)
        time = clock if self.windows.spans is None else arrivals.time
        numbers = self._arrived + np.arange(len(arrivals))
        self._arrived += len(arrivals)

        accepted = time >= watermark
        self.refused += numbers[~accepted].tolist()
        columns = {
            "number": numbers,
            "time": time,
            "watermark": watermark,
            "key": arrivals.key,
            "key2": arrivals.key if arrivals.key2 is None else arrivals.key2,
        }
        before = [stream.log.size for stream in self.streams]
        for number, stream in enumerate(self.streams):
            mine = accepted & (arrivals.stream == number)
            seen = before[1 - number] + np.cumsum(accepted & ~mine)
            stream.log.append(seen=seen[mine], **{name: column[mine] for name, column in columns.items()})
        return self._join(self._collector.batches(arrivals.stream[accepted], clock[accepted]))

    def drain(self) -> np.ndarray:
        """Process what is still being collected. Returns the pairs found."""
        return self._join(self._collector.rest())

    def _tell_time(self, arrivals: Arrivals) -> np.ndarray:
        """The greatest time up to each arrival, 0 where there are no times; ValueError for arrivals that cannot be."""
        if arrivals.time is None and self._collector.patience is not None:
            raise ValueError("patience needs the time of each tuple: add a time column")
        if arrivals.time is None or not len(arrivals):
            self.windows.check(arrivals)
            return np.zeros(len(arrivals), np.int64)
        clock = np.maximum(np.maximum.accumulate(arrivals.time), self._clock)
        self.windows.check(replace(arrivals, time=clock))
        if self.windows.spans is not None and self.lateness is None and np.any(arrivals.time < clock):
            raise ValueError("the time of arrivals goes back: sort them by time, or give a lateness")
        self._clock = int(clock[-1])
        return clock

    def _join(self, batches: Iterable[tuple[int, int]]) -> np.ndarray:
        found = [np.empty((0, 2), np.int64)]
        for number, size in batches:
            if size:
                found += self._process(number, size)
                self._expire()
        return np.concatenate(found)

    def _process(self, number: int, size: int) -> Iterator[np.ndarray]:
        """The next tuples of a stream probe the other one and are inserted into their own."""
        own, other = self.streams[number], self.streams[1 - number]
        ids = np.arange(own.processed, own.processed + size)
        ids = ids[np.argsort(own.log.at("key", ids), kind="stable")]
        keys = own.log.at("key", ids)
        for answer in other.chain.probe_batch(Probe.of(keys, self.predicate, keys_are_r=number == 0)):
            for row, theirs in answer.blocks():
                pairs = (ids[row], theirs) if number == 0 else (theirs, ids[row])
                yield self._keep(*pairs)
        own.chain.insert_batch(keys, ids, own.log.at("time", ids))
        own.processed += size

    def _keep(self, r: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Arrival numbers of those pairs that the arrival order lets meet, and for which the predicate holds."""
        logs = [stream.log for stream in self.streams]
        room_r, room_s = self.windows.rooms
        kept = (logs[0].at("seen", r) - s <= room_s) & (logs[1].at("seen", s) - r <= room_r)
        if self.windows.spans is not None:
            age_of_r = logs[1].at("time", s) - logs[0].at("time", r)
            kept &= (age_of_r < self.windows.spans[0]) & (-age_of_r < self.windows.spans[1])
        r, s = r[kept], s[kept]
        # Key ranges say where matches may be; the predicate may ask for more, such as a second key.
        tuples = (
            SimpleNamespace(key=log.at("key", ids), key2=log.at("key2", ids))
            for log, ids in zip(logs, (r, s), strict=True)
        )
        kept = self.predicate.holds_for(*tuples)
        return np.stack([logs[0].at("number", r[kept]), logs[1].at("number", s[kept])], axis=1)

    def _expire(self) -> None:
        """Drop what no tuple of the other stream that is still to be processed can see."""
        for number, (own, other) in enumerate((self.streams, reversed(self.streams))):
            seen, watermark = own.log.size, self._clock - (self.lateness or 0)
            if other.processed < other.log.size:
                seen, watermark = (int(other.log.at(name, other.processed)) for name in ("seen", "watermark"))
            until = -2 * LAST if self.windows.spans is None else watermark - self.windows.spans[number]
            own.chain.expire(seen - own.room, until)
            own.log.forget(own.processed if own.chain.first is None else own.chain.first)
