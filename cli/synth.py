"""Measure what a design costs on a device: area, clock, and the path that limits it."""

import argparse

from tqdm import tqdm

from streamjoin.cli import completion
from streamjoin.cli import summary as summary_option
from streamjoin.cli.arguments import add_design, read_design, whole
from streamjoin.cli.progress import note
from streamjoin.support.files import InputError
from streamjoin.synth.flow.cost import Cost, measure, stages
from streamjoin.synth.flow.parts import Kind, kinds
from streamjoin.synth.flow.targets import ESTIMATE, TARGETS, Target, find
from streamjoin.synth.flow.tools import versions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    target = parser.add_argument(
        "--target", metavar="T", help="the device; --targets lists them; T@MHZ asks for that clock"
    )
    completion.completed(target, completion.targets)
    parser.add_argument("--targets", action=_ListTargets, help="list the targets and end")
    parser.add_argument("--seeds", type=whole(1), default=1, metavar="K", help="place and route K times (default 1)")
    parser.add_argument("--jobs", type=whole(1), default=1, metavar="N", help="seeds at a time (default 1)")
    parser.add_argument("--area-only", action="store_true", help="leave out place and route, and with it the clock")
    parser.add_argument("--parts", action="store_true", help="measure each kind of part by itself, slowest first")
    summary_option.add_argument(parser)


class _ListTargets(argparse.Action):
    """Needs neither a design nor a target, as ``--help`` does not."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, nargs=0, **kwargs)

    def __call__(self, parser, *_) -> None:
        for target in TARGETS.values():
            print(f"{target.name:14} {target.device + ':':42} {_clock_of(target)}")
        parser.exit()


def _clock_of(target: Target) -> str:
    return f"area and {target.clock} clock" if target.router else f"area and {target.clock}" if target.clock else "area"


def run(arguments: argparse.Namespace) -> int:
    if arguments.target is None:
        raise InputError(f"--target is missing: give one of {', '.join(TARGETS)}")
    target = find(arguments.target)
    target = target.without_clock() if arguments.area_only else target
    design, parameters = read_design(arguments)
    summary_option.check(arguments)
    title = " ".join([design.name, *(f"-p {given}" for given in arguments.parameters)])
    summary = {"design": design.name, "parameters": parameters.as_dict(), "target": target.name}
    with note(f"starting the tools for {target.name} (once on a machine, this takes up to a minute)"):
        versions(target)
    component = design.component(parameters)
    if arguments.parts:
        costs = _measure_parts(kinds(component), target, title, arguments)
        summary |= {"parts": [_part_as_dict(kind, cost) for kind, cost in costs]}
        text = _table(title, costs, target)
    else:
        with _bar(stages(target, arguments.seeds)) as bar:
            cost = _measure(component, target, title, arguments, bar)
        summary |= cost.as_dict()
        text = _in_words(title, cost, target)
    summary_option.tell(arguments, summary, text)
    return 0


def _bar(total: int) -> tqdm:
    return tqdm(total=total, desc="synthesis", unit=" steps", disable=None, leave=False)


def _measure(component, target: Target, name: str, arguments: argparse.Namespace, bar: tqdm) -> Cost:
    def progress(stage: str) -> None:
        bar.set_description(f"{stage} done")
        bar.update()

    return measure(component, target, name=name, seeds=arguments.seeds, jobs=arguments.jobs, progress=progress)


def _measure_parts(
    parts: list[Kind], target: Target, title: str, arguments: argparse.Namespace
) -> list[tuple[Kind, Cost]]:
    """What each kind costs by itself; where there is a clock, the slowest first, else the largest."""
    with _bar(len(parts) * stages(target, arguments.seeds)) as bar:
        costs = [(kind, _measure(kind.make(), target, f"{kind.name} of {title}", arguments, bar)) for kind in parts]
    return sorted(costs, key=lambda pair: pair[1].median_mhz or -pair[1].luts)


def _part_as_dict(kind: Kind, cost: Cost) -> dict:
    return {"kind": kind.name, "first": kind.first, "count": kind.count, **cost.as_dict()}


def _in_words(title: str, cost: Cost, target: Target) -> str:
    lines = [f"{title} on {target.name} ({target.device})"]
    if cost.clock == ESTIMATE:
        lines.append(f"  clock: {cost.median_mhz:.0f} MHz by logic delays alone, an estimate that knows no routing")
    elif cost.fmax_mhz:
        spread = f" ({cost.min_mhz:.1f} to {cost.max_mhz:.1f} over {len(cost.fmax_mhz)} seeds)"
        lines.append(f"  clock: {cost.median_mhz:.1f} MHz post-route{spread if len(cost.fmax_mhz) > 1 else ''}")
    else:
        lines.append("  clock: not known for this target, only the area")
    lines.append("  area: " + ", ".join(_area(cost, target)))
    if cost.ram_as_registers:
        lines.append(f"  of {cost.memory_bits} bits of memory, {cost.ram_as_registers} found no RAM and are registers")
    if cost.lost_memories:
        lines.append(f"  among them should be RAM: {', '.join(cost.lost_memories)}")
    if cost.critical_path.steps:
        lines.append(f"  longest path: {cost.critical_path}")
    lines.append(f"  {cost.seconds:.1f} s, " + ", ".join(f"{name} {number}" for name, number in cost.versions.items()))
    return "\n".join(lines)


def _area(cost: Cost, target: Target) -> list[str]:
    counts = {"luts": (cost.luts, "LUTs"), "ffs": (cost.ffs, "registers"), "brams": (cost.brams, "block RAMs")}
    words = []
    for resource, (count, word) in counts.items():
        share = f" ({count / target.capacity[resource]:.1%})" if resource in target.capacity else ""
        words.append(f"{count} {word}{share}")
    return words if not cost.lutrams else [*words, f"{cost.lutrams} memories in LUTs"]


def _table(title: str, costs: list[tuple[Kind, Cost]], target: Target) -> str:
    label = {"post-route": "MHz", ESTIMATE: "MHz (est.)", None: ""}[target.clock]
    lines = [
        f"{title} on {target.name}: its kinds of parts, each by itself",
        f"  {'kind':18} {'count':>5} {label:>10} {'LUTs':>7} {'FFs':>7} {'BRAMs':>5}  where",
    ]
    for kind, cost in costs:
        clock = f"{cost.median_mhz:.1f}" if cost.fmax_mhz else ""
        where = kind.first or "the whole design"
        lines.append(f"  {kind.name:18} {kind.count:5} {clock:>10} {cost.luts:7} {cost.ffs:7} {cost.brams:5}  {where}")
    slowest = costs[0][1].critical_path
    return "\n".join([*lines, *([f"  longest path of the first: {slowest}"] if slowest.steps else [])])
