"""The payload of a port on which several items pass in one transfer."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data


class Slots(data.StructLayout):
    """So many ``slots`` for items, slot 0 the earliest, and the ``count`` of those that hold one: the first ones.

    Slots beyond the count are of no account: they may hold anything, and may change while a transfer waits.

    Parameters
    ----------
    item
        What a slot holds.
    width
        How many slots there are.
    """

    def __init__(self, item: ShapeLike, width: int):
        # The count comes last, as a valid bit does: items of whole words stay aligned to them in the simulator.
        super().__init__({"slots": data.ArrayLayout(item, width), "count": range(width + 1)})
