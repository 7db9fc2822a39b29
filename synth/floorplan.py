"""Where on a device a chain of cores goes, told to the placer by the places of its block RAMs.

A placer that starts from nothing lets the cores of a long chain run into each other, and some of them end up in pieces,
with nets across half of the device. A few block RAMs in fixed places are enough to hold each core together: the chain
then runs through the rows of block RAM to and fro, as a thread through a cloth, and neighbours stay neighbours.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable

#: Block RAM of a device: for each row, from the top, the names of its places from left to right.
RamRows = tuple[tuple[str, ...], ...]

_CORE = re.compile(r"(?:^|\.)core(\d+)\.")


def places_of_rams(rams: Iterable[str], rows: RamRows) -> dict[str, str]:
    """For each block RAM of a core its place, by the names of both; empty if the cores do not fit the rows.

    The cores share the rows evenly. Block RAMs that belong to no core stay free.
    """
    cores: dict[int, list[str]] = defaultdict(list)
    for ram in sorted(rams):
        if core := _CORE.search(ram):
            cores[int(core[1])].append(ram)
    if not cores or not rows:
        return {}
    per_row = math.ceil(len(cores) / len(rows))
    places = {}
    for position, core in enumerate(sorted(cores)):
        number, column = divmod(position, per_row)
        row = rows[number][::-1] if number % 2 else rows[number]
        width = len(row) / per_row
        if len(cores[core]) > width:
            return {}
        # In the middle of what belongs to this core.
        first = int(column * width + (width - len(cores[core])) / 2)
        places |= dict(zip(cores[core], row[first:], strict=False))
    return places


def pin_rams(netlist: dict, kinds: Iterable[str], rows: RamRows) -> None:
    """Give the block RAMs of all cores, cells of these ``kinds``, their place in a netlist of Yosys' JSON."""
    for module in netlist["modules"].values():
        cells = {name: cell for name, cell in module["cells"].items() if cell["type"] in kinds}
        for name, place in places_of_rams(cells, rows).items():
            cells[name]["attributes"]["BEL"] = place
