"""The quick tier skips what it should, and no more."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import ctypes
import subprocess
import sys

import pytest

CALL = [sys.executable, "-c", ""]

def test_plain():
    pass

@pytest.fixture
def program():
    subprocess.run(CALL, check=True)

def test_started_by_a_fixture(program):
    raise AssertionError

@pytest.mark.parametrize("case", range(3))
def test_cases(case):
    assert case == 0  # the others are not even begun
    subprocess.run(CALL, check=True)

def test_model():
    ctypes.CDLL("./model.so")

@pytest.mark.quick
def test_marked():
    subprocess.run(CALL, check=True)
"""


def outcome(folder: Path, profile: str) -> str:
    (folder / "test_some.py").write_text(TESTS)
    call = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "tests.conftest", "-q", folder]
    environment = os.environ | {"STREAMJOIN_PROFILE": profile}
    root = Path(__file__).parents[1]
    done = subprocess.run(call, cwd=root, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[-1]


def test_what_is_skipped(tmp_path):
    assert outcome(tmp_path, "quick").startswith("2 passed, 5 skipped in ")


def test_nothing_is_skipped_otherwise(tmp_path):
    assert outcome(tmp_path, "ci").startswith("4 failed, 3 passed in ")
