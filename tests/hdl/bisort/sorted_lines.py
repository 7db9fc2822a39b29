"""Sorted arrays in plain Python: tuples as they are stored, in lines, and an index that responds."""

from bisect import bisect_left


def stored(key, payload=0, number=0, others=0):
    return {"key": key, "payload": payload, "number": number, "others": others}


def in_lines(items, lanes: int, first: int = 0, lines: int | None = None, elsewhere=None):
    """A memory of so many lines with these items from the place ``first`` on, and nothing of interest elsewhere."""
    count = -(-(first + len(items)) // lanes) if lines is None else lines
    places = [elsewhere or stored(0)] * (count * lanes)
    places[first : first + len(items)] = items
    return [places[n : n + lanes] for n in range(0, len(places), lanes)]


def partition_of(keys, bound, size):
    """The last partition that begins below the bound, or the first."""
    return max([0, *(place // size for place in range(0, len(keys), size) if keys[place] < bound)])


def ranks(keys, bounds):
    """For each bound, how many of the sorted keys are below it."""
    return [bisect_left(keys, bound) for bound in bounds]


def index(port, arrays_of: dict[int, list[int]], size: int):
    """A bench that stands for the index array and responds in the next cycle, given the sorted keys of each region."""

    async def bench(ctx):
        ctx.set(port.request.ready, 1)
        async for _, _, valid, request in ctx.tick().sample(port.request.valid, port.request.p):
            ctx.set(port.response.valid, valid)
            if valid:
                tagged = hasattr(request, "client")
                what = request.what if tagged else request
                found = partition_of(arrays_of[what.region], what.bound, size)
                ctx.set(port.response.p, {"what": found, "client": request.client} if tagged else found)

    return bench
