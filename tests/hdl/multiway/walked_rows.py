"""Views, and the rows of them, in plain Python."""

from streamjoin.hdl.multiway.window_places import WindowPlaces
from tests.hdl.stream_bench import plain


def view_of(places: WindowPlaces, first: int, count: int) -> dict:
    """So many places from the one with this number on."""
    whole, rest = divmod(count, places.lanes)
    return {"first": {"lane": first % places.lanes, "row": first // places.lanes}, "whole": whole, "rest": rest}


def held_in(places: WindowPlaces, view) -> list[tuple[int, int]]:
    """The places of a view as (row, lane), the oldest first."""
    first = view["first"]["row"] * places.lanes + view["first"]["lane"]
    count, capacity = view["whole"] * places.lanes + view["rest"], places.rows * places.lanes
    return [divmod((first + n) % capacity, places.lanes) for n in range(count)]


def rows_of(places: WindowPlaces, view) -> list[dict]:
    """The rows that a walk along a view shows."""
    row, lane = view["first"]["row"], view["first"]["lane"]
    further = sum(1 << n for n in range(places.lanes - 1) if n < lane)
    count = view["whole"] + (view["rest"] != 0)
    return [
        {
            "lane": lane,
            "row": (row + n) % places.rows,
            "next_row": (row + n + 1) % places.rows,
            "further": further,
            "rest": view["rest"],
            "last": int(n == count - 1),
        }
        for n in range(count)
    ]


async def shown(ctx, bank, places: WindowPlaces, latency: int, view) -> list:
    """All that a bank of lanes shows of a view, by place, the oldest first; each place is shown once."""
    found = {}
    for row in rows_of(places, view):
        ctx.set(bank.row, row)
        ctx.set(bank.show, 1)
        await ctx.tick()
        ctx.set(bank.show, 0)
        await ctx.tick().repeat(latency - 1)
        counts = ctx.get(bank.counts)
        for lane in range(places.lanes):
            if counts >> lane & 1:
                place = (row["next_row"] if lane < row["lane"] else row["row"], lane)
                assert place not in found
                found[place] = plain(ctx.get(bank.resting[lane]))
    held = held_in(places, view)
    assert sorted(found) == sorted(held)
    return [found[place] for place in held]
