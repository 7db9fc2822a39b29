"""What is left when a command is told to end."""

import os
import signal
import subprocess
import sys
import time

import pytest

DEADLINE = 60
#: A goal out of reach: its router is still at work when the signal comes.
WORDS = ("synth", "handshake", "-p", "cores=2", "-p", "window=8", "--target", "ecp5-85k@400")


@pytest.mark.parametrize(
    ("number", "status", "sentence"),
    [(signal.SIGTERM, 143, "streamjoin: terminated\n"), (signal.SIGINT, 130, "streamjoin: interrupted\n")],
)
def test_no_tool_outlives_its_command(number, status, sentence, tmp_path):
    """The command and its tools are a group of processes of their own: none of it is left."""
    environment = {**os.environ, "STREAMJOIN_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "streamjoin.cli.main", *WORDS]
    pipe = {"stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, start_new_session=True, **pipe) as process:
        until = time.monotonic() + DEADLINE
        while not list(tmp_path.rglob("nextpnr.log")):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until, "no router was started"
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=DEADLINE)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, err) == (status, sentence)
