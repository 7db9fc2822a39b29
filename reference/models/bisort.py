"""PanJoin's batches without a change of the result: what our hardware does, in plain Python.

Both streams are cut at the same points of the arrival order, so that batch k is a pair (R_k, S_k) of what arrived
between two cuts. For each batch first R_k, then S_k: all of it probes what is stored of the other stream, then it is
stored itself. So R_k meets S_0 .. S_{k-1}, and S_k meets R_0 .. R_k: every pair of tuples meets once, unless one of
them was forgotten before.

Each tuple carries its ``number``, how many of its own stream came before it, and ``others``, how many of the other
stream did. Of two that meet, ``later.others - earlier.number`` says how far back the earlier one is: it is in the
window if that lies in 1 .. W. If it is zero or less, the tuple that was stored is the later one; then both are of the
same batch, and the same is asked with their parts changed. That filters what was probed too early or kept too long,
whatever the batches.

What has to be kept. When batch k is probed, every tuple of it needs at most the last W before itself, so at most the
last W before the batch, and what the batch has stored. A subwindow holds N tuples; the oldest is forgotten as a whole
when a tuple comes for which there is no room in the newest. Cutting batches where a subwindow is full,
``ceil(W / N) + 1`` subwindows are enough: one that is being filled, and as many full ones as W tuples can touch.

Numbers wrap round. What is stored is at most ``places`` tuples, those of the batch among them; so the distance of two
that meet lies between ``-places`` and ``places``, and numbers of one bit more than that takes tell which. Two of
different batches may be further apart by the count of the other stream, but nobody asks.
"""

from collections import deque
from dataclasses import dataclass

from streamjoin.reference.arrivals import Arrivals, Row, Windows
from streamjoin.reference.predicates import Predicate


@dataclass(frozen=True)
class Numbered:
    """A tuple as it is stored: its arrival number, its fields, and its two counts, which wrap round."""

    arrival: int
    row: Row
    number: int
    others: int


def number_width(rooms: tuple[int, ...], subwindow: int) -> int:
    """Bits of the counts of two streams with these windows."""
    return (max(subwindows(room, subwindow) for room in rooms) * subwindow).bit_length() + 1


def subwindows(room: int, subwindow: int) -> int:
    """How many subwindows hold a window of ``room`` tuples."""
    return -(-room // subwindow) + 1


def is_due(probe: Numbered, stored: Numbered, windows: Windows, width: int) -> bool:
    """Whether the earlier of two that meet is in its window, by their counts alone."""
    of_probe, of_stored = windows.rooms[probe.row.stream], windows.rooms[stored.row.stream]
    back = (probe.others - stored.number - 1) % (1 << width)
    if back >> (width - 1):  # negative: the one that was stored came later
        return (stored.others - probe.number - 1) % (1 << width) < of_probe
    return back < of_stored


def batched_join(
    arrivals: Arrivals, predicate: Predicate, windows: Windows, cuts: set[int], subwindow: int
) -> list[tuple[int, int]]:
    """The pairs (arrival numbers of R and S) that the hardware gives.

    Parameters
    ----------
    arrivals, predicate, windows
        As of the reference; two streams.
    cuts
        Arrival numbers before which a batch ends, besides those at which a subwindow is full.
    subwindow
        Tuples in a subwindow.
    """
    width = number_width(windows.rooms, subwindow)
    chains = [deque([[]], maxlen=subwindows(room, subwindow)) for room in windows.rooms]
    counts = [0, 0]
    results = []
    batch: tuple[list[Numbered], list[Numbered]] = ([], [])

    def process():
        for mine, chain, others in zip(batch, chains, reversed(chains), strict=True):
            for probe in mine:
                for stored in (stored for each in others for stored in each):
                    r, s = sorted((probe, stored), key=lambda one: one.row.stream)
                    in_time = windows.is_young(r.row, s.row) and windows.is_young(s.row, r.row)
                    if predicate.holds(r.row, s.row) and in_time and is_due(probe, stored, windows, width):
                        results.append((r.arrival, s.arrival))
            if mine and len(chain[-1]) == subwindow:
                chain.append([])  # and with it the oldest goes
            chain[-1].extend(mine)
            mine.clear()

    for arrival, row in enumerate(arrivals.rows()):
        if arrival in cuts:
            process()
        number, others = counts[row.stream], counts[1 - row.stream]
        batch[row.stream].append(Numbered(arrival, row, number % (1 << width), others % (1 << width)))
        counts[row.stream] += 1
        if counts[row.stream] % subwindow == 0:
            process()
    process()
    return results
