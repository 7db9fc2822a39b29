"""Place and route with nextpnr: one run for each seed, side by side, each kept once it is finished."""

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from streamjoin.sim import cache
from streamjoin.synth import tools
from streamjoin.synth.floorplan import RamRows, pin_rams
from streamjoin.synth.netlist import Netlist
from streamjoin.synth.targets import CONSTRAINTS, Target


def place_and_route(
    netlist: Netlist,
    target: Target,
    seeds: Iterable[int],
    *,
    crowded: bool = False,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> dict[int, dict]:
    """nextpnr's reports by seed: ``fmax``, ``utilization`` and ``critical_paths``; what was done before is not redone.

    A ``crowded`` device is one that the design leaves little room on: targets may have arguments for that, and places
    for block RAM (:mod:`streamjoin.synth.floorplan`).
    ``jobs`` runs go on at a time. ``progress`` hears each seed as it is finished. Whatever ends the call early, be it
    an error or an interrupt, ends its runs too.
    """
    program = tools.router(target)
    has_rams = any(kind in netlist.cells for kind in target.brams)
    rows = target.ram_rows if crowded and has_rams else ()
    effort = [*target.router[1:], *(target.crowded if crowded else ()), "--freq", str(target.goal_mhz)]
    reports: dict[int, dict] = {}
    with tools.Children() as children, ThreadPoolExecutor(jobs) as pool:

        def one(seed: int) -> tuple[int, dict]:
            return seed, _report(
                program, netlist, target, [*effort, "--timing-allow-fail", "--seed", str(seed)], rows, children
            )

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
    program: str, netlist: Netlist, target: Target, options: list[str], rows: RamRows, children: tools.Children
) -> dict:
    def build(folder: Path) -> None:
        netlist.write(folder / "netlist.json")
        if rows:
            cells = json.loads((folder / "netlist.json").read_text())
            pin_rams(cells, target.brams, rows)
            (folder / "netlist.json").write_text(json.dumps(cells))
        (folder / "constraints").write_text(target.constraints)
        # Names without folders: a tool of YoWASP sees the folder it runs in, but has a /tmp of its own.
        files = ["--json", "netlist.json", "--report", "report.json", "--log", "nextpnr.log"]
        placed = [option.replace(CONSTRAINTS, "constraints") for option in options]
        children.run([program, "--quiet", *files, *placed], folder=folder)
        (folder / "netlist.json").unlink()

    key = cache.key_of(
        "route", netlist.hash, tools.router_version(program), target.constraints, *options, *sum(rows, ())
    )
    return json.loads((cache.entry(key, build) / "report.json").read_text())
