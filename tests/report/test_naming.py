"""Rows are named by what tells them apart."""

from streamjoin.hdl.registry import find
from streamjoin.report.naming import Naming
from streamjoin.synth.sweep.grid import expand, read_axis


def rows(designs, *axes):
    grid = expand([find(name) for name in designs], map(read_axis, axes))
    return [
        {"design": point.design.name, "choices": point.choices, "parameters": point.parameters.as_dict()}
        for point in grid.points
    ]


def test_series_run_along_the_cores():
    swept = rows(["handshake", "nested-loop"], "cores=2,4", "window=8*cores", "scan=parallel,sequential")
    naming = Naming.of(swept)
    assert naming.axis == "cores"
    assert naming.fixed == {"window": "8*cores"}
    assert list(dict.fromkeys(map(naming.series, swept))) == [
        "handshake, parallel scan",
        "handshake, sequential scan",
        "nested-loop",
    ]
    assert naming.label(swept[0]) == "handshake, 2 cores, windows of 16, parallel scan"
    assert naming.label(swept[-1]) == "nested-loop, windows of 32"
    assert [naming.position(row) for row in swept] == [2, 2, 4, 4, 1, 1]


def test_spans_that_are_alike_are_one():
    swept = rows(["handshake"], "span=16,32", "span_s=16,64")
    assert Naming.of(swept).label(swept[0]) == "handshake, span 16"
    assert Naming.of(swept).label(swept[1]) == "handshake, span r 16, span s 64"
    assert rows(["circular", "handshake"], "span=none,9")[2]["parameters"]["span_s"] is None


def test_another_axis_and_none():
    swept = rows(["handshake"], "window_r=16,32,64", "merger_queue=2,4")
    naming = Naming.of(swept)
    assert naming.axis == "window_r"
    assert naming.series(swept[0]) == "handshake, merger queue 2"
    assert naming.label(swept[0]) == "handshake, window r 16, merger queue 2"
    alone = Naming.of(swept[:1])
    assert (alone.axis, alone.label(swept[0]), alone.position(swept[0])) == (None, "handshake", 1)


def test_rows_that_make_other_choices_than_the_first():
    swept = rows(["handshake"], "window=64,segment*cores", "segment=8,16", "cores=2,4")
    naming = Naming.of(swept)
    assert naming.axis == "cores"
    assert list(dict.fromkeys(map(naming.series, swept))) == [
        "handshake, windows of 64",
        "handshake, windows of segment × cores, segments of 8",
        "handshake, windows of segment × cores, segments of 16",
    ]
