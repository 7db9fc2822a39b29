"""Parameters check themselves and say in one sentence what is wrong."""

import dataclasses

import pytest
from amaranth.hdl import Value

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.parameters import ParameterError, parameter
from streamjoin.hdl.handshake.parallel_core import ParallelCore
from streamjoin.hdl.handshake.parameters import HandshakeParameters, split
from streamjoin.hdl.handshake.sequential_core import SequentialCore
from streamjoin.hdl.lib.control_tree import tree_depth
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.merger import MERGERS
from streamjoin.hdl.lockstep.admission import Admission
from streamjoin.hdl.lockstep.join import LockStepJoin, reaction
from streamjoin.hdl.lockstep.segment import SEGMENTS
from streamjoin.hdl.registry import DESIGNS, find
from streamjoin.reference.predicates import Predicate


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"cores": 0}, "cores must be a whole number from 1 up, not 0"),
        ({"cores": "two"}, "cores must be a whole number, not 'two'"),
        ({"window": -3}, "window_r must be a whole number from 1 up, not -3"),
        ({"cores": 4, "window_s": 3}, "window_s=3 cannot be shared by 4 cores, .*: take cores=3 or fewer"),
        ({"scan": "both"}, "scan is one of parallel, sequential, not 'both'"),
        ({"storage": "memory"}, "take storage=registers, or scan=sequential"),
        ({"on_full": "explode"}, "on_full is one of stall, drop, not 'explode'"),
        ({"merger_queue": 1}, "merger_queue must be at least 2, not 1"),
        ({"fan": 1}, "fan must be at least 2, not 1"),
        ({"span": 0}, "span_r must lie between 1 and 2\\^time_width"),
        ({"span_s": 17, "span": 4, "time_width": 4}, "span_s must lie between 1 and 2\\^time_width = 16, not 17"),
        ({"span_s": 17}, "span_r and span_s go together: give both, or span for both at once, or neither"),
        ({"predicate": "nearly"}, "no predicate is called 'nearly'"),
        ({"colour": "red"}, "there is no parameter colour; there are window, "),
        ({"window": "ten"}, "window must be a whole number, not 'ten'"),
        ({"window": "٣"}, "window must be a whole number, not '٣'"),
        ({"cores": "9" * 5000}, "cores must be a whole number, not '9+…9+'"),
        ({"scan": "\x1b[31m" * 100}, r"scan is one of parallel, sequential, not '\\x1b"),
        ({"x" * 1000: 1}, "there is no parameter x+…x+; there are window, "),
    ],
)
def test_one_sentence_that_names_the_fix(given, sentence):
    with pytest.raises(ParameterError, match=sentence) as caught:
        HandshakeParameters.parse(given)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 280


def test_zeros_in_front_do_not_change_a_number():
    assert HandshakeParameters.parse({"window": "010", "cores": "05"}).windows == (10, 10)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_of_many_parameters_those_are_named_that_are_meant(design):
    for name in design.parameters_type.names():
        with pytest.raises(ParameterError, match=rf"there is no parameter {name}x; there are .*\b{name}\b") as caught:
            design.parameters(**{f"{name}x": 1})
        assert len(str(caught.value)) <= 280


@pytest.mark.parametrize("error", [TypeError, SystemExit])
def test_a_predicate_that_behaves_for_everyone_but_the_gates(error):
    def holds(r, s):
        if isinstance(r.key, Value):
            raise error("not in hardware")
        return r.key == s.key

    sentence = rf"predicate 'mine:own' cannot become gates \({error.__name__}: not in hardware\): return the same"
    with pytest.raises(ParameterError, match=sentence):
        HandshakeParameters(predicate=Predicate("mine:own", holds))


def test_window_sets_both_windows_and_single_ones_win():
    parameters = HandshakeParameters.parse({"window": "0x20", "window_s": 40})
    assert parameters.windows == (32, 40)


def test_span_sets_both_spans_and_single_ones_win():
    assert HandshakeParameters.parse({}).spans is None
    assert HandshakeParameters.parse({"span": "7"}).spans == (7, 7)
    assert HandshakeParameters.parse({"span_r": 9, "span": 7}).spans == (9, 7)
    assert HandshakeParameters.parse({"span": None}).spans is None
    assert find("circular").parameters(span=7, streams=4).spans == (7, 7, 7, 7)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_parameters_survive_the_way_through_json(design):
    for given in ({}, *design.presets.values(), {"span": 5, "predicate": "bands:-1..2,4..5"}):
        parameters = design.parameters(**given)
        assert design.parameters(**parameters.as_dict()) == parameters


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_every_parameter_has_a_meaning(design):
    for field in dataclasses.fields(design.parameters_type):
        assert field.metadata["meaning"], field.name


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_windows_are_listed_first_and_trees_last(design):
    names = design.parameters_type.names()
    assert set(names) == {field.name for field in dataclasses.fields(design.parameters_type)}
    assert list(design.parameters().as_dict()) == names
    windows = [name for name in names if name.startswith("window_")]
    assert [name for name in names if name != "streams"][: len(windows)] == windows
    assert names.index("predicate") > max(names.index(name) for name in design.parameters_type.span_names())
    trees = [name for name in names if name in ("merger", "merger_queue", "fan")]
    assert names[len(names) - len(trees) :] == trees


def test_another_default_leaves_a_parameter_in_its_place():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Larger(HandshakeParameters):
        window_s: int = parameter(1024, "tuples of S in its window")
        fan: int = dataclasses.field(default=8, metadata={"meaning": "branches", "choices": None})

    assert Larger.names() == HandshakeParameters.names()
    assert Larger().windows == (64, 1024)


def test_unknown_design_names_those_there_are():
    with pytest.raises(ParameterError, match="there is no design 'sort-merge'; there are bisort, circular, handshake"):
        find("sort-merge")


def test_split_covers_the_window_evenly():
    assert split(10, 4) == [3, 3, 2, 2]
    assert split(4, 4) == [1, 1, 1, 1]


def test_patience_outlasts_a_drain_of_short_segments():
    """Seeing what moves next takes longer than the pace when cores are many and segments short."""
    parameters = HandshakeParameters.parse({"cores": 80, "window": 80, "fan": 2, "scan": "sequential"})
    step = SequentialCore.glance + reaction(80, 2)
    assert step > parameters.pace.both
    assert parameters.patience > 80 * step


def test_a_chain_refuses_cores_made_for_another():
    parameters = HandshakeParameters.parse({"cores": 1, "window": 2})
    core = ParallelCore(parameters.layout, segment_r=2, segment_s=2, match_queue=1, queue=1, reaction=4)
    queues = {"merger": "streaming", "merger_queue": 2, "fan": 4}
    with pytest.raises(ValueError, match="cores of this chain must be made for a reaction of 3 cycles"):
        LockStepJoin(
            parameters.layout, [core], pace=core.PACE, on_full="stall", drain_stream="r", drain_steps=2, **queues
        )


def test_tree_depth():
    assert [tree_depth(leaves, 4) for leaves in (1, 4, 5, 16, 17, 64, 200)] == [1, 1, 2, 2, 3, 3, 4]
    with pytest.raises(ValueError, match="branch at least in two"):
        tree_depth(4, 1)


def _gate(pace: Pace) -> Admission:
    layout = HandshakeParameters().layout
    return Admission(layout, pace, on_full="stall", drain_stream="r", drain_steps=1, start=1, settle=1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: FIFO(8, 0), "room for at least one item, not 0"),
        (lambda: FIFO(8, 4, margin=4), "a margin of 4 does not fit a queue of 4"),
        (lambda: _gate(Pace(1, 2, 2)), "a pace is one cycle for all commands or at least two for each"),
        (lambda: MERGERS["streaming"](8, 1), "a merger needs a queue of at least 2 results, not 1"),
        (lambda: SEGMENTS["memory"](HandshakeParameters().layout, 0), "room for at least one tuple, not 0"),
    ],
)
def test_components_check_their_sizes(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
