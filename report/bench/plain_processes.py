"""Segments driven by plain processes, without Spark: what its overhead is measured against.

``python -m streamjoin.report.bench.plain_processes JSON``: it runs in a process of its own, so that its time can be
told from that of its parent.
"""

import json
import multiprocessing
import sys
import time

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.segment_task import Segmentation, run_segment


def main(design: str, parameters: dict, match_rate: float, tuples: int, segment: int, processes: int = 2) -> dict:
    """Run the segments of so many generated tuples: the sums of their reports, and how long they took."""
    join = find(design)
    given = join.parameters(**parameters)
    source = Workload(
        streams=len(given.streams), key_width=given.key_width, predicate=given.predicate, match_rate=match_rate
    )
    Simulator.build(join, given)  # once, so that processes find it in the cache
    segmentation = Segmentation(tuples, segment)
    jobs = [(join, given, source, *segmentation.bounds(number)) for number in range(len(segmentation))]
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        reports = pool.starmap(_run, jobs, chunksize=1)
    seconds = time.perf_counter() - started
    exact = not any({"differs", "wrong", "error"} & set(report) for report in reports)
    return {"seconds": seconds, "results": sum(report["results"] for report in reports), "exact": exact}


_simulators: dict[str, Simulator] = {}


def _run(design: Design, parameters: JoinParameters, source: Workload, first: int, last: int) -> dict:
    if not _simulators:
        _simulators["own"] = Simulator.build(design, parameters)
    return run_segment(_simulators["own"], source, first, last)


if __name__ == "__main__":
    print(json.dumps(main(**json.loads(sys.argv[1]))))
