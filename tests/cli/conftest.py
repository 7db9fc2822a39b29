"""What the tests of all commands share."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def streamjoin(tmp_path):
    def run(*words, **environment):
        return subprocess.run(
            [sys.executable, "-m", "streamjoin.cli.main", *map(str, words)],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
            env={**os.environ, **environment},
            check=False,
        )

    return run
