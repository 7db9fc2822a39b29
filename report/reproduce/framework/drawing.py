"""How a claim is drawn among measured points: a grey line, curve or band, with its words beside it."""

from collections.abc import Sequence

from matplotlib import patheffects
from matplotlib.axes import Axes

from streamjoin.report import style
from streamjoin.report.style import Look

CLAIM = "#9b9a97"


def claim_band(axes: Axes, low: float, high: float, words: str) -> None:
    """A band across the plot, its words below it."""
    axes.axhspan(low, high, color=style.GRID, zorder=0)
    _words(axes, low, words)


def claim_line(axes: Axes, y: float, words: str, *, above: bool = False) -> None:
    """A line across the plot, its words below it or above."""
    axes.axhline(y, color=CLAIM, linewidth=1.6, linestyle=(0, (1, 1.2)), zorder=1)
    _words(axes, y, words, 5 if above else -14)


def claim_between(axes: Axes, left: float, right: float, words: str) -> None:
    """A band from bottom to top, its words at its foot; for a logarithmic axis."""
    axes.axvspan(left, right, color=style.GRID, zorder=0)
    axes.annotate(
        words, (left * 1.1, 0.03), xycoords=axes.get_xaxis_transform(), fontsize=8.5, color=style.MUTED, zorder=5
    )


def claim_curve(axes: Axes, x: Sequence[float], y: Sequence[float], words: str) -> None:
    """A curve through the plot, its words above its right end."""
    axes.plot(x, y, color=CLAIM, linewidth=1.6, linestyle=(0, (1, 1.2)), zorder=1)
    axes.annotate(
        words,
        (0.985, y[-1]),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, 7),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=style.MUTED,
        zorder=5,
    )


def _words(axes: Axes, y: float, words: str, higher: float = -14) -> None:
    axes.annotate(
        words,
        (0.015, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, higher),
        textcoords="offset points",
        fontsize=8.5,
        color=style.MUTED,
        zorder=5,
        # Curves may run behind the words.
        path_effects=[patheffects.withStroke(linewidth=3, foreground="white")],
    )


def series(axes: Axes, x: list[float], y: list[float], look: Look, *, dashed: bool = False) -> None:
    """Points that belong together, with a line between them."""
    line = (0, (4, 3)) if dashed else "-"
    axes.plot(x, y, color=look.colour, marker=look.mark, markersize=5.5, linewidth=1.6, linestyle=line, zorder=3)


def over_cores(
    axes: Axes, lines: dict[str, dict[int, float]], looks: dict[str, Look], *, title: str, y: str, wide: bool = False
) -> None:
    """A line for each name through its values by cores; ``wide`` values may get a logarithmic axis.

    Lines that coincide can all be seen: the later ones are thinner.
    """
    for name, line in lines.items():
        look = looks[name]
        sizes = {"linewidth": look.width, "marker": look.mark, "markersize": look.size}
        axes.plot(list(line), list(line.values()), color=look.colour, zorder=3, **sizes)
    style.dress(axes, title=title, x="Cores", y=y)
    style.along(axes, [cores for line in lines.values() for cores in line])
    style.upward(axes, [value for line in lines.values() for value in line.values()], wide=wide)
