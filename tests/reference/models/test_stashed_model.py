"""The stash answers as its windows would, or is known not to be complete."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.models.stashed import StashedJoin
from streamjoin.reference.predicates import parse_predicate
from tests import strategies

EQUI = parse_predicate("equi")


@settings(max_examples=300)
@given(
    data=st.data(),
    timed=st.booleans(),
    predicate=strategies.predicates(),
    room=st.integers(0, 12),
    epoch=st.none() | st.integers(8, 20),
)
def test_exact_with_any_room(data, timed, predicate, room, epoch):
    arrivals = data.draw(strategies.arrivals(3, max_size=60, timed=timed))
    windows = data.draw(strategies.windows(3, max_room=6, timed=timed))
    results = StashedJoin(arrivals, predicate, windows, room=room, epoch=epoch).run()
    assert Counter(results) == Counter(window_join(arrivals, predicate, windows))


def counts(room, keys, *, tuples=3000, window=20, epoch=None):
    rng = np.random.default_rng(1)
    arrivals = Arrivals(np.arange(tuples) % 3, rng.integers(0, keys, tuples))
    join = StashedJoin(arrivals, EQUI, Windows((window,) * 3), room=room, epoch=epoch)
    join.run()
    return join.counts


def test_a_stash_that_holds_all_live_pairs_is_never_lost():
    roomy, none = counts(400, 40), counts(0, 40)
    assert roomy.lost == roomy.recomputed == none.answered == 0
    assert roomy.answered == none.recomputed == 1000
    assert roomy.first_stage + roomy.stash + roomy.saved == none.first_stage
    assert roomy.saved > 0


def test_a_stash_too_small_is_lost_while_the_pairs_live():
    crowded = counts(8, 40)
    assert crowded.lost > 0
    assert 0 < crowded.answered < 1000
    assert crowded.answered + crowded.recomputed == 1000


def test_an_epoch_costs_some_answers():
    assert 0 < counts(400, 40, epoch=200).recomputed < 400


def test_three_streams_only():
    with pytest.raises(ValueError, match="the stash is for three streams, not 2"):
        StashedJoin(Arrivals([0], [0]), EQUI, Windows((1, 1)), room=1)
