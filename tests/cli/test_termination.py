"""What is left when a command is told to end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEADLINE = 60
#: A goal out of reach: its router is still at work when the signal comes.
WORDS = ("synth", "handshake", "-p", "cores=2", "-p", "window=8", "--target", "ecp5-85k@400")


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}").parent
    return [int(word) for task in listed.iterdir() for word in (task / "children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for children where Linux lists them")
@pytest.mark.parametrize(
    ("number", "status", "sentence"),
    [(signal.SIGTERM, 143, "streamjoin: terminated\n"), (signal.SIGINT, 130, "streamjoin: interrupted\n")],
)
def test_no_tool_outlives_its_command(number, status, sentence, tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "streamjoin.cli.main", *WORDS]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + DEADLINE
        while not list(tmp_path.rglob("nextpnr.log")):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until, "no router was started"
            time.sleep(0.05)
        tools = children(process.pid)
        assert tools
        process.send_signal(number)
        _, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (status, sentence)
    assert not any(Path(f"/proc/{tool}").exists() for tool in tools)
