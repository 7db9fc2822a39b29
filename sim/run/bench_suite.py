"""The table of all benches: which components, in which variants, and how to run them."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from amaranth.lib import data

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.hdl.base.part import Ported
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.chain.reorder import Reorder
from streamjoin.hdl.chain.window_store import WindowStore
from streamjoin.hdl.handshake.parallel_core import ParallelCore
from streamjoin.hdl.handshake.sequential_core import SequentialCore
from streamjoin.hdl.lib.control_tree import FanIn, FanOut, tree_depth
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.input_gate import InputGate
from streamjoin.hdl.lib.merger import MERGERS, PunctuatedMerger
from streamjoin.hdl.lib.merging_tree import MergingTree
from streamjoin.hdl.lib.ring import LappedRing
from streamjoin.hdl.llhj.hash_window_store import HashWindowStore
from streamjoin.hdl.lockstep.admission import Admission
from streamjoin.hdl.lockstep.core import JoinCore
from streamjoin.hdl.lockstep.segment import SEGMENTS
from streamjoin.hdl.nested_loop.nested_loop_core import NestedLoopCore
from streamjoin.hdl.registry import key_of
from streamjoin.reference.predicates import parse_predicate
from streamjoin.sim.run.cocotb_runner import BenchReport, run_bench
from streamjoin.sim.verilog.bundle import Bundle

#: A variant of a component: its name, the component, and what the bench must know about it.
Case = tuple[str, Ported, dict]


#: cocotb shows names of at most ten letters.
_SHORT = {"streaming": "stream", "three-state": "three", "registers": "regs", "memory": "ram"}


def _fifos() -> Iterator[Case]:
    for depth, margin in ((1, 0), (2, 1), (4, 0), (5, 3), (70, 4)):
        for trusting in (False, True):
            settings = {"depth": depth, "margin": margin, "trusting": trusting}
            yield f"d{depth}m{margin}" + "t" * trusting, FIFO(16, **settings), settings


def _mergers() -> Iterator[Case]:
    for name, depth in (("streaming", 2), ("three-state", 2), ("streaming", 5), ("three-state", 5)):
        yield f"{_SHORT[name]}{depth}", MERGERS[name](16, depth), {"merger": name, "depth": depth}
    yield "replicated", MERGERS["streaming"](16, 4, replicated=True), {"merger": "streaming", "depth": 4}


def _merging_trees() -> Iterator[Case]:
    for leaves in (1, 2, 3, 5, 8):
        for merger in MERGERS:
            tree = MergingTree(16, leaves, merger=merger, depth=2)
            yield f"{_SHORT[merger]}{leaves}", tree, {"leaves": leaves, "merger": merger}


def _punctuated() -> Iterator[Case]:
    item = data.StructLayout({"number": 12, "leaf": 4, "mark": 1})
    for depth in (2, 5):
        yield f"merger{depth}", PunctuatedMerger(item, depth), {"leaves": 2}
    for leaves in (1, 2, 3, 5, 8):
        yield f"tree{leaves}", MergingTree(item, leaves, depth=2), {"leaves": leaves}
    yield "replicated", MergingTree(item, 5, depth=2, replicated=True), {"leaves": 5}


def _control_trees() -> Iterator[Case]:
    for leaves, radix in ((1, 2), (4, 4), (5, 2), (17, 4)):
        settings = {"leaves": leaves, "depth": tree_depth(leaves, radix)}
        yield f"out{leaves}by{radix}", FanOut(8, leaves, radix=radix), {"kind": "out", **settings}
        yield f"in{leaves}by{radix}", FanIn(leaves, radix=radix), {"kind": "in", **settings}


def _segments() -> Iterator[Case]:
    for storage, kind in SEGMENTS.items():
        for length in (1, 2, 3, 4, 7):
            yield f"{_SHORT[storage]}{length}", kind(_layout(), length), {"length": length}


def _window_stores() -> Iterator[Case]:
    for lanes, rows in ((1, 1), (1, 3), (2, 5), (3, 2), (4, 1)):
        settings = {"lanes": lanes, "rows": rows, "latency": WindowStore.LATENCY}
        yield f"r{rows}by{lanes}", WindowStore(_layout().tuple, LappedRing(lanes, rows)), settings


def _hash_window_stores() -> Iterator[Case]:
    for rows, buckets in ((1, 1), (2, 4), (3, 2), (4, 1), (5, 8), (8, 16)):
        settings = {"rows": rows, "buckets": buckets}
        yield f"r{rows}in{buckets}", HashWindowStore(_layout().tuple, LappedRing(1, rows), buckets), settings


def _reorders() -> Iterator[Case]:
    for arrivals, most in ((2, 1), (4, 3), (8, 1), (8, 6)):
        settings = {"arrivals": arrivals, "most": most}
        yield f"n{arrivals}by{most}", Reorder(_layout(numbered=True), **settings), settings


def _input_gates() -> Iterator[Case]:
    for name, windows, on_full, spans, longest_wait in (
        ("stalls", (5, 3), "stall", None, 20),
        ("drops", (1, 4), "drop", None, 7),
        ("impatient", (2, 2), "drop", None, 0),
        ("timed", (3, 6), "drop", (9, 14), 12),
    ):
        layout = _layout(spans=spans)
        settings = {"windows": windows, "on_full": on_full, "start": 3, "settle": 5, "longest_wait": longest_wait}
        yield name, InputGate(layout, **settings), {**settings, "spans": spans}


def _admissions() -> Iterator[Case]:
    for name, pace, on_full, drain_stream, drain_steps, glance, spans in (
        ("fast", Pace(1, 1, 1), "stall", "r", 4, None, None),
        ("fast_drop", Pace(1, 1, 1), "drop", "s", 1, None, None),
        ("slow", Pace(7, 6, 9), "stall", "s", 3, None, None),
        ("slow_drop", Pace(4, 2, 5), "drop", "r", 0, None, None),
        ("skips", Pace(17, 15, 27), "stall", "s", 9, 6, None),
        ("looks_long", Pace(4, 2, 5), "drop", "r", 8, 11, None),
        ("timed", Pace(4, 2, 5), "stall", "r", 2, None, (9, 14)),
    ):
        settings = {"on_full": on_full, "drain_stream": drain_stream, "drain_steps": drain_steps}
        settings |= {"start": 3, "settle": 5, "glance": glance}
        admission = Admission(_layout(spans=spans), pace, **settings)
        yield name, admission, {"pace": asdict(pace), **settings, "spans": spans}


def _cores() -> Iterator[Case]:
    for predicate, segment_r, segment_s in (("equi", 7, 9), ("band:1", 1, 1), ("lt", 5, 2)):
        segments = {"segment_r": segment_r, "segment_s": segment_s}
        # Neighbours may hold one tuple more: a core scans as long as they do.
        scans = {"scan_r": segment_s + 1, "scan_s": segment_r}
        common = {**segments, "queue": 2, "reaction": 3}
        layout = _layout(predicate)
        kinds: dict[str, tuple[JoinCore, Pace]] = {
            "parallel": (ParallelCore(layout, **common, match_queue=2), ParallelCore.PACE)
        }
        for storage in SEGMENTS:
            sequential = SequentialCore(layout, **common, **scans, storage=storage)
            nested_loop = NestedLoopCore(layout, **common, storage=storage)
            kinds[f"seq_{_SHORT[storage]}"] = sequential, SequentialCore.pace(**scans)
            kinds[f"nest_{_SHORT[storage]}"] = nested_loop, NestedLoopCore.pace(segment_r, segment_s)
        for kind, (core, pace) in kinds.items():
            settings = {"predicate": predicate, "pace": asdict(pace), "latency": core.latency, "reaction": 3}
            yield f"{kind}{segment_r}", core, {**segments, **settings}


def _layout(predicate: str = "equi", **kind) -> TupleLayout:
    return TupleLayout(parse_predicate(predicate), key_width=8, payload_width=12, **kind)


#: The cases of each bench, by the name of its module in ``sim/benches``.
COMPONENT_BENCHES: dict[str, Callable[[], Iterator[Case]]] = {
    "fifo": _fifos,
    "merger": _mergers,
    "merging_tree": _merging_trees,
    "punctuations": _punctuated,
    "control_tree": _control_trees,
    "segment": _segments,
    "window_store": _window_stores,
    "hash_window_store": _hash_window_stores,
    "reorder": _reorders,
    "input_gate": _input_gates,
    "admission": _admissions,
    "core": _cores,
}


def run_component_bench(
    bench: str, *, simulator: str = "verilator", seed: int = 1, waves: Path | None = None
) -> BenchReport:
    """Run one of the :data:`COMPONENT_BENCHES` with all its cases."""
    cases = list(COMPONENT_BENCHES[bench]())
    bundle = Bundle({name: component for name, component, _ in cases})
    settings = {"cases": {name: settings for name, _, settings in cases}}
    return run_bench(bundle, f"{bench}_bench", bench, settings, simulator=simulator, seed=seed, waves=waves)


def run_design_benches(
    design: Design, parameters: JoinParameters, simulator: str = "verilator", waves: Path | None = None, seed: int = 1
) -> BenchReport:
    """Run the bench ``join`` on a design with these parameters."""
    if instead := parameters.output_meaning.instead:
        raise ParameterError(f"the bench looks at combinations, and this join gives {instead}")
    settings = {"design": key_of(design), "parameters": parameters.as_dict()}
    name = design.name.replace("-", "_")
    return run_bench(design.component(parameters), name, "join", settings, simulator=simulator, seed=seed, waves=waves)
