"""How a claim is drawn among measured points: a grey line or band, with its words beside it."""

from matplotlib.axes import Axes

from streamjoin.report import style
from streamjoin.report.style import Look

CLAIM = "#9b9a97"


def claim_band(axes: Axes, low: float, high: float, words: str) -> None:
    """A band across the plot, its words below it."""
    axes.axhspan(low, high, color=style.GRID, zorder=0)
    _words(axes, low, words)


def claim_line(axes: Axes, y: float, words: str) -> None:
    """A line across the plot, its words below it."""
    axes.axhline(y, color=CLAIM, linewidth=1.6, linestyle=(0, (1, 1.2)), zorder=1)
    _words(axes, y, words)


def _words(axes: Axes, y: float, words: str) -> None:
    axes.annotate(
        words,
        (0.015, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, -14),
        textcoords="offset points",
        fontsize=8.5,
        color=style.MUTED,
        zorder=5,
    )


def series(axes: Axes, x: list[float], y: list[float], look: Look, *, dashed: bool = False) -> None:
    """Points that belong together, with a line between them."""
    line = (0, (4, 3)) if dashed else "-"
    axes.plot(x, y, color=look.colour, marker=look.mark, markersize=5.5, linewidth=1.6, linestyle=line, zorder=3)
