"""The slot gate: transfers enter while there is room, and what becomes of them is counted; a run ends once."""

import random

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.slot_gate import SlotGate
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run

START, SETTLE, WIDTH = 3, 6, 4


def made(on_full="stall"):
    layout = TupleLayout(parse_predicate("equi"), key_width=4, payload_width=4, width=WIDTH)
    return SlotGate(layout, on_full=on_full, start=START, settle=SETTLE)


def watched(gate, steps):
    """The outputs in each cycle, by name; steps say what changes.

    ``r`` and ``s`` are what is offered, a count or None.
    """
    names = ("enters", "halted", "discarding", "drained", "dropped", "overflows")
    told = []

    async def bench(ctx):
        for step in steps:
            for name, value in step.items():
                if name in ("r", "s"):
                    port = getattr(gate, f"i_{name}")
                    ctx.set(port.valid, value is not None)
                    ctx.set(port.p.count, value or 0)
                else:
                    ctx.set(getattr(gate, name), value)
            values = (getattr(gate, name) for name in names)
            _, _, *row, r, s = await ctx.tick().sample(*values, gate.i_r.ready, gate.i_s.ready)
            told.append(dict(zip((*names, "r", "s"), (*row, r, s), strict=True)))

    run(gate, bench)
    return told


def random_steps(count: int, seed: int):
    rng = random.Random(seed)
    for _ in range(START + 1):
        yield {"room": rng.getrandbits(1), "r": 3, "s": 1}
    for _ in range(count):
        both = [(None, None), (rng.randint(0, WIDTH), None), (None, rng.randint(0, WIDTH))]
        r, s = rng.choice([*both, *[(rng.randint(0, WIDTH), rng.randint(0, WIDTH))] * 5])
        yield {"room": rng.random() < 0.7, "r": r, "s": s, "early": rng.choice((0, 0, 1, 5, 2 * WIDTH))}
    yield from [{"room": 1, "r": None, "s": None, "early": 0}] * 3


@pytest.mark.parametrize("on_full", ["stall", "drop"])
def test_transfers_enter_while_there_is_room(on_full):
    steps = list(random_steps(400, 1))
    dropped = entered = 0
    told = watched(made(on_full), steps)
    for cycle, (step, saw) in enumerate(zip(steps, told, strict=True)):
        taking = cycle >= START + 1
        offered = step["r"] is not None and step["s"] is not None
        assert saw["enters"] == (taking and step["room"] and offered), f"at cycle {cycle}"
        assert saw["halted"] == (taking and not step["room"])
        assert saw["discarding"] == (saw["halted"] and on_full == "drop")
        # Either takes both or neither.
        assert saw["r"] == saw["s"] == ((taking and step["room"]) or saw["discarding"])
        dropped += step["r"] + step["s"] if saw["discarding"] and offered else 0
        entered += saw["enters"]
    assert told[-1]["dropped"] == dropped
    assert (dropped > 100) == (on_full == "drop")
    assert told[-1]["overflows"] == sum(step.get("early", 0) for step in steps) > 300
    assert 100 < entered < 300


@pytest.mark.parametrize("on_full", ["stall", "drop"])
def test_a_run_ends_once_nothing_moves_any_more(on_full):
    begin = [{"room": 1, "moving": 1, "r": 2, "s": 1}, *[{}] * (START + 4)]
    drain = [{"drain": 1}, *[{}] * 9]
    # It stands still for a moment, and goes on.
    settle = [{"moving": 0}, *[{}] * (SETTLE - 2), {"moving": 1}, {"moving": 0, "drain": 0}, *[{}] * (SETTLE + 4)]
    told = watched(made(on_full), [*begin, *drain, *settle])
    entered = [cycle for cycle, saw in enumerate(told) if saw["enters"]]
    assert entered == [*range(START + 1, len(begin) + 1)], "one more in the cycle in which drain is raised"
    assert not any(saw["r"] or saw["s"] or saw["halted"] for saw in told[len(begin) + 1 :])
    drained = [cycle for cycle, saw in enumerate(told) if saw["drained"]]
    still = len(begin) + len(drain) + SETTLE
    assert drained == [*range(still + SETTLE + 1, len(told))]
    assert told[-1]["dropped"] == 0
