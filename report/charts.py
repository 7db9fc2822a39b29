"""Charts: panels side by side in a picture, or each for itself in a page, where it may be pointed at."""

import dataclasses
import html
import io
import re
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from streamjoin.report import style
from streamjoin.report.style import Look

#: Colours of the plots and the names that the page's style sheet has for them.
VARIABLES = {
    style.INK: "ink",
    style.MUTED: "muted",
    style.FAINT: "faint",
    style.GRID: "grid",
    style.ALARM: "alarm",
    "#ffffff": "paper",
    **{colour: f"s{number}" for number, colour in enumerate(style.COLOURS)},
}


class Tips:
    """Words for marks in a plot: the mark gets a name, and the page shows the words when it is pointed at."""

    def __init__(self):
        self.words: list[str] = []

    def name(self, words: str) -> str:
        self.words.append(words)
        return f"tip{len(self.words) - 1}"


@dataclasses.dataclass(frozen=True)
class Panel:
    """One pair of axes; ``draw`` fills it and names its marks."""

    draw: Callable[[Axes, Tips], None]


@dataclasses.dataclass(frozen=True)
class Chart:
    """Panels under one heading with one legend.

    ``name`` is that of its file; ``words`` say what is to be seen, in a sentence or two.
    """

    name: str
    heading: str
    words: str
    panels: list[Panel]
    legend: dict[str, Look] = dataclasses.field(default_factory=dict)

    def save(self, path: Path) -> None:
        """All panels in one picture."""
        columns = min(3, len(self.panels))
        rows = -(-len(self.panels) // columns)
        width = 6.8 if columns == 1 else 4.2 * columns
        figure = Figure(figsize=(width, 0.7 + 3.0 * rows + 0.25 * (len(self.legend) // 3)), layout="constrained")
        figure.suptitle(self.heading, x=0.01, ha="left", fontsize=12, color=style.INK)
        for number, panel in enumerate(self.panels):
            panel.draw(figure.add_subplot(rows, columns, number + 1), Tips())
        if self.legend:
            handles = [
                Line2D([], [], color=look.colour, marker=look.mark, markersize=5, label=name)
                for name, look in self.legend.items()
            ]
            figure.legend(handles=handles, loc="outside lower left", ncols=columns, frameon=False, fontsize=8.5)
        figure.savefig(path, dpi=150)

    def inline(self) -> list[str]:
        """Each panel as SVG to stand in a page, in the page's colours and type."""
        return [self._svg(panel, f"{self.name}{number}") for number, panel in enumerate(self.panels)]

    def _svg(self, panel: Panel, name: str) -> str:
        figure = Figure(figsize=(4.0, 2.9), layout="constrained")
        tips = Tips()
        panel.draw(figure.add_subplot(), tips)
        figure.patch.set_visible(False)
        for axes in figure.axes:
            axes.patch.set_visible(False)
        text = io.StringIO()
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "streamjoin"}):
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        return _for_page(text.getvalue(), name, f"{self.heading} {figure.axes[0].get_title('left')}", tips.words)


def _for_page(svg: str, name: str, about: str, tips: list[str]) -> str:
    """What matplotlib writes, without its prologue, with names of its own, the page's colours, and tips."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(
        r'<svg\b[^>]*?(viewBox="[^"]*")[^>]*>',
        rf'<svg \1 role="img" aria-label="{html.escape(about)}" class="plot">',
        svg,
        count=1,
    )
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    for number, words in enumerate(tips):
        mark = f'<g id="{name}-tip{number}">'
        svg = svg.replace(mark, f'<g class="mark"><title>{html.escape(words)}</title>')
    return svg
