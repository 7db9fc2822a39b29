"""A fingerprint covers whatever has a say in a figure, however it is imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from streamjoin.hdl.registry import find
from streamjoin.synth.sweep import code_fingerprint

# The modules of ours that a point of a sweep has loaded when it has been simulated and checked.
LOADED = """\
import sys
from streamjoin.synth.sweep.grid import expand, read_axis
from streamjoin.synth.sweep.jobs import Simulate, outcomes
from streamjoin.hdl.handshake.design import DESIGN

(point,) = expand([DESIGN], map(read_axis, ("cores=2", "window=8"))).points
job = Simulate(point, (0.1,), 300)
((part, outcome),) = outcomes(job, job.parts())
assert outcome["check"] == "exact", outcome
for name, module in sys.modules.items():
    if name.startswith("streamjoin."):
        print(module.__file__)
"""
TOY = {
    "toy/__init__.py": "from .within import first\n",
    "toy/within.py": "first = 1\n",
    "toy/absolute.py": "",
    "toy/inner/__init__.py": "",
    "toy/inner/start.py": "import toy.absolute\nfrom . import beside\nfrom .. import above\ndef f():\n"
    "    from ..deep.far import value\n",
    "toy/inner/beside.py": "import json\n",
    "toy/inner/unused.py": "",
    "toy/above.py": "",
    "toy/deep/__init__.py": "",
    "toy/deep/far.py": "value = 1\n",
    "toy/deep/table.json": "{}",
}


def test_of_this_package():
    names = {f"{path.parent.name}/{path.name}" for path in code_fingerprint._sources(("streamjoin.sim.run.simulate",))}
    assert {"run/simulate.py", "run/driver.cpp", "reference/compare.py", "support/cache.py"} <= names
    assert {"reference/key_ranges.py", "reference/key_bounds.py", "reference/near_keys.py"} <= names
    assert not any(name.startswith(("report/", "cli/", "synth/")) for name in names)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    for name, text in TOY.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    code_fingerprint.fingerprint.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[name]


def test_every_way_to_import_is_followed(toy):
    found = {str(path.relative_to(toy)) for path in code_fingerprint._sources(("toy.inner.start",))}
    assert found == TOY.keys() - {"toy/inner/unused.py"}


def test_what_lies_beside_a_module_outside_of_packages_is_not_its_data(toy):
    (toy / "alone.py").write_text("import beside\nfrom toy.deep import far\n")
    (toy / "beside.py").write_text("")
    (toy / "results.json").write_text("{}")
    found = {str(path.relative_to(toy)) for path in code_fingerprint._sources(("alone",))}
    assert {"alone.py", "beside.py", "toy/deep/far.py", "toy/deep/table.json"} <= found
    assert "results.json" not in found


@pytest.mark.parametrize("changed", ["toy/within.py", "toy/absolute.py", "toy/inner/beside.py", "toy/deep/far.py"])
def test_a_change_of_what_is_imported_is_another_fingerprint(toy, changed):
    before = code_fingerprint.fingerprint("toy.inner.start")
    code_fingerprint.fingerprint.cache_clear()
    assert code_fingerprint.fingerprint("toy.inner.start") == before
    code_fingerprint.fingerprint.cache_clear()
    (toy / changed).write_text("# changed\n")
    assert code_fingerprint.fingerprint("toy.inner.start") != before


def test_all_that_a_simulation_loads_is_covered():
    """By a process of its own: this one has loaded everything."""
    loaded = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    files = {Path(line) for line in loaded.splitlines()}
    assert len(files) > 60
    assert not any(path.parent.name == "bisort" for path in files), "the design needs no other one"
    design = find("handshake")
    files = {
        path for path in files if path.parts[-2:] != ("handshake", "design.py")
    }  # which says its name and its presets
    assert files <= code_fingerprint._sources((*design.sources, "streamjoin.synth.sweep.jobs"))
