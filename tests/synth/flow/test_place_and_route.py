"""What place and route does about a router that never comes to an end."""

import json
from types import SimpleNamespace

import pytest

from streamjoin.support import cache
from streamjoin.synth.flow import tools
from streamjoin.synth.flow.place_and_route import place_and_route
from streamjoin.synth.flow.targets import find

# Goes on for ever if told to rip up until a goal is met that is too high; if not, it is done at once.
ROUTER = """#!/bin/sh
if [ "$1" = --version ]; then echo '(Version nextpnr-0.0)'; exit; fi
echo "$@" >> {calls}
case " $* " in *" --tmg-ripup "*"{hard}"*)
  echo "Info:     iter={rounds} wires=7 overused=0" > nextpnr.log
  {waits};;
esac
echo '{{"fmax": {{}}}}' > report.json
"""


@pytest.fixture
def calls_of(tmp_path, monkeypatch):
    def run(**how):
        program, calls = tmp_path / "nextpnr-ecp5", tmp_path / "calls"
        program.write_text(ROUTER.format(calls=calls, **how))
        program.chmod(0o755)
        netlist = SimpleNamespace(hash="none", cells={}, write=lambda path: path.write_text("{}"))
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        monkeypatch.setattr(cache, "entry", lambda _, build: build(tmp_path) or tmp_path)
        monkeypatch.setattr(tools, "_GLANCE", 0.1)
        assert place_and_route(netlist, find("ecp5-25k"), [3]) == {3: {"fmax": {}}}
        assert json.loads((tmp_path / "report.json").read_text()) == {"fmax": {}}
        return [call.split() for call in calls.read_text().splitlines()]

    return run


def test_one_that_rips_up_for_ever_is_asked_for_less(calls_of):
    first, second = calls_of(rounds=401, waits="exec sleep 60", hard="--freq 170")
    assert second[-2:] == ["--freq", "163.2"]
    assert second[:-1] == first[:-1]


def test_and_at_last_runs_without(calls_of):
    *others, last = calls_of(rounds=401, waits="exec sleep 60", hard="")
    assert [float(call[-1]) for call in others] == pytest.approx([170, 163.2, 156.4])
    assert last == [word for word in others[0] if word != "--tmg-ripup"]


def test_one_that_takes_long_is_left_alone(calls_of):
    (only,) = calls_of(rounds=399, waits="sleep 1", hard="")
    assert "--tmg-ripup" in only
