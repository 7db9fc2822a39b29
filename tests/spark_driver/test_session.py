import socket
import tempfile
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark import SparkContext

from streamjoin.spark_driver.errors import SparkError
from streamjoin.spark_driver.session import reason, spark_session

LISTENING = "0A"


def listening(pid):
    """The addresses, in hexadecimal, on which a process takes connections."""
    links = (str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.exists())
    sockets = {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and fields[9] in sockets:
                yield fields[1].partition(":")[0]


def test_every_port_of_a_local_run_is_on_the_loopback(spark):
    spark.range(10, numPartitions=2).count()
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    addresses = set(listening(SparkContext._gateway.proc.pid))
    assert addresses
    assert addresses <= loopback


def test_settings_of_a_local_run(spark):
    assert spark.conf.get("spark.sql.warehouse.dir").startswith(f"file:{tempfile.gettempdir()}/streamjoin-spark-")
    assert spark.sparkContext.master == "local[2,4]"


def test_a_master_that_does_not_answer():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(SparkError, match=f"the master spark://127.0.0.1:{port} cannot be reached"):
            with spark_session(f"spark://127.0.0.1:{port}"):
                pass


@pytest.mark.parametrize("master", ["spark://nohost", "spark://127.0.0.1:99999999"])
def test_a_master_that_cannot_be(master):
    with pytest.raises(SparkError, match="cannot be reached"), spark_session(master):
        pass


def test_a_master_of_no_known_kind():
    with (
        pytest.raises(SparkError, match=r"'mesos://x' is no Spark master: write local\[N\]"),
        spark_session("mesos://x"),
    ):
        pass


FAILED_TASK = """\
An error occurred while calling o42.collect.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 3 in stage 0.0 failed 4 times.
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""


STOPPED = """\
An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.
\tat org.apache.spark.SparkContext.assertNotStopped(SparkContext.scala:131)

And it was stopped at:
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FAILED_TASK, "Job aborted due to stage failure: Task 3 in stage 0.0 failed 4 times"),
        ("Traceback (most recent call last):\n  File x\nValueError: no such thing\n", "ValueError: no such thing"),
        (STOPPED, "IllegalStateException: Cannot call methods on a stopped SparkContext"),
        ("", "RuntimeError"),
    ],
)
def test_the_reason_of_an_error_is_one_line(text, sentence):
    assert reason(RuntimeError(text)).endswith(sentence)


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("no answer")])
def test_a_java_that_is_gone(error):
    assert reason(error) == "its Java is gone, killed or out of memory"
