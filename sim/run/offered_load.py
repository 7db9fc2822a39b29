"""What a run under offered load says beyond its cycles: who waited in front of the design, and whether it kept up."""

import numpy as np

from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.sim.run.latency import latency_statistics
from streamjoin.sim.run.model import Run
from streamjoin.sim.tuples.offers import Offers


def driving(offers: Offers | None, parameters: JoinParameters) -> dict:
    """How the driver is to offer tuples to a design: as fast as they are taken if there are no offers.

    With ``on_full="drop"`` there is no queue in front of the design. What full queues inside turn away the design
    discards itself; what comes while it is not ready for another reason, such as a scan that lasts many cycles, or a
    second tuple of the same stream and cycle (or one more than there are slots), is dropped in front of it.
    """
    if offers is None:
        return {}
    return {"offered": offers.cycle, "queue": parameters.on_full != "drop", "quiet": parameters.quiet}


def load_figures(simulation) -> dict:
    """The figures of a :class:`streamjoin.sim.run.simulate.Simulation` that was offered its tuples.

    Tuples and results a cycle are those until the last tuple was taken or dropped, since what follows is waiting: for
    what still comes by itself, and then for the drain. ``sojourn_cycles`` are from the offer of the later tuple,
    without results that only the drain brought; of a design that holds nothing back there are none.
    """
    run, offers = simulation.run, simulation.offers
    cycles = max(run.input_cycles, 1)
    drained = np.zeros(len(run.result_cycle), bool)
    if simulation.simulator.parameters.holds_back is not None:
        drained = run.result_cycle >= run.undrained_cycles
    return {
        "tuples_per_cycle": (len(offers) - run.dropped) / cycles,
        "results_per_cycle": int((run.result_cycle < run.input_cycles).sum()) / cycles,
        "offered_tuples_per_cycle": offers.rate,
        "sojourn_cycles": latency_statistics(simulation.since(offers.cycle, ~drained)),
        "results_after_drain": int(drained.sum()),
        "waiting_max": int(waiting(offers.cycle, run).max(initial=0)),
        "sustained": is_sustained(offers, run),
    }


def waiting(offered: np.ndarray, run: Run) -> np.ndarray:
    """For each tuple how many wait at the end of the cycle of its offer, up to itself; nobody who was dropped waits."""
    kept = run.accepted_cycle >= 0
    return np.maximum(np.cumsum(kept) - np.searchsorted(run.accepted_cycle[kept], offered, "right"), 0)


def is_sustained(offers: Offers, run: Run) -> bool:
    """Whether the design kept up with what was offered: false if the queue in front of it still grew at the end.

    That is the case if three things are true of the last quarter of the offers. The queue was never empty; more waited
    than in the quarter before, by more than one tuple on average; and the design, which thus had no time to rest, took
    fewer tuples a cycle than are offered on average. The third tells a queue that grows without end from one that is
    long for a while, as any does that is fed at random. Where nothing waits (``on_full="drop"``) it is whether nothing
    of the last quarter was dropped.
    """
    late = slice(3 * len(offers) // 4, None)
    if len(offers) < 4:
        return not run.discarded.any()
    if run.discarded.any():
        return not run.discarded[late].any()
    offered, taken = offers.cycle, run.accepted_cycle
    last = offered[late]
    empty = np.searchsorted(taken, last, "left") >= np.searchsorted(offered, last, "left")
    if empty[last > offered[late.start - 1]].any():
        return True
    waited = waiting(offered, run)
    if waited[late].mean() <= waited[len(offers) // 2 : late.start].mean() + 1:
        return True
    pace = taken[np.searchsorted(taken, last[0], "left") : np.searchsorted(taken, last[-1], "right")]
    if not len(pace) or pace[0] == pace[-1]:
        return False
    return bool((pace > pace[0]).sum() >= offers.rate * (pace[-1] - pace[0]))
