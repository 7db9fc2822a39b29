"""What is right: the window join in plain Python, to be believed at sight."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np

from .arrivals import Arrivals, Row, Windows
from .predicates import Predicate


def window_join(arrivals: Arrivals, predicate: Predicate, windows: Windows) -> list[tuple[int, ...]]:
    """All results, each once: the arrival numbers of the tuples that take part, one for each stream.

    For each arriving tuple, Kang's three steps: scan the other streams' windows, insert the tuple into its own,
    expire what no longer fits. Time expires before the scan, for it is the arriving tuple that makes time pass.
    """
    windows.check(arrivals)
    # (arrival number, tuple), oldest first
    held: list[deque[tuple[int, Row]]] = [deque(maxlen=room) for room in windows.rooms]
    results = []
    for number, arriving in enumerate(arrivals.rows()):
        for window in held:
            while window and not windows.is_young(window[0][1], arriving):
                window.popleft()

        candidates: list[Sequence[tuple[int, Row]]] = [*held]
        candidates[arriving.stream] = [(number, arriving)]
        results += [
            tuple(n for n, _ in combination)
            for combination in product(*candidates)
            if all(predicate.holds(a, b) for (_, a), (_, b) in pairwise(combination))
        ]

        held[arriving.stream].append((number, arriving))  # a full deque expires its oldest by itself
    return results


def count_overflows(arrivals: Arrivals, windows: Windows) -> int:
    """How many tuples had to leave before their time was up, for want of room; 0 for count-based windows.

    A tuple leaves when ``room`` later ones of its stream have arrived; it is an overflow if the last of these is
    less than its stream's span younger.
    """
    windows.check(arrivals)
    if windows.spans is None:
        return 0
    times = [arrivals.times[arrivals.stream == stream] for stream in range(windows.streams)]
    return sum(
        int(np.count_nonzero(time[room:] - time[:-room] < span))
        for time, room, span in zip(times, windows.rooms, windows.spans, strict=True)
    )
