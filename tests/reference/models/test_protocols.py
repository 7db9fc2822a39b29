"""The asynchronous protocols give the contract's result under every schedule of messages."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.models.handshake_async import AsynchronousHandshakeChain
from streamjoin.reference.models.llhj import LowLatencyChain, Meeting, by_hash, round_robin
from streamjoin.reference.models.llhj_expedition import ExpeditionChain
from streamjoin.reference.models.message_chain import DeadlockError
from streamjoin.reference.predicates import parse_predicate
from tests import strategies

EQUI = parse_predicate("equi")
CHAINS = {
    "handshake-async, least room": AsynchronousHandshakeChain,
    "handshake-async": lambda *args: AsynchronousHandshakeChain(*args, depth=3, flight=2),
    "llhj, round robin": LowLatencyChain,
    "llhj, by hash": lambda *args: LowLatencyChain(*args, by_hash),
    "llhj as in hardware, least room": ExpeditionChain,
    "llhj as in hardware": lambda *args: ExpeditionChain(*args, depth=3, flight=2),
}


def hasty(random: Random, patience: float):
    """A schedule that mostly lets the first thing happen that could: with little patience, queues grow."""
    return lambda choices: 0 if random.random() >= patience else random.randrange(choices)


@pytest.mark.parametrize("chain", CHAINS)
@settings(max_examples=150)
@given(data=st.data(), cores=st.integers(1, 5), timed=st.booleans(), patience=st.sampled_from([1.0, 0.5, 0.1]))
def test_exact_under_any_schedule(chain, data, cores, timed, patience):
    arrivals = data.draw(strategies.arrivals(timed=timed))
    windows = data.draw(strategies.windows(timed=timed))
    schedule = hasty(data.draw(st.randoms(use_true_random=False)), patience)
    results = CHAINS[chain](cores, arrivals, EQUI, windows).run(schedule)
    assert Counter(results) == Counter(window_join(arrivals, EQUI, windows))


def test_every_kind_of_meeting_occurs():
    met = Counter()
    for seed in range(40):
        random = Random(seed)
        arrivals = Arrivals(np.array([random.randrange(2) for _ in range(40)]), np.zeros(40))
        chain = LowLatencyChain(4, arrivals, EQUI, Windows((6, 9)))
        chain.run(hasty(random, random.random()))
        met += chain.meetings
        assert sum(chain.meetings.values()) == len(window_join(arrivals, EQUI, Windows((6, 9))))
    assert set(met) == set(Meeting)


@pytest.mark.parametrize(("depth", "flight"), [(1, 1), (3, 2)])
def test_an_asynchronous_chain_balances_itself(depth, flight):
    arrivals = Arrivals(np.array([0, 1] * 100), np.zeros(200))
    for seed in range(10):
        chain = AsynchronousHandshakeChain(5, arrivals, EQUI, Windows((31, 7)), depth=depth, flight=flight)
        chain.run(hasty(Random(seed), 1.0))
        assert chain.most[0] <= chain.rooms[0] <= 31 / 5 + depth
        assert chain.most[1] <= chain.rooms[1] + flight


def test_what_waits_for_ever_is_told():
    class Deaf(LowLatencyChain):
        def may_take_right(self, core):
            return core != 0

    with pytest.raises(DeadlockError, match="wait for each other"):
        Deaf(2, Arrivals([1], [0]), EQUI, Windows((1, 1))).run(lambda _: 0)


def test_a_row_that_is_still_needed_is_missed():
    """The model of the hardware would notice if rows were used again too early."""

    class Rash(ExpeditionChain):
        def may_admit(self):
            self._known = [arrived + 100 for arrived in self._known]
            return super().may_admit()

    def run_some(chain):
        for seed in range(100):
            chain(3, arrivals, EQUI, Windows((3, 3)), 9).run(hasty(Random(seed), 1.0))

    arrivals = Arrivals(np.array([0] * 6 + ([1] + [0] * 8) * 4), np.zeros(42))
    run_some(ExpeditionChain)
    with pytest.raises(LookupError, match="is asked for where"):
        run_some(Rash)


def test_homes():
    arrivals = Arrivals([0] * 6, [7, 7, 7, 9, 9, 9])
    chain = LowLatencyChain(3, arrivals, EQUI, Windows((6, 6)), round_robin)
    chain.run(lambda _: 0)
    assert [len(window) for window in chain._windows_r] == [2, 2, 2]
    chain = LowLatencyChain(3, arrivals, EQUI, Windows((6, 6)), by_hash)
    chain.run(lambda _: 0)
    assert sorted(len(window) for window in chain._windows_r) in ([0, 3, 3], [0, 0, 6])
