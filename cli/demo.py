"""``make demo``: a handshake join from Amaranth to a checked simulation, in one go."""

import sys
from pathlib import Path

from tqdm import tqdm

import streamjoin
from streamjoin.cli.errors import guarded
from streamjoin.cli.progress import shown_on
from streamjoin.report.match_rate import draw_throughput
from streamjoin.sim.run.match_rate import measure

FOLDER = Path("demo-output")
CORES, WINDOW = 16, 128
RATES = (0, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    join = streamjoin.join("handshake", cores=CORES, window=WINDOW)
    print(f"Building a handshake join of {CORES} cores, windows of {WINDOW} tuples …", flush=True)
    with tqdm(unit=" tuples", disable=None, leave=False) as bar:
        run = join.simulate(tuples=100_000, match_rate=1e-3, progress=shown_on(bar))
    summary = run.summary()
    print(
        f"Simulated {summary['cycles']:,} cycles in {summary['sim_seconds']:.1f} s: {summary['tuples']:,} tuples in, "
        f"{summary['results']:,} results out, {summary['tuples_per_cycle']:.2f} tuples a cycle."
    )
    if not run.exact:
        print(f"The result differs from the reference: {run.simulation.known_difference.describe()}", file=sys.stderr)
        return 1
    print("Each of the reference's results came out exactly once, and no other.")

    join.verilog().write(FOLDER / "handshake.v")
    print("Measuring how throughput falls as the match rate rises …", flush=True)
    contenders = {
        f"handshake, parallel scan, {CORES} cores": join,
        f"handshake, sequential scan, {CORES} cores": streamjoin.join(
            "handshake", cores=CORES, window=WINDOW, scan="sequential"
        ),
        "nested loop, 1 core": streamjoin.join("nested-loop", window=WINDOW),
    }
    series = {
        name: measure(each.simulator, RATES, lambda rate: 40_000 if rate < 0.1 else 4_000)
        for name, each in tqdm(contenders.items(), unit=" designs", disable=None, leave=False)
    }
    if not all(point.exact for points in series.values() for point in points):
        print("A result differs from the reference.", file=sys.stderr)
        return 1
    picture = FOLDER / "throughput.png"
    draw_throughput(series, f"Throughput against match rate, windows of {WINDOW} tuples", picture)

    for name, points in series.items():
        print(f"  {name}: {points[0].tuples_per_cycle:.3f} tuples a cycle without matches")
    next_steps = {
        picture: "throughput against match rate",
        FOLDER / "handshake.v": "the Verilog; handshake.json beside it says how to speak to it",
        ".venv/bin/streamjoin designs": "every design and its parameters",
        ".venv/bin/streamjoin sim handshake -p cores=64 -p window=512 --tuples 100000 --match-rate 0.0005": "",
        "README.md, docs/": "how it works, and what it is held to",
    }
    print("\nWhere to look next")
    for what, why in next_steps.items():
        print(f"  {what!s:32} {why}".rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
