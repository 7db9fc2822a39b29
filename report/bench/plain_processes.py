"""Segments driven by plain processes, without Spark: what its overhead is measured against."""

import argparse
import json
import multiprocessing
import time

from streamjoin.cli import tuples
from streamjoin.cli.arguments import add_design, read_design, whole
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.segment_task import Segmentation, run_segment


def main() -> None:
    """Run the segments and print their reports' sums as JSON; arguments as those of ``spark verify``."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_design(parser)
    tuples.add_arguments(parser)
    parser.add_argument("--segment", type=whole(1), required=True)
    parser.add_argument("--processes", type=whole(1), default=2)
    arguments = parser.parse_args()
    design, parameters = read_design(arguments)
    source = tuples.workload(arguments, parameters)
    Simulator.build(design, parameters)  # once, so that processes find it in the cache
    segmentation = Segmentation(arguments.tuples, arguments.segment)
    jobs = [(design, parameters, source, *segmentation.bounds(number)) for number in range(len(segmentation))]
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        reports = pool.starmap(_run, jobs, chunksize=1)
    seconds = time.perf_counter() - started
    exact = not any({"differs", "wrong", "error"} & set(report) for report in reports)
    print(json.dumps({"seconds": seconds, "results": sum(report["results"] for report in reports), "exact": exact}))


_simulators: dict = {}


def _run(design, parameters, source: Workload, first: int, last: int) -> dict:
    if not _simulators:
        _simulators["own"] = Simulator.build(design, parameters)
    return run_segment(_simulators["own"], source, first, last)


if __name__ == "__main__":
    main()
