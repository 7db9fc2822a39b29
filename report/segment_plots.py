"""The picture of a run in segments: how fast each of them was, and how long its results took."""

from pathlib import Path

from matplotlib.figure import Figure

from streamjoin.report import style
from streamjoin.support.files import whole_file


def draw_segments(summary: dict, path: Path) -> None:
    """Tuples a second and latencies of each segment, over the arrivals of the run."""
    segments = summary["segment_list"]
    middles = [segment["first"] + segment["tuples"] / 2 for segment in segments]
    figure = Figure(figsize=(8, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    speeds = [segment["tuples"] / segment["seconds"] for segment in segments]
    mark = {"marker": "o", "markersize": 3.5, "linewidth": 1.2}
    above.plot(middles, speeds, color=style.COLOURS[0], **mark)
    again = [index for index, segment in enumerate(segments) if segment["attempt"]]
    above.plot([middles[i] for i in again], [speeds[i] for i in again], "x", color=style.ALARM, label="run again")
    if again:
        above.legend(frameon=False, fontsize=8)
    title = f"{summary['design']}: {summary['tuples']:,} tuples in {summary['segments']} segments"
    style.dress(above, title=title, x="", y="Tuples a second, one simulator")
    style.upward(above, speeds)
    for name, words, colour in (("latency_p50", "median", 1), ("latency_p99", "99 %", 2)):
        points = [(x, segment[name]) for x, segment in zip(middles, segments, strict=True) if segment[name] is not None]
        if points:
            below.plot(*zip(*points, strict=True), color=style.COLOURS[colour], label=words, **mark)
            below.legend(frameon=False, fontsize=8)
    style.dress(below, x="Arrival number", y="Latency in cycles")
    below.set_ylim(bottom=0)
    with whole_file(path) as part:
        figure.savefig(part, dpi=150)
