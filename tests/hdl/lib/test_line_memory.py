"""The memory of lines: what was written is read, at all ports at once, in the next cycle."""

import random

from amaranth.lib import data

from streamjoin.hdl.lib.line_memory import LineMemory
from tests.hdl.stream_bench import plain, run

LINES = 8
LINE = data.ArrayLayout(data.StructLayout({"key": 4, "payload": 6}), 2)


def test_each_port_reads_what_was_written_last_in_the_next_cycle():
    """Random writes and requests in every cycle, at three ports; of a line that is just being written nobody asks."""
    rng = random.Random(5)
    memory = LineMemory(LINE, LINES, (1, 2, 5))
    reads = [memory.read0, memory.read1, memory.read2]
    asked = [0, 0, 0]

    async def bench(ctx):
        content, due = {}, [None] * 3
        for _ in range(400):
            number = rng.randrange(LINES) if rng.random() < 0.5 else None
            line = [{"key": rng.randrange(16), "payload": rng.randrange(64)} for _ in range(2)]
            ctx.set(memory.i.valid, number is not None)
            if number is not None:
                ctx.set(memory.i.p, {"line": line, "number": number})
            requests = []
            for port, clients in zip(reads, (1, 2, 5), strict=True):
                what = rng.choice([None, *(n for n in content if n != number)])
                client = rng.randrange(clients)
                ctx.set(port.request.valid, what is not None)
                ctx.set(port.request.p, {"what": what or 0, "client": client})
                requests.append(None if what is None else {"what": content[what], "client": client})
            values = [
                memory.i.ready,
                *(signal for port in reads for signal in (port.request.ready, port.response.valid)),
            ]
            _, _, *ready, one, two, three = await ctx.tick().sample(*values, *(port.response.p for port in reads))
            assert all((ready[0], *ready[1::2])), "it takes everything in every cycle"
            for n, (valid, response) in enumerate(zip(ready[2::2], (one, two, three), strict=True)):
                assert valid == (due[n] is not None)
                if valid:
                    assert plain(response) == due[n]
                    asked[n] += 1
            due = requests
            if number is not None:
                content[number] = line

    run(memory, bench)
    assert min(asked) > 100
