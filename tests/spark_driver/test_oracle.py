from itertools import product

import pytest
from pyspark.sql import functions as fn

from streamjoin.reference.arrivals import Row, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.overflow import lost_results
from streamjoin.reference.predicates import Predicate, parse_predicate
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver import oracle as module
from streamjoin.spark_driver.data_source import NAME
from streamjoin.spark_driver.oracle import Oracle
from streamjoin.spark_driver.sources import lane_of, to_text
from tests.own_predicates import always, one_sided
from tests.strategies import written

CASES = {
    "equi": ("equi", 0.05, Windows((5, 9)), "random"),
    "zipf": ("equi", None, Windows((13, 14)), "bursty"),
    "band": ("band:3", 0.1, Windows((7, 1)), "bursty"),
    "two keys": ("band2:3,40", 0.1, Windows((4, 6)), "random"),
    "less than": ("lt", 0.3, Windows((2, 3)), "one-sided"),
    "time": ("equi", 0.2, Windows((3, 2), (9, 5)), "bursty"),
    "long times": ("lt", 0.1, Windows((99, 3), (7, 1 << 62)), "random"),
    "three streams": ("equi", 0.3, Windows((3, 2, 4)), "random"),
    "one side": (one_sided, None, Windows((4, 6)), "random"),
    "always": (always, None, Windows((2, 1, 3)), "random"),
    "far apart": (f"band:{10**20}", None, Windows((3, 2)), "random"),
}
#: Conditions that 64 bits are too few for, or that Spark has to look up by equality.
CONDITIONS = (
    "r.key == s.key",
    "r.key == s.key + 3",
    "(r.key == s.key + 2**62) | (r.key2 < s.key2)",
    "r.key != s.key + 1",
    "r.key - s.key <= 10**20",
    "s.key - r.key > -(10**20)",
    "r.key + s.key >= 2**63",
    "r.key + r.key + r.key2 < s.key + s.key2 + 2**64",
    "(r.key == 3) & (2 < s.key2)",
    "(r.key < 10**20) & (s.key == 3)",
    "-s.key2 == -(2**63 - 1)",
    "True & (r.key2 <= 2)",
    "r.key == r.key",
    "False",
)


@pytest.mark.parametrize("case", CASES)
def test_spark_sql_joins_as_plain_python_does(spark, case, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 100)
    spec, rate, windows, arrivals = CASES[case]
    predicate = parse_predicate(spec) if isinstance(spec, str) else Predicate("own:own", spec)
    workload = Workload(
        streams=windows.streams,
        seed=7,
        predicate=predicate if isinstance(spec, str) else parse_predicate("equi"),
        key_width=32 if rate is not None or case == "zipf" else 4,
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
        for row in window_join(lane_of(workload, lane).slice(0, 400), predicate, windows)
    }
    lost = [
        sum(map(len, lost_results(lane_of(workload, lane).slice(0, 400), workload.predicate, windows)))
        for lane in (0, 1)
        if windows.spans is not None
    ]
    names = [f"n{stream}" for stream in range(windows.streams)]
    with Oracle(spark.read.format(NAME).options(**options).load(), predicate, windows) as oracle:
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


def test_conditions_mean_the_same_in_spark_sql(spark):
    keys = (0, 1, 2, 3, 4, 2**62, 2**62 + 1, 2**63 - 2, 2**63 - 1)
    tuples = [Row(0, key, key2) for key, key2 in zip(keys, (2, 0, 3, 2**63 - 1, 1, 2, 9, 0, 2**63 - 1), strict=True)]
    predicates = [Predicate("own:own", written(text), ("key", "key2")) for text in CONDITIONS]
    pairs = list(product(tuples, tuples))
    rows = [(number, r.key, r.key2, s.key, s.key2) for number, (r, s) in enumerate(pairs)]
    table = spark.createDataFrame(rows, "number long, key_0 long, key2_0 long, key_1 long, key2_1 long")
    for text, predicate in zip(CONDITIONS, predicates, strict=True):
        condition = fn.lit(True) & module._holds(predicate, 0, 1)
        found = sorted(row.number for row in table.where(condition).select("number").collect())
        assert found == [number for number, (r, s) in enumerate(pairs) if predicate.holds(r, s)], text
