"""Pan and Jacobsen 2018, table I: what BI-Sort's engines take of a chip."""

import re
from collections.abc import Mapping

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.batch_collector import BatchCollector
from streamjoin.hdl.bisort.batch_store import BatchStore
from streamjoin.hdl.bisort.index_array import IndexArray
from streamjoin.hdl.bisort.insertion_engine import InsertionEngine
from streamjoin.hdl.bisort.parameters import BisortParameters
from streamjoin.hdl.bisort.probing_engine import ProbingEngine
from streamjoin.hdl.registry import find
from streamjoin.report import style
from streamjoin.report.bench.bisort_bench import DDR3
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_line
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.synth.flow.cost import Cost
from streamjoin.synth.flow.cost import measure as measure_cost
from streamjoin.synth.flow.targets import find as find_target

#: As many units as the paper has, each of whose probers has one comparator where ours have two.
PARAMETERS = {
    "window": 65_536,
    "subwindow": 65_536,
    "partitions": 512,
    "batch": 1024,
    "mergers": 8,
    "probers": 4,
    "output": "records",
    **DDR3,
}
TARGETS = ("xc7", "cyclonev", "cycloneiv")
#: The largest chip that open tools place and route holds a small join whole, main arrays included.
WHOLE = {"window": 1024, "batch": 64, "partitions": 64, "mergers": 1, "probers": 1}
WHOLE_TARGET = "ecp5-85k@100"
#: The paper's: logic cells, block RAMs of 20 kilobits each, multipliers.
LOGIC, LOGIC_OF, RAMS, RAMS_OF, RAM_BITS, CLOCK = 178_647, 427_200, 848, 2713, 20_480, 252.7


def parts(parameters: BisortParameters) -> dict[str, Part]:
    """All of the join but the memory of main arrays, which is outside the chip, and the few registers of its steps."""
    p, arrays = parameters, parameters.arrays
    probing = ProbingEngine(arrays, probers=p.probers, ahead=p.ahead, expand=not p.gives_records)
    return {
        "sorters": BatchCollector(arrays, patience=p.collect, on_full=p.on_full),
        "batches": BatchStore(arrays, inserting=p.mergers, probing=probing.clients["batches"]),
        "mergers": InsertionEngine(arrays, mergers=p.mergers, ahead=p.ahead),
        "index": IndexArray(arrays, probing.clients["index"]),
        "probers": probing,
    }


def measure(
    settings: EntrySettings,
    *,
    parameters: Mapping[str, object] = PARAMETERS,
    targets: tuple[str, ...] = TARGETS,
    whole: Mapping[str, object] = WHOLE,
    whole_target: str = WHOLE_TARGET,
) -> dict:
    points = []
    for target in targets:
        for name, component in parts(BisortParameters.parse(parameters)).items():
            settings.progress(f"{name} on {target}")
            cost = measure_cost(component, find_target(target), name=name)
            points.append({"target": target, "part": name, **_counts(cost)})
    settings.progress(f"a small join on {whole_target}")
    design = find("bisort")
    component = design.component(design.parameters(**whole))
    cost = measure_cost(component, find_target(whole_target), name="bisort", seeds=settings.seeds, jobs=settings.jobs)
    clock = {"target": whole_target, "parameters": whole, **_counts(cost), "fmax_mhz": cost.as_dict()["fmax_mhz"]}
    return {"parameters": parameters, "points": points, "whole": clock}


def _counts(cost: Cost) -> dict[str, int]:
    multipliers = sum(number for cell, number in cost.cells.items() if re.search("dsp|mul", cell.lower()))
    counts = {name: getattr(cost, name) for name in ("luts", "ffs", "brams", "memory_bits")}
    return {**counts, "multipliers": multipliers}


def totals(data: dict) -> dict[str, dict[str, int]]:
    """What all parts take together, by target."""
    found: dict[str, dict[str, int]] = {}
    for point in data["points"]:
        total = found.setdefault(
            point["target"], dict.fromkeys(("luts", "ffs", "brams", "memory_bits", "multipliers"), 0)
        )
        for name in total:
            total[name] += point[name]
    return found


def judge(data: dict) -> Verdict:
    found = totals(data)
    most = max(total["luts"] for total in found.values())
    bits = max(total["memory_bits"] for total in found.values())
    multipliers = max(total["multipliers"] for total in found.values())
    least = min(total["luts"] for total in found.values())
    because = (
        f"{least:,} to {most:,} look-up tables, at most {100 * most / LOGIC:.0f} % of the paper's logic cells even if "
        f"each takes a cell to itself; {bits / RAM_BITS:.0f} of its block RAMs would hold the memories; "
        f"{multipliers or 'no'} multipliers; a whole join with one merger and one prober on {_device(data['whole'])} "
        f"runs at {data['whole']['fmax_mhz']['median']:.1f} MHz"
    )
    return Verdict(most <= LOGIC and bits <= RAMS * RAM_BITS and not multipliers, because)


def table(data: dict) -> Table:
    theirs = ("paper", f"{LOGIC:,}", "", f"{RAMS} of 20 Kb", f"{RAMS * RAM_BITS / 1e6:.1f}", "0", f"{CLOCK:g}")
    rows: list[tuple[str, ...]] = [theirs]
    for target, total in totals(data).items():
        mine = [point for point in data["points"] if point["target"] == target]
        rows += [(f"{target}, {point['part']}", *_row(point), "") for point in mine]
        rows.append((f"{target}, all", *_row(total), ""))
    whole = data["whole"]
    rows.append((f"{_device(whole)}, small and whole", *_row(whole), f"{whole['fmax_mhz']['median']:.1f}"))
    return Table(("", "look-up tables", "registers", "block RAMs", "Mb of memory", "multipliers", "MHz"), rows)


def _device(whole: dict) -> str:
    return whole["target"].partition("@")[0]


def _row(counts: dict) -> tuple[str, ...]:
    megabits = f"{counts['memory_bits'] / 1e6:.2f}"
    return f"{counts['luts']:,}", f"{counts['ffs']:,}", f"{counts['brams']:,}", megabits, str(counts["multipliers"])


def chart(data: dict) -> Chart:
    found = totals(data)
    names = list(dict.fromkeys(point["part"] for point in data["points"]))
    looks = style.looks(names)

    def draw(axes, _):
        below = dict.fromkeys(found, 0)
        for name in names:
            shares = {p["target"]: 100 * p["luts"] / LOGIC_OF for p in data["points"] if p["part"] == name}
            bottoms = [below[target] for target in shares]
            axes.bar(list(shares), list(shares.values()), bottom=bottoms, color=looks[name].colour, width=0.5, zorder=3)
            for target, share in shares.items():
                below[target] += share
        claim_line(axes, 100 * LOGIC / LOGIC_OF, "paper: 42 % of an Arria 10's logic cells")
        style.dress(axes, title="Look-up tables, a logic cell each", x="", y="% of 427,200")
        axes.set_ylim(0, 50)

    return Chart(ENTRY.name, f"BI-Sort's area ({ENTRY.source})", ENTRY.claim, [Panel(draw)], looks)


ENTRY = Entry(
    name="003-table-1",
    where="table I",
    title="What BI-Sort takes of a chip",
    claim=(
        "With 8 mergers and 8 probers BI-Sort takes 178,647 of the 427,200 logic cells (42 %) and 848 of the 2713 "
        "block RAMs (31 %) of an Arria 10, and no multiplier, at 252.7 MHz: there is room for more."
    ),
    rule=(
        "On every family the parts take no more look-up tables together than the paper's logic cells, of which each "
        "has room for two; its block RAMs would hold their memories; and there are no multipliers."
    ),
    differs=(
        "Written by hand instead of compiled from OpenCL, and without its interfaces to memory and host. Yosys, for "
        "families that it knows; each part by itself. Subwindows of 64 K tuples, 512 partitions and batches of 1 K: "
        "larger ones take wider addresses, and memory for the index and the batches, which the paper leaves outside. "
        "The clock, of which the rule says nothing, is that of a smaller join on an older and slower chip: of windows "
        "of 1024 with their main arrays, one merger and one prober."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
