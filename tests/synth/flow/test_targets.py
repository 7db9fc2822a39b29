"""The targets' data is consistent, and a wrong name is told with all the right ones."""

import dataclasses
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement

from streamjoin.support.toolchain import ToolError
from streamjoin.synth.flow import tools
from streamjoin.synth.flow.targets import CONSTRAINTS, ESTIMATE, POST_ROUTE, TARGETS, TargetError, find

ALL = TARGETS.values()


def test_the_families_are_there():
    families = {name.partition("-")[0] for name in TARGETS}
    assert families >= {"ecp5", "ice40", "nexus", "gowin", "gatemate", "xc7", "cyclonev", "cycloneiv", "max10"}
    assert {"ecp5-25k", "ecp5-45k", "ecp5-85k"} <= set(TARGETS)


@pytest.mark.parametrize("target", ALL, ids=TARGETS)
def test_a_post_route_clock_takes_a_router_and_a_device(target):
    assert (target.clock == POST_ROUTE) == bool(target.router) == bool(target.capacity)
    assert target.clock in (POST_ROUTE, ESTIMATE, None)
    assert bool(target.constraints) == any(CONSTRAINTS in argument for argument in target.router)
    assert set(target.capacity) <= {"luts", "ffs", "brams"}


@pytest.mark.parametrize("target", ALL, ids=TARGETS)
def test_its_tools_are_installed(target):
    assert (tools.router(target) is not None) == bool(target.router)


def test_an_unknown_target_names_all():
    with pytest.raises(TargetError, match="there is no target 'ecp6'; there are ecp5-25k, ") as caught:
        find("ecp6")
    assert all(name in str(caught.value) for name in TARGETS)


def test_a_missing_router_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tools.sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(ToolError, match=r"^nextpnr-ice40 was not found: .*run pip install 'streamjoin\[routers\]'$"):
        tools.router(find("ice40-hx8k"))


@pytest.mark.parametrize("target", [each for each in ALL if each.router], ids=lambda target: target.name)
def test_a_router_comes_with_the_project_or_that_extra(target):
    """So that the sentence above names the fix whichever it is."""
    ours = {(each.name, str(each.marker)) for each in map(Requirement, requires("streamjoin"))}
    package = f"yowasp-nextpnr-{target.router[0]}"
    assert ours & {(package, "None"), (package, 'extra == "routers"')}


def test_a_native_router_goes_first(tmp_path, monkeypatch):
    native = tmp_path / "nextpnr-ecp5"
    native.write_text(
        "#!/bin/sh\necho 'nextpnr-ecp5 -- Next Generation Place and Route (Version nextpnr-0.7-1-gabc)'\n"
    )
    native.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tools.router(find("ecp5-25k")) == str(native)
    assert tools.versions(find("ecp5-25k"))["nextpnr-ecp5"] == "0.7-1-gabc"


def test_another_goal_is_another_target():
    device, asked = find("ecp5-25k"), find("ecp5-25k@200")
    assert asked == dataclasses.replace(device, name="ecp5-25k@200", goal_mhz=200)
    assert device.goal_mhz != 200


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ecp5-25k@", "'ecp5-25k@' must end in a clock in whole MHz, such as ecp5-25k@170"),
        ("ecp5-25k@0", "must end in a clock in whole MHz"),
        ("ecp5-25k@fast", "must end in a clock in whole MHz"),
        ("xc7@200", "xc7 is not placed and routed, so 'xc7@200' asks for nothing: leave out @200"),
        ("ecp6@200", "there is no target 'ecp6'"),
    ],
)
def test_a_wrong_goal_is_told(name, sentence):
    with pytest.raises(TargetError, match=sentence):
        find(name)
