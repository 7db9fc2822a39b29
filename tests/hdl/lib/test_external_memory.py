"""The memory behind a bus: right lines, after its latency, no faster than its bandwidth, and nobody starves."""

import random
from itertools import pairwise

import pytest
from amaranth.hdl import Module
from amaranth.lib import data, memory

from streamjoin.hdl.lib import external_memory
from streamjoin.hdl.lib.external_memory import ExternalMemory
from tests.hdl.stream_bench import plain, run

LINES = 8
LINE = data.ArrayLayout(8, 3)  # three bytes
BYTES = 3


@pytest.fixture(autouse=True)
def _lines_in_amaranth(monkeypatch):
    """The module that stands for the memory itself is Verilog, which Amaranth's simulator does not read."""

    def lines(name, **ports):
        assert (name, ports["p_LINES"], len(ports["i_into"])) == ("external_lines", LINES, ports["p_ADDRESS"])
        m = Module()
        m.submodules.content = content = memory.Memory(shape=ports["p_WIDTH"], depth=LINES, init=[])
        write = content.write_port()
        m.d.comb += [
            write.en.eq(ports["i_write"]),
            write.addr.eq(ports["i_into"]),
            write.data.eq(ports["i_data"]),
        ]
        for n in (0, 1):
            read = content.read_port()
            m.d.comb += [read.addr.eq(ports[f"i_from{n}"]), ports[f"o_line{n}"].eq(read.data)]
        return m

    monkeypatch.setattr(external_memory, "Instance", lines)


def moved(bandwidth, latency, offering, cycles=300):
    """Offer lines and requests at random, and check all responses; for each cycle, which of the three ports moved."""
    rng, dut = random.Random(2), ExternalMemory(LINE, LINES, (2, 3), latency=latency, bandwidth=bandwidth)
    reads, history = (dut.read0, dut.read1), []

    async def bench(ctx):
        content = {}
        writing, asking = None, [None, None]
        under_way = [[None] * latency for _ in reads]
        for _ in range(cycles):
            pending = {what["what"] for what in asking if what}
            pending |= {each["number"] for lines in under_way for each in lines if each}
            if writing is None and rng.random() < offering:
                free = [number for number in range(LINES) if number not in pending]
                if free:
                    writing = {"line": [rng.randrange(256) for _ in range(3)], "number": rng.choice(free)}
                    ctx.set(dut.i.p, writing)
            for n, port in enumerate(reads):
                known = [number for number in content if not writing or number != writing["number"]]
                if asking[n] is None and known and rng.random() < offering:
                    asking[n] = {"what": rng.choice(known), "client": rng.randrange(2 + n)}
                    ctx.set(port.request.p, asking[n])
                ctx.set(port.request.valid, asking[n] is not None)
            ctx.set(dut.i.valid, writing is not None)
            _, _, wrote, *told = await ctx.tick().sample(
                dut.i.ready,
                *(signal for port in reads for signal in (port.request.ready, port.response.valid)),
                *(port.response.p for port in reads),
            )
            ready, valid, responses = told[0:4:2], told[1:4:2], told[4:]
            history.append(
                [wrote and writing is not None, *(r and a is not None for r, a in zip(ready, asking, strict=True))]
            )
            for n in (0, 1):
                due = under_way[n].pop(0)
                assert valid[n] == (due is not None)
                if due:
                    assert plain(responses[n]) == {"what": due["line"], "client": due["client"]}
                taken = asking[n] if history[-1][n + 1] else None
                under_way[n].append(
                    taken and {"line": content[taken["what"]], "number": taken["what"], "client": taken["client"]}
                )
                if taken:
                    asking[n] = None
            if history[-1][0]:
                content[writing["number"]] = writing["line"]
                writing = None

    run(dut, bench)
    return history


@pytest.mark.parametrize("latency", [2, 3, 7])
@pytest.mark.parametrize(("bandwidth", "offering"), [(9, 1.0), (4, 0.5), (1, 1.0)])
def test_right_lines_after_the_latency_and_within_the_bandwidth(latency, bandwidth, offering):
    history = moved(bandwidth, latency, offering)
    sent = [BYTES * sum(ports) for ports in history]
    for end in range(0, len(sent) + 1, 10):
        assert sum(sent[:end]) <= bandwidth * end
    for begin in range(0, len(sent) - 20, 10):
        # What was saved up is a line for each port, and a cycle's worth.
        assert sum(sent[begin : begin + 20]) <= bandwidth * 20 + 3 * BYTES
    if offering == 1.0 and bandwidth == 1:
        assert sum(sent) >= bandwidth * len(sent) - 4 * BYTES, "the bus stood idle while lines waited"


def test_nobody_starves():
    """With room for a line in three cycles, each of three ports has its turn in about nine."""
    history = moved(1, 2, 1.0)[60:]
    for port in range(3):
        turns = [cycle for cycle, ports in enumerate(history) if ports[port]]
        assert max(b - a for a, b in pairwise(turns)) <= 12
