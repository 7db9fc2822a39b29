import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as fn

from streamjoin.spark_driver.checksum import checksum, xxhash64

NUMBERS = st.lists(st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)), max_size=20)


def test_hashes_are_those_of_spark(spark):
    edges = [0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1]
    rows = np.array([(r, s, r ^ s) for r in edges for s in edges])
    table = spark.createDataFrame(pd.DataFrame(rows, columns=["a", "b", "c"])).select(
        "a", "b", "c", fn.xxhash64("a", "b", "c").alias("hash")
    )
    for row in table.collect():
        assert int(xxhash64([(row.a, row.b, row.c)])[0]) == row.hash % 2**64


@given(NUMBERS, st.randoms())
def test_the_order_of_results_does_not_matter_but_copies_do(rows, random):
    rows = np.array(rows, np.int64).reshape(-1, 2)
    shuffled = rows[random.sample(range(len(rows)), len(rows))]
    assert checksum(rows) == checksum(shuffled)
    if len(rows):
        assert checksum(np.concatenate([rows, rows[:1]])) != checksum(rows)
        assert checksum(rows[1:]) != checksum(rows)
