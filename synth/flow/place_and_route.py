"""Place and route with nextpnr: one run for each seed, side by side, each kept once it is finished."""

import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from streamjoin.support import cache
from streamjoin.synth.flow import tools
from streamjoin.synth.flow.floorplan import Floorplan
from streamjoin.synth.flow.netlist import Netlist
from streamjoin.synth.flow.targets import CONSTRAINTS, Target

#: Shares of a device above which a floorplan pays, and above which the usual placer does not.
_FLOORPLANNED, _CROWDED = 0.14, 0.2
#: A router that still rips up after so many rounds does so for ever; those that came to an end took up to 229.
_PATIENCE = 400
#: Cores that a floorplan can hold together.
_CHAIN = re.compile(r"\bcore1\b")
#: What is asked of a router that does not come to an end: so much of the goal, one after the other.
_GOALS = (1, 0.96, 0.92)
_ROUND = re.compile(rb"iter=(\d+) wires=")


def place_and_route(
    netlist: Netlist,
    target: Target,
    seeds: Iterable[int],
    *,
    share: float = 0,
    closed: bool = False,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> dict[int, dict]:
    """nextpnr's reports by seed: ``fmax``, ``utilization`` and ``critical_paths``; what was done before is not redone.

    ``share`` is how much of the device the design takes. Where that leaves little room, targets may have arguments for
    it, and before that, for a chain of cores, places for its block RAM (:mod:`streamjoin.synth.flow.floorplan`);
    ``closed`` says that the ends of the chain are neighbours. A run that insists on its goal without end is done again
    with a goal a little lower, and at last without ``target.insistence``. ``jobs`` runs go on at a time. ``progress``
    hears each seed as it is finished. Whatever ends the call early, be it an error or an interrupt, ends its runs too.
    """
    program = tools.router(target)
    assert program is not None  # or there is nothing to be asked of this target
    has_rams = any(kind in netlist.cells for kind in target.brams)
    planned = has_rams and share > _FLOORPLANNED and _CHAIN.search(netlist.verilog)
    floorplan = Floorplan(target.ram_rows, closed) if planned and target.ram_rows else None
    # The placer for crowded devices does not end where block RAMs are left to it.
    crowded = floorplan or (share > _CROWDED and not has_rams)
    effort = [*target.router[1:], *(target.crowded if crowded else ()), "--timing-allow-fail"]
    reports: dict[int, dict] = {}
    with tools.Children() as children, ThreadPoolExecutor(jobs) as pool:

        def one(seed: int) -> tuple[int, dict]:
            return seed, _report(program, netlist, target, [*effort, "--seed", str(seed)], floorplan, children)

        runs = [pool.submit(one, seed) for seed in seeds]
        try:
            for run in as_completed(runs):
                seed, report = run.result()
                reports[seed] = report
                if progress:
                    progress(seed)
        except BaseException:
            children.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return dict(sorted(reports.items()))


def _report(
    program: str,
    netlist: Netlist,
    target: Target,
    options: list[str],
    floorplan: Floorplan | None,
    children: tools.Children,
) -> dict:
    def build(folder: Path) -> None:
        netlist.write(folder / "netlist.json")
        if floorplan:
            cells = json.loads((folder / "netlist.json").read_text())
            floorplan.pin_rams(cells, target.brams)
            (folder / "netlist.json").write_text(json.dumps(cells))
        (folder / "constraints").write_text(target.constraints)
        # Names without folders: a tool of YoWASP sees the folder it runs in, but has a /tmp of its own.
        files = ["--json", "netlist.json", "--report", "report.json", "--log", "nextpnr.log"]
        placed = [option.replace(CONSTRAINTS, "constraints") for option in options]
        command = [program, "--quiet", *files, *placed]
        log = folder / "nextpnr.log"
        for share in _GOALS:
            try:
                goal = ["--freq", f"{share * target.goal_mhz:g}"]
                children.run([*command, *goal], folder=folder, is_hopeless=lambda: _rounds(log) > _PATIENCE)
                break
            except tools.HopelessError:
                continue
        else:
            calm = [word for word in command if word not in target.insistence]
            children.run([*calm, "--freq", str(target.goal_mhz)], folder=folder)
        (folder / "netlist.json").unlink()

    plan = floorplan.words if floorplan else ()
    goal = str(target.goal_mhz)
    key = cache.key_of("route", netlist.hash, tools.router_version(program), target.constraints, *options, goal, *plan)
    return json.loads((cache.entry(key, build) / "report.json").read_text())


def _rounds(log: Path) -> int:
    """How many times the router has gone over all nets so far."""
    try:
        with log.open("rb") as text:
            text.seek(max(0, log.stat().st_size - 4096))
            rounds = _ROUND.findall(text.read())
    except FileNotFoundError:
        return 0
    return int(rounds[-1]) if rounds else 0
