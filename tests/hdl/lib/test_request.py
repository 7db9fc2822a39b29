"""The request arbiter: each client gets the responses to its own requests, in order, and none waits for ever."""

import random
from collections import deque

import pytest

from streamjoin.hdl.lib.request import RequestArbiter
from tests.hdl.stream_bench import run

REQUEST, RESPONSE = 8, 9


def server(port, latency, stall, seed, asked):
    """Responds with twice the request and one, ``latency`` cycles after it was taken; notes who asked, in order."""
    rng = random.Random(seed)

    async def bench(ctx):
        under_way = deque([None] * latency)
        while True:
            ctx.set(port.request.ready, rng.random() >= stall)
            _, _, valid, ready, request = await ctx.tick().sample(
                port.request.valid, port.request.ready, port.request.p
            )
            taken = valid and ready
            if taken:
                asked.append(request.client)
            under_way.append({"what": 2 * request.what + 1, "client": request.client} if taken else None)
            due = under_way.popleft()
            ctx.set(port.response.valid, due is not None)
            if due is not None:
                ctx.set(port.response.p, due)

    return bench


def client(port, requests, stall, seed, responses):
    """Asks, and listens in every cycle: responses cannot be held back."""
    rng = random.Random(seed)

    async def bench(ctx):
        waiting, offering = deque(requests), False
        for _ in range(3000):
            if len(responses) == len(requests):
                break
            if not offering and waiting and rng.random() >= stall:
                offering = True
                ctx.set(port.request.p, waiting[0])
            ctx.set(port.request.valid, offering)
            _, _, ready, valid, response = await ctx.tick().sample(
                port.request.ready, port.response.valid, port.response.p
            )
            if offering and ready:
                waiting.popleft()
                offering = False
            if valid:
                responses.append(response)
        ctx.set(port.request.valid, 0)

    return bench


def asked_and_answered(clients, latency=2, stall=0.0, server_stall=0.0, count=30):
    arbiter = RequestArbiter(REQUEST, RESPONSE, clients)
    requests = [[(37 * n + 11 * k) % 256 for k in range(count)] for n in range(clients)]
    responses, asked = [[] for _ in range(clients)], []
    benches = [
        client(port, requests[n], stall, seed=n, responses=responses[n]) for n, port in enumerate(arbiter.clients)
    ]
    run(arbiter, *benches, background=[server(arbiter.server, latency, server_stall, 9, asked)])
    assert responses == [[2 * request + 1 for request in each] for each in requests]
    return asked


@pytest.mark.parametrize("clients", [1, 2, 3, 5])
@pytest.mark.parametrize(("latency", "stall", "server_stall"), [(1, 0.0, 0.0), (4, 0.5, 0.5), (2, 0.0, 0.7)])
def test_each_gets_its_own_answers_in_order(clients, latency, stall, server_stall):
    asked_and_answered(clients, latency, stall, server_stall)


@pytest.mark.parametrize("clients", [2, 4])
def test_all_have_their_turn(clients):
    """As long as all ask all the time, no two of them are ever more than a few requests apart."""
    asked = asked_and_answered(clients, count=40)
    for end in range(clients, len(asked) // 2):
        counts = [asked[:end].count(n) for n in range(clients)]
        assert max(counts) - min(counts) <= 2


def test_an_answer_comes_a_cycle_after_the_server_gave_it():
    arbiter, seen = RequestArbiter(REQUEST, RESPONSE, 3), []

    async def bench(ctx):
        for cycle in range(4):
            ctx.set(arbiter.server.response.valid, cycle == 1)
            ctx.set(arbiter.server.response.p, {"what": 77, "client": 2})
            _, _, *valid, response = await ctx.tick().sample(
                *(port.response.valid for port in arbiter.clients), arbiter.clients[2].response.p
            )
            seen.append((valid, response if valid[2] else None))

    run(arbiter, bench)
    assert seen == [([0, 0, 0], None), ([0, 0, 0], None), ([0, 0, 1], 77), ([0, 0, 0], None)]
