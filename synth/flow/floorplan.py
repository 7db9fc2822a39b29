"""Where on a device a chain of cores goes, told to the placer by the places of its block RAMs.

A placer that starts from nothing lets the cores of a long chain run into each other, and some of them end up in pieces,
with nets across half of the device. A few block RAMs in fixed places are enough to hold each core together: the chain
then runs through the rows of block RAM to and fro, as a thread through a cloth, and neighbours stay neighbours.

Where the ends of a chain are neighbours, too, because one driver serves both, the path is a loop: along the first row,
and back through all the others. With the ends apart the driver is torn between them: with 16 cores of low-latency
handshake join it is what limits the clock, and in a loop it no longer is.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

#: Block RAM of a device: for each row, from the top, the names of its places from left to right.
RamRows = tuple[tuple[str, ...], ...]

_CORE = re.compile(r"(?:^|\.)core(\d+)\.")


@dataclass(frozen=True)
class Floorplan:
    """Places for the block RAMs of a chain of cores.

    Parameters
    ----------
    rows
        Block RAM of the device.
    closed
        Whether the first and the last core are neighbours.
    """

    rows: RamRows
    closed: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """What tells it from others, for the key of a cache."""
        return (*(place for row in self.rows for place in row), *(("closed",) if self.closed else ()))

    def places(self, rams: Iterable[str]) -> dict[str, str]:
        """For each block RAM of a core its place, by the names of both; empty if the cores do not fit the rows.

        The cores share the rows evenly. Block RAMs that belong to no core stay free.
        """
        cores: dict[int, list[str]] = defaultdict(list)
        for ram in sorted(rams):
            if core := _CORE.search(ram):
                cores[int(core[1])].append(ram)
        if not cores:
            return {}
        per_row = math.ceil(len(cores) / len(self.rows))
        if self.closed:
            per_row += per_row % 2
            path = _loop(len(cores), len(self.rows), per_row)
        else:
            path = _to_and_fro(len(self.rows), per_row)
        places = {}
        for core, (number, column, leftward) in zip(sorted(cores), path, strict=False):
            row = self.rows[number][::-1] if leftward else self.rows[number]
            width = len(row) / per_row
            if len(cores[core]) > width:
                return {}
            # In the middle of what belongs to this core.
            first = int(column * width + (width - len(cores[core])) / 2)
            places |= dict(zip(cores[core], row[first:], strict=False))
        return places

    def pin_rams(self, netlist: dict, kinds: Iterable[str]) -> None:
        """Give the block RAMs of all cores, cells of these ``kinds``, their place in a netlist of Yosys' JSON."""
        for module in netlist["modules"].values():
            cells = {name: cell for name, cell in module["cells"].items() if cell["type"] in kinds}
            for name, place in self.places(cells).items():
                cells[name]["attributes"]["BEL"] = place


#: Where a core goes: its row, its column, counted from the right where the path goes to the left, and whether it does.
_Path = list[tuple[int, int, bool]]


def _to_and_fro(rows: int, per_row: int) -> _Path:
    """Each row in the other direction than the one before."""
    return [(row, column, row % 2 == 1) for row in range(rows) for column in range(per_row)]


def _loop(cores: int, rows: int, per_row: int) -> _Path:
    """Out along the first row, and back up and down through the others.

    With an even number of columns it ends in the second row, where it began. Columns that are not needed are left out
    at the turn.
    """
    out = [(0, column, False) for column in range(per_row)]
    back = [
        (row, column, True)
        for column in range(per_row)
        for row in (range(rows - 1, 0, -1) if column % 2 else range(1, rows))
    ]
    return [*out, *back[len(out) + len(back) - cores :]]
