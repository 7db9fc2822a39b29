"""Grids: every combination once, expressions, and what is refused."""

import re

import pytest

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.registry import find
from streamjoin.synth.sweep.arithmetic import evaluate
from streamjoin.synth.sweep.grid import expand, read_axis

HANDSHAKE, NESTED_LOOP = find("handshake"), find("nested-loop")


def grid(designs, *axes):
    return expand(designs, map(read_axis, axes))


def sizes(points):
    return [(point.design.name, getattr(point.parameters, "cores", None), point.parameters.windows) for point in points]


def test_every_combination_once():
    found = grid([HANDSHAKE], "cores=2,4", "scan=parallel,sequential", "window=16")
    assert [(point.parameters.cores, point.parameters.scan) for point in found.points] == [
        (2, "parallel"),
        (2, "sequential"),
        (4, "parallel"),
        (4, "sequential"),
    ]
    assert found.points[0].choices == {"cores": "2", "scan": "parallel", "window": "16"}
    assert found.refusals == []


def test_a_preset_is_where_parameters_start_from():
    found = grid([HANDSHAKE], "preset=paper-001,parallel-64", "window=2*cores", "core_queue=16")
    assert [(point.parameters.scan, point.parameters.windows) for point in found.points] == [
        ("sequential", (128, 128)),
        ("parallel", (128, 128)),
    ]
    assert found.points[0].choices["preset"] == "paper-001"
    refused = grid([HANDSHAKE, NESTED_LOOP], "preset=parallel-64").refusals
    assert [(each.design, each.sentence.partition(";")[0]) for each in refused] == [
        ("nested-loop", "nested-loop has no preset 'parallel-64'")
    ]


def test_a_value_may_depend_on_others():
    found = grid([HANDSHAKE], "cores=2,4", "segment=8,16", "window=segment*cores", "core_queue=max(4,cores)")
    assert [point.parameters.window_r for point in found.points] == [16, 32, 32, 64]
    assert {point.parameters.core_queue for point in found.points} == {4}
    # Numbers in expressions are written as everywhere.
    assert grid([HANDSHAKE], "cores=04", "window=0.5Ki//cores").points[0].parameters.windows == (128, 128)
    # What is not given has its default: 8 cores.
    assert grid([HANDSHAKE], "window_r=3*cores").points[0].parameters.windows == (24, 64)


def test_designs_pass_over_what_they_do_not_have():
    found = grid([HANDSHAKE, NESTED_LOOP], "cores=2,4", "scan=parallel,sequential", "window=8*cores")
    assert sizes(found.points)[4:] == [("nested-loop", None, (16, 16)), ("nested-loop", None, (32, 32))]
    assert len(found.points) == 6


def test_one_design_alone():
    found = grid([HANDSHAKE, NESTED_LOOP], "window=16", "nested-loop.window=32,64", "nested-loop.storage=registers")
    assert sizes(found.points) == [
        ("handshake", 8, (16, 16)),
        ("nested-loop", None, (32, 32)),
        ("nested-loop", None, (64, 64)),
    ]


def test_what_a_design_refuses_is_told():
    found = grid([HANDSHAKE], "cores=4", "window=2,8", "scan=sequential,parallel", "storage=registers,memory")
    assert len(found.points) == 3
    sentences = {refusal.sentence for refusal in found.refusals}
    assert any("window_r=2 cannot be shared by 4 cores" in sentence for sentence in sentences)
    assert any("scan=parallel sees a whole segment at once" in sentence for sentence in sentences)
    assert len(found.points) + len(found.refusals) == 8


@pytest.mark.parametrize(
    ("sentence", "axes"),
    [
        ("-p takes NAME=VALUE,VALUE,…, not 'cores'", ["cores"]),
        ("-p takes NAME=VALUE,VALUE,…, not 'cores=1,,2'", ["cores=1,,2"]),
        ("-p cores=1,1 has a value twice", ["cores=1,1"]),
        ("-p cores is given twice", ["cores=1", "cores=2"]),
        ("there is no parameter coers; there are window, span, preset, window_r", ["coers=1"]),
        ("-p llhj.cores names a design that is not swept", ["llhj.cores=1"]),
        ("give each with --predicate", ["predicate=equi"]),
    ],
)
def test_slips_of_the_pen(sentence, axes):
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        grid([HANDSHAKE], *axes)


@pytest.mark.parametrize(
    ("sentence", "axes"),
    [
        ("window needs cores needs window: give one of them as a number", ["window=8*cores", "cores=window//8"]),
        ("'8**cores' is no whole number", ["window=8**cores"]),
        ("'__import__(1)' is no whole number", ["window=__import__(1)"]),
        ("window needs width, which is no number here", ["window=width"]),
        ("'8//0' divides by 0", ["window=8//0"]),
    ],
)
def test_expressions_that_cannot_be_worked_out_are_refused(sentence, axes):
    found = grid([HANDSHAKE], *axes)
    assert found.points == []
    assert sentence in found.refusals[0].sentence


def test_arithmetic():
    values = {"cores": 4, "segment": 8}
    assert evaluate("cores*segment - (3 + 1)//2 % 5", values.get) == 30
    assert evaluate("-min(cores, segment) + max(1, 2, 3)", values.get) == -1
    assert [evaluate(text, values.get) for text in ("010", "0x10", "-7")] == [10, 16, -7]
    for text in ("1.5", "'a'", "cores.real", "[1][0]", "True", "", "lambda: 1", "max()"):
        with pytest.raises(ParameterError, match="is no whole number"):
            evaluate(text, values.get)
