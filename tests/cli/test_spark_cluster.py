"""A stand-alone cluster on this machine: a master and two workers of pip's Spark, each a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamjoin.spark_driver.java import java_home
from tests.quick_spark import QUICK_WORDS

DEADLINE = 120
BIN = Path(sys.executable).parent
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{BIN}:{os.environ['PATH']}",
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": f"{LEAN} -Dspark.master.rest.enabled=false",
}
WORDS = ("nested-loop", "-p", "window=256", "--match-rate", "0.001", "--tuples", "80000", "--segment", "8000")


class Cluster:
    """Processes with their logs, killed at the end."""

    def __init__(self, folder):
        self.folder, self.processes = folder, {}
        self.environment = {**ENVIRONMENT, "JAVA_HOME": str(java_home())}
        self.start("master", "--port", "0")
        self.master = self.wait("master", r"Starting Spark master at (spark://\S+)")
        for name in ("first", "second"):
            self.start(name, "--cores", "1", "--memory", "1g", "--work-dir", folder / name, self.master)
        for name in ("first", "second"):
            self.wait(name, r"(Successfully registered with master)")

    def start(self, name, *words):
        kind = "master.Master" if name == "master" else "worker.Worker"
        call = [BIN / "spark-class", f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", "--webui-port", "0"]
        with (self.folder / f"{name}.log").open("w") as log:
            self.processes[name] = subprocess.Popen(
                list(map(str, [*call, *words])), stdout=log, stderr=subprocess.STDOUT, env=self.environment
            )

    def wait(self, name, pattern):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            log = (self.folder / f"{name}.log").read_text()
            if said := re.search(pattern, log):
                return said[1]
            time.sleep(0.1)
        raise AssertionError(log)

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def has_done_a_task(self, worker):
        return any("Finished task" in log.read_text() for log in (self.folder / worker).glob("*/*/stderr"))

    def run(self, *call):
        return subprocess.Popen(
            list(map(str, call)),
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    for name in cluster.processes:
        cluster.kill(name)


def test_a_worker_lost_under_spark_submit(cluster):
    """A run that spark-submit started ends right when a worker is killed in its midst, and counts nothing twice."""
    entry = subprocess.run([BIN / "streamjoin", "spark", "entry"], capture_output=True, text=True, check=True).stdout
    lean = ("--driver-java-options", LEAN, "--conf", f"spark.executor.extraJavaOptions={LEAN}")
    call = ("--master", cluster.master, *lean, entry.strip(), "verify", *WORDS, "--no-oracle", "--json", "s.json")
    with cluster.run(BIN / "spark-submit", *call) as process:
        while process.poll() is None and not cluster.has_done_a_task("second"):
            time.sleep(0.05)
        cluster.kill("second")
        out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    assert "check: exact" in out
    summary = json.loads((cluster.folder / "s.json").read_text())
    assert summary["master"] == cluster.master
    assert (summary["tuples"], summary["segments"], summary["check"]) == (80_000, 10, "exact")
    assert sum(segment["tuples"] for segment in summary["segment_list"]) == 80_000
    assert summary["retries"] > 0
    assert summary["workers"] > 1


IMPATIENT = """\
import sys
from streamjoin.cli.main import main
from streamjoin.spark_driver import executors
executors._PATIENCE_SECONDS = executors._START_SECONDS = 2
sys.exit(main(sys.argv[1:]))
"""


def test_a_cluster_without_workers(cluster):
    for name in ("first", "second"):
        cluster.kill(name)
    call = ("spark", "verify", *WORDS, "--master", cluster.master, *QUICK_WORDS)
    with cluster.run(sys.executable, "-c", IMPATIENT, *call) as process:
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out) == (2, "")
    assert err == (
        f"streamjoin: the master {cluster.master} has had no worker for us for 2 s: "
        "start one, or wait until one is free\n"
    )


def test_interrupted(cluster):
    """Ctrl-C in the midst of a run: one sentence, though Java is being talked to."""
    call = ("-m", "streamjoin.cli.main", "spark", "verify", *WORDS, "--master", cluster.master, *QUICK_WORDS)
    with cluster.run(sys.executable, *call) as process:
        cluster.wait("master", r"(?s)(Registered app.*){3}")
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out, err) == (130, "", "streamjoin: interrupted\n")
