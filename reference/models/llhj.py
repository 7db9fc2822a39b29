"""Low-latency handshake join as messages, Roy et al. 2014, with the corrections that exactness needs.

A tuple has a home, where it is stored. On arrival it rushes through all cores to the far end, past its home, where it
leaves a copy, and meets tuples that rest and tuples that rush the other way.

Why each pair meets exactly once. Let r and s overlap, and look at the cores in whose order of handling s came before r.
As both queues are in order, these are the cores from some j on.

- 0 < j < cores: they crossed between j - 1 and j. At j, r finds s *in flight*: handled here, not yet acknowledged by
  j - 1, for the acknowledgement follows r. If s was still fresh at j (its home lies further on), they are compared
  there and then, and s finds r flagged as under way, wherever r has its home: the end of r's expedition follows s. If
  s had been stored at or before j, nothing is done at j; r comes to the copy of s later, at the home of s; and s again
  finds r flagged.
- j = 0: s had left before r came. r finds its copy.
- j = cores: r had reached the far end before s came. The end of r's expedition came before s, the flag is cleared, and
  s finds the copy of r. r passed the home of s before s was there.

Two corrections of the paper. The end of r's expedition is handled by the last core at once: at the tail of its queue it
would follow an s that r never saw, and that finds r still flagged. And a tuple may expire only when its expedition is
over: the expiry would overtake it, find nothing, and leave it there for ever; so the arrival that ends it waits.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.models.message_chain import MessageChain, R, Traveller
from streamjoin.reference.predicates import Predicate


class Meeting(StrEnum):
    """How a pair came to be compared: the six rows of table 1."""

    FRESH_FRESH = "both fresh: compared where they cross"
    FRESH_STORED = "r fresh, s stored: compared at the home of s"
    STORED_FRESH = "r stored, s fresh: compared where they cross"
    STORED_STORED = "both stored: compared at the home of s"
    S_RESTING = "s had come to its end: compared at the home of s"
    R_RESTING = "r had come to its end: compared at the home of r"


@dataclass(frozen=True)
class Arrival:
    traveller: Traveller
    home: int


@dataclass(frozen=True)
class Acknowledgement:
    traveller: Traveller


@dataclass(frozen=True)
class ExpeditionEnd:
    traveller: Traveller


@dataclass(frozen=True)
class Expiry:
    traveller: Traveller


def round_robin(cores: int) -> Callable[[Traveller], int]:
    """Homes in turn, so that all cores store equally much."""
    return lambda traveller: traveller.place % cores


def by_hash(cores: int) -> Callable[[Traveller], int]:
    """Equal keys have the same home."""
    return lambda traveller: (traveller.row.key * 0x9E3779B1 >> 16) % cores


class LowLatencyChain(MessageChain):
    """The protocol; ``home`` says where a tuple is stored.

    Attributes
    ----------
    meetings
        How often each of the six cases occurred, matching or not.
    """

    def __init__(
        self,
        cores: int,
        arrivals: Arrivals,
        predicate: Predicate,
        windows: Windows,
        home: Callable[[int], Callable[[Traveller], int]] = round_robin,
    ):
        super().__init__(cores, arrivals, predicate, windows)
        self.meetings: Counter[Meeting] = Counter()
        self._home = home(cores)
        self._windows_r: list[dict[Traveller, bool]] = [{} for _ in range(cores)]  # and whether it is under way
        self._windows_s: list[dict[Traveller, None]] = [{} for _ in range(cores)]
        self._in_flight: list[dict[Traveller, int]] = [{} for _ in range(cores)]  # S, and its home
        self._under_way: set[Traveller] = set()
        self._crossed: dict[tuple[Traveller, Traveller], Meeting] = {}

    def may_admit(self) -> bool:
        _, expiring = self._driver.next()
        return self._under_way.isdisjoint(expiring)

    def admit(self, newcomer: Traveller, expiring: list[Traveller]) -> None:
        for old in expiring:
            (self.from_right[-1] if old.row.stream == R else self.from_left[0]).append(Expiry(old))
        self._under_way.add(newcomer)
        arrival = Arrival(newcomer, self._home(newcomer))
        (self.from_left[0] if newcomer.row.stream == R else self.from_right[-1]).append(arrival)

    def take_left(self, core: int, message) -> None:
        match message:
            case Arrival(r, home):
                self.send_right(core, message)
                for s, home_s in self._in_flight[core].items():
                    self._cross(r, s, home < core, home_s >= core)
                for s in self._windows_s[core]:
                    self._meet(r, s, self._crossed.pop((r, s), Meeting.S_RESTING))
                if core == home:
                    self._windows_r[core][r] = True
                if core == self.cores - 1:
                    self._end(core, r)
            case Acknowledgement(s):
                del self._in_flight[core][s]
            case Expiry(s):
                if s in self._windows_s[core]:
                    del self._windows_s[core][s]
                else:
                    self.send_right(core, message)

    def take_right(self, core: int, message) -> None:
        match message:
            case Arrival(s, home):
                self.send_left(core, message)
                for r, is_under_way in self._windows_r[core].items():
                    if not is_under_way:
                        self._meet(r, s, Meeting.R_RESTING)
                if core > 0:
                    self._in_flight[core][s] = home
                else:
                    self._under_way.remove(s)
                if core == home:
                    self._windows_s[core][s] = None
                self.send_right(core, Acknowledgement(s))
            case ExpeditionEnd(r):
                self._end(core, r)
            case Expiry(r):
                if r in self._windows_r[core]:
                    del self._windows_r[core][r]
                else:
                    self.send_left(core, message)

    def _end(self, core: int, r: Traveller) -> None:
        if core == self.cores - 1:
            self._under_way.remove(r)
        if r in self._windows_r[core]:
            self._windows_r[core][r] = False
        else:
            self.send_left(core, ExpeditionEnd(r))

    def _cross(self, r: Traveller, s: Traveller, r_is_stored: bool, s_is_stored: bool) -> None:
        if s_is_stored:
            self._crossed[r, s] = Meeting.STORED_STORED if r_is_stored else Meeting.FRESH_STORED
        else:
            self._meet(r, s, Meeting.STORED_FRESH if r_is_stored else Meeting.FRESH_FRESH)

    def _meet(self, r: Traveller, s: Traveller, meeting: Meeting) -> None:
        self.meetings[meeting] += 1
        self.compare(r, s)
