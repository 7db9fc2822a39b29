"""How our plots look: colours, marks and axes, the same in a picture as in a page."""

import dataclasses
from itertools import cycle

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

INK, MUTED, FAINT, GRID, ALARM = "#37352f", "#787774", "#d3d1cb", "#e9e7e2", "#c4314b"
#: Series, in the order in which they come; a mark of its own for whoever cannot tell the colours.
COLOURS = ("#0b6e99", "#d9730d", "#6940a5", "#448361", "#ad1a72", "#8f6b0b", "#0f7b6c", "#5a5a66")
MARKS = ("o", "s", "D", "^", "v", "P", "X", "h")


@dataclasses.dataclass(frozen=True)
class Look:
    colour: str
    mark: str
    width: float
    size: float


def looks(names: list[str]) -> dict[str, Look]:
    """A look for each name; after eight the colours begin again.

    The first ones are drawn first and broadest: where lines coincide, all of them can be seen.
    """
    step = min(0.6, 1.8 / max(1, len(names)))
    return {
        name: Look(colour, mark, 1.4 + step * later, 4.6 + 1.6 * step * later)
        for name, colour, mark, later in zip(
            names, cycle(COLOURS), cycle(MARKS), reversed(range(len(names))), strict=False
        )
    }


def dress(axes: Axes, *, title: str = "", x: str, y: str) -> None:
    """Title, labels with units, a quiet grid, and no frame."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(x, fontsize=9, color=MUTED)
    axes.set_ylabel(y, fontsize=9, color=MUTED)
    axes.tick_params(which="both", labelsize=8.5, colors=MUTED, length=0)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(FAINT)


def along(axes: Axes, values: list[int]) -> None:
    """The x axis of a parameter: a tick for each value that was taken, doubling where they double."""
    values = sorted(set(values))
    if values[-1] > 4 * values[0] > 0:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    ticks = values if len(values) <= 10 else values[:: -(-len(values) // 10)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    if len(values) == 1:
        axes.set_xlim(values[0] - 1, values[0] + 1)


def upward(axes: Axes, values: list[float], *, wide: bool = False) -> None:
    """The y axis: from 0, or logarithmic where ``wide`` values differ too much to be seen together."""
    values = [value for value in values if value is not None]
    if wide and values and min(values) > 0 and max(values) > 8 * min(values):
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.6, max(values) * 1.6)
        steps = (1,) if max(values) > 300 * min(values) else (1, 3) if max(values) > 30 * min(values) else (1, 2, 5)
        axes.yaxis.set_major_locator(LogLocator(subs=steps))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, 1.15 * max([*values, 1e-9]))
        if not any(values):
            axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
