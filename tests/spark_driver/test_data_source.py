import pytest

from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.predicates import parse_predicate
from streamjoin.sim.tuples.workload import ARRIVALS, KEYS, Workload
from streamjoin.spark_driver.data_source import NAME
from streamjoin.spark_driver.sources import from_text, lane_of, ship_arrivals, to_text


def rows(table):
    return [tuple(row) for row in table.orderBy("lane", "seq").collect()]


@pytest.mark.parametrize("keys", KEYS)
def test_spark_reads_the_tuples_that_numpy_makes(spark, keys):
    workload = Workload(seed=5, predicate=parse_predicate("band2:3,4"), match_rate=0.01, keys=keys, arrivals="bursty")
    options = {"source": to_text(workload), "tuples": 1000, "partition": 300, "columns": "key,key2,time"}
    expected = [
        (0, number, row.stream, row.key, row.key2, row.time)
        for number, row in enumerate(workload.slice(0, 1000).rows())
    ]
    assert rows(spark.read.format(NAME).options(**options).load()) == expected


def test_options_in_plain_words_and_lanes(spark):
    options = {"tuples": 50, "seed": 3, "match_rate": 0.5, "keys": "zipf", "key_width": 16, "lanes": 2}
    workload = Workload(seed=3, match_rate=0.5, keys="zipf", key_width=16)
    found = rows(spark.read.format(NAME).options(**options).load())
    assert [row[3] for row in found if row[0] == 0] == workload.slice(0, 50).key.tolist()
    assert [row[3] for row in found if row[0] == 1] == lane_of(workload, 1).slice(0, 50).key.tolist()
    assert lane_of(workload, 0) == workload


def test_tuples_of_a_file_reach_the_workers(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("streamjoin.spark_driver.sources._GROUP_ROWS", 64)
    whole = Workload(seed=1, arrivals="random").slice(0, 500)
    stored = ship_arrivals(spark, tmp_path, Arrivals(whole.stream, whole.key, time=whole.time))
    for start, stop in ((0, 0), (0, 500), (63, 65), (128, 192), (490, 600), (700, 800)):
        assert list(stored.slice(start, stop).rows()) == [
            row._replace(payload=None) for row in whole[start : min(stop, 500)].rows()
        ]


@pytest.mark.parametrize("arrivals", ARRIVALS)
def test_sources_as_text(arrivals):
    workload = Workload(seed=2**70, predicate=parse_predicate("bands:1..2"), match_rate=0.1, arrivals=arrivals)
    assert from_text(to_text(workload)) == workload


def test_the_number_of_tuples_is_needed(spark):
    with pytest.raises(Exception, match="needs the option tuples"):
        spark.read.format(NAME).load()
