"""A Spark session that keeps quiet, listens to nobody else, and says in one sentence what is wrong.

Whatever Java and Spark have to say goes to a log; where a run fails, the log stays and the error names it.
"""

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkConf, SparkContext
from pyspark import __version__ as pyspark_version
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from streamjoin.spark_driver.errors import SparkError
from streamjoin.spark_driver.executors import expecting_executors
from streamjoin.spark_driver.java import java_home
from streamjoin.support import cache

_LOOPBACK = "127.0.0.1"
_PATIENCE_SECONDS = 5
# A task that fails is tried anew this often; with plain local[N] Spark would give up at once.
_ATTEMPTS = 4
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.task.maxFailures": str(_ATTEMPTS),
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.driver.memory": "4g",
}

#: For a Java that only hands out tasks: its best compiler and collector would cost more than they save.
JAVA_AS_SCHEDULER = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def under_spark_submit() -> bool:
    """Whether spark-submit has started Java already, and chosen the master."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


@contextmanager
def spark_session(
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    *,
    held: Sequence[int] = (),
) -> Iterator[SparkSession]:
    """A session on ``master``, stopped afterwards; ``settings`` are Spark's own, and come last.

    ``held`` are file descriptors that Java keeps open for as long as it lives: locks outlive us that way if we are
    killed and Java is not gone yet.
    """
    with tempfile.TemporaryDirectory(prefix="streamjoin-spark-", ignore_cleanup_errors=True) as scratch:
        log = Path(scratch, "spark.log")
        with _sentences(log):
            spark = _start(master, dict(settings or {}), Path(scratch), log, held)
        try:
            with _sentences(log), expecting_executors(spark.sparkContext):
                yield spark
        finally:
            with suppress(Exception):
                spark.stop()


def _start(master: str, settings: dict[str, str], scratch: Path, log: Path, held: Sequence[int]) -> SparkSession:
    conf = SparkConf().setAppName("streamjoin")
    if not under_spark_submit():
        _check_master(master)
        conf.setMaster(_with_retries(master))
        settings = _SETTINGS | (_loopback() if _is_here(master) else {}) | settings
        settings["spark.sql.warehouse.dir"] = str(scratch / "warehouse")
        if master.startswith("local"):
            os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in settings.items():
        conf.set(name, value)
    gateway = SparkContext._gateway  # Java outlives its sessions
    if gateway is None and not under_spark_submit():
        os.environ["JAVA_HOME"] = str(java_home())
        with log.open("w") as sink:
            gateway = launch_gateway(conf, {"stdout": sink, "stderr": subprocess.STDOUT, "pass_fds": tuple(held)})
    context = SparkContext(conf=conf, gateway=gateway)
    _stay_calm_when_interrupted()
    context.setLogLevel("ERROR" if under_spark_submit() else "WARN")
    return SparkSession(context)


def _stay_calm_when_interrupted() -> None:
    """Spark's own handler of Ctrl-C talks to Java in the midst of talking to Java, and py4j prints what comes of it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.getLogger().addHandler(logging.NullHandler())


def _is_here(master: str) -> bool:
    """Whether all of a run takes place on this machine."""
    return bool(re.match(r"local|spark://(localhost|127\.[\d.]+|\[::1\]):\d+$", master))


def _loopback() -> dict[str, str]:
    """Nothing of a local run is to be reached from elsewhere."""
    os.environ["SPARK_LOCAL_IP"] = _LOOPBACK
    os.environ["SPARK_LOCAL_HOSTNAME"] = _LOOPBACK
    return {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}


def _with_retries(master: str) -> str:
    plain = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{plain[1] or 1},{_ATTEMPTS}]" if plain else master


def _check_master(master: str) -> None:
    """Refuse a stand-alone master that does not answer; Spark itself would take a minute to say so, at length."""
    if not re.match(r"local(-cluster)?\b|spark://|yarn$|k8s://", master):
        raise SparkError(f"{master!r} is no Spark master: write local[N], spark://HOST:PORT, yarn or k8s://URL")
    if not master.startswith("spark://"):
        return
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError, OverflowError):
            socket.create_connection((host, int(port)), timeout=_PATIENCE_SECONDS).close()
            return
    raise SparkError(f"the master {master} cannot be reached: check its name, and that it is running")


@contextmanager
def _sentences(log: Path) -> Iterator[None]:
    """Turn what Spark raises into one sentence, and keep the log."""
    try:
        yield
    except (PySparkException, Py4JError, OSError) as error:
        kept = _keep(log)
        if log.exists() and "All masters are unresponsive" in log.read_text(errors="replace"):
            raise SparkError(
                "the master gave no answer in Spark's language: check that it is one of Spark "
                f"{'.'.join(pyspark_version.split('.')[:2])} and running{kept}"
            ) from error
        raise SparkError(f"Spark failed: {reason(error)}{kept}") from error


def reason(error: BaseException) -> str:
    """The line of an error that says what happened, without the stacks of two languages around it."""
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return "its Java is gone, killed or out of memory"
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith("at ")] or [type(error).__name__]
    telling = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Failure)\b.*:", line)]
    failed = [line for line in lines if "stage failure" in line or "Job aborted" in line]
    line = (failed or telling or lines)[-1]
    return re.sub(r"^(?:[a-z]\w*\.)+", "", line)[:400].rstrip(". ")


def _keep(log: Path) -> str:
    if not log.exists():
        return ""
    kept = cache.directory() / "spark.log"
    shutil.copyfile(log, kept)
    return f" (all of it in {kept})"
