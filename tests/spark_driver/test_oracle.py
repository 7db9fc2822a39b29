import pytest

from streamjoin.reference.arrivals import Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.overflow import lost_results
from streamjoin.reference.predicates import parse_predicate
from streamjoin.sim.workload import Workload
from streamjoin.spark_driver import oracle as module
from streamjoin.spark_driver.data_source import NAME
from streamjoin.spark_driver.oracle import Oracle
from streamjoin.spark_driver.sources import lane_of, to_text

CASES = {
    "equi": ("equi", 0.05, Windows((5, 9)), "random"),
    "zipf": ("equi", None, Windows((13, 14)), "bursty"),
    "band": ("band:3", 0.1, Windows((7, 1)), "bursty"),
    "two keys": ("band2:3,40", 0.1, Windows((4, 6)), "random"),
    "less than": ("lt", 0.3, Windows((2, 3)), "one-sided"),
    "time": ("equi", 0.2, Windows((3, 2), (9, 5)), "bursty"),
    "long times": ("lt", 0.1, Windows((99, 3), (7, 1 << 62)), "random"),
    "three streams": ("equi", 0.3, Windows((3, 2, 4)), "random"),
}


@pytest.mark.parametrize("case", CASES)
def test_spark_sql_joins_as_plain_python_does(spark, case, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 100)
    spec, rate, windows, arrivals = CASES[case]
    workload = Workload(
        streams=windows.streams,
        seed=7,
        predicate=parse_predicate(spec),
        match_rate=rate,
        arrivals=arrivals,
        keys="zipf" if case == "zipf" else "uniform",
    )
    options = {"source": to_text(workload), "tuples": 400, "lanes": 2, "columns": "key,key2,time"}
    if "key2" not in workload.predicate.fields:
        options["columns"] = "key,time"
    expected = {
        (lane, *row)
        for lane in (0, 1)
        for row in window_join(lane_of(workload, lane).slice(0, 400), workload.predicate, windows)
    }
    lost = [
        sum(map(len, lost_results(lane_of(workload, lane).slice(0, 400), workload.predicate, windows)))
        for lane in (0, 1)
        if windows.spans is not None
    ]
    names = [f"n{stream}" for stream in range(windows.streams)]
    with Oracle(spark.read.format(NAME).options(**options).load(), workload.predicate, windows) as oracle:
        found = [tuple(row) for row in oracle.results().select("lane", *names).collect()]
        some = [tuple(row) for row in oracle.results((100, 250)).select("lane", *names).collect()]
        sums = oracle.checksums(400).orderBy("lane").collect() if lost else []
    assert len(found) == len(set(found))
    assert [row.lost for row in sums] == lost
    assert windows.spans is None or min(lost) > 10
    assert [row.results for row in sums] == [sum(row[0] == lane for row in expected) for lane in range(len(sums))]
    assert set(found) == expected
    assert len(expected) > 20
    assert sorted(some) == sorted(row for row in expected if 100 <= max(row[1:]) < 250)
