"""Costs are real: measured by synthesis and place and route, found again in the cache, refused in one sentence."""

import dataclasses
import json
import time

import pytest
from amaranth.hdl import Module
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.registry import find as find_design
from streamjoin.synth.flow.cost import measure, stages
from streamjoin.synth.flow.errors import TooLargeError
from streamjoin.synth.flow.netlist import synthesise
from streamjoin.synth.flow.targets import ESTIMATE, POST_ROUTE, find

ICE40 = find("ice40-hx8k")


class Remembers(wiring.Component):
    """A memory of 2048 bits, and nothing else."""

    address: In(6)
    write: In(32)
    enable: In(1)
    read: Out(32)

    def __init__(self, domain: str):
        self._domain = domain
        super().__init__()

    def elaborate(self, _) -> Module:
        m = Module()
        m.submodules.words = words = memory.Memory(shape=32, depth=64, init=[])
        write, read = words.write_port(), words.read_port(domain=self._domain)
        m.d.comb += [
            write.addr.eq(self.address),
            write.data.eq(self.write),
            write.en.eq(self.enable),
            read.addr.eq(self.address),
            self.read.eq(read.data),
        ]
        return m


class Delays(wiring.Component):
    """Nine registers, and nothing else."""

    i: In(9)
    o: Out(9)

    def elaborate(self, _) -> Module:
        m = Module()
        m.d.sync += self.o.eq(self.i)
        return m


def unrouted(name):
    """A target of which only the area is asked."""
    target = find(name)
    return target if target.clock == ESTIMATE else dataclasses.replace(target, clock=None, router=())


@pytest.fixture(scope="module", autouse=True)
def _cache_of_our_own(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMJOIN_CACHE", str(tmp_path_factory.mktemp("cache") / "cache"))
        yield


@pytest.fixture(scope="module")
def handshake():
    design = find_design("handshake")
    values = {"cores": 2, "window": 4, "key_width": 4, "payload_width": 2, "match_queue": 4}
    return lambda: design.component(design.parameters(**values))


@pytest.fixture(scope="module")
def cost(handshake):
    heard = []
    cost = measure(handshake(), ICE40, name="handshake", seeds=2, jobs=2, progress=heard.append)
    assert sorted(heard) == ["seed 1", "seed 2", "synthesis"]
    assert len(heard) == stages(ICE40, 2)
    return cost


def test_clock_and_area_after_place_and_route(cost):
    assert cost.clock == POST_ROUTE
    assert set(cost.fmax_mhz) == {1, 2}
    assert 20 < cost.min_mhz <= cost.median_mhz <= cost.max_mhz < 400
    assert cost.luts == cost.cells["SB_LUT4"] > 100
    assert cost.ffs == sum(count for cell, count in cost.cells.items() if cell.startswith("SB_DFF")) > 100
    assert cost.versions.keys() >= {"pyosys", "amaranth"}


def test_the_longest_path_is_told_in_parts(cost):
    path = cost.critical_path
    assert path.levels >= 1
    assert path.nanoseconds == pytest.approx(1000 / cost.min_mhz, rel=0.02)
    assert 0 < path.routing_share < 1
    kinds = {"", "core0", "core1", "tree", "admission"}
    assert all(step.kind == "harness" or step.part.partition(".")[0] in kinds for step in path.steps)


def test_the_second_time_it_is_there(cost, handshake):
    start = time.monotonic()
    again = measure(handshake(), ICE40, name="handshake", seeds=2)
    assert time.monotonic() - start < 3
    assert dataclasses.replace(again, seconds=cost.seconds) == cost


def test_as_json(cost):
    plain = json.loads(json.dumps(cost.as_dict()))
    assert plain["target"] == "ice40-hx8k"
    assert plain["clock"] == "post-route"
    assert set(plain["fmax_mhz"]["seeds"]) == {"1", "2"}
    assert plain["fmax_mhz"]["median"] == cost.median_mhz
    assert plain["critical_path"]["steps"][0].keys() == {"part", "kind", "levels", "logic_ns", "routing_ns"}
    assert plain.keys() >= {"luts", "ffs", "brams", "lutrams", "versions", "seconds", "netlist", "ram_as_registers"}


def test_the_harness_does_not_count():
    netlist = synthesise(Delays(), ICE40)
    assert netlist.cells == {"SB_DFFSR": 9}
    assert netlist.memories == ()


@pytest.mark.parametrize("target", ["ecp5-25k", "ice40-hx8k", "xc7", "cyclonev", "cycloneiv"])
def test_a_memory_read_with_the_clock_is_ram(target):
    cost = measure(Remembers("sync"), unrouted(target), name="memory")
    assert (cost.memory_bits, cost.ram_as_registers, cost.lost_memories) == (2048, 0, [])
    assert cost.brams + cost.lutrams > 0
    assert cost.ffs < 100


@pytest.mark.parametrize("target", ["ecp5-85k", "xc7", "cyclonev"])
@pytest.mark.parametrize(
    ("design", "given"),
    [
        ("handshake", {"cores": 1, "window": 32, "key_width": 8, "payload_width": 16}),
        ("nested-loop", {"window": 64, "key_width": 8, "payload_width": 16}),
        ("bisort", {"window": 64, "batch": 8, "partitions": 8, "mergers": 2, "probers": 1, "key_width": 8}),
        ("hash", {"window": 64, "key_width": 8, "payload_width": 16}),
    ],
)
def test_the_memories_of_designs_are_ram(design, given, target):
    """Queues, histories, delay lines, windows, batches and indexes."""
    found = find_design(design)
    cost = measure(found.component(found.parameters(**given)), unrouted(target), name=design)
    assert cost.memory_bits > 2000
    assert (cost.ram_as_registers, cost.lost_memories) == (0, [])


@pytest.mark.parametrize(("target", "bits"), [("ecp5-25k", 0), ("ice40-hx8k", 2048), ("cycloneiv", 2048)])
def test_a_memory_read_at_once_is_ram_where_there_is_such(target, bits):
    cost = measure(Remembers("comb"), unrouted(target), name="memory")
    assert (cost.memory_bits, cost.ram_as_registers, cost.lost_memories) == (2048, bits, [])
    assert cost.ffs == bits


def test_a_memory_that_should_be_ram_is_named():
    without = dataclasses.replace(unrouted("ecp5-25k"), synthesis="synth_lattice -family ecp5 -nobram -nolutram")
    cost = measure(Remembers("comb"), without, name="memory")
    assert cost.lost_memories == ["words"]
    assert cost.ram_as_registers == 2048


def test_an_estimate_says_so():
    cost = measure(Remembers("sync"), find("xc7"), name="memory")
    assert cost.clock == ESTIMATE
    assert list(cost.fmax_mhz) == [0]
    assert cost.median_mhz == pytest.approx(1000 / cost.critical_path.nanoseconds, rel=0.001)
    assert cost.critical_path.routing_share == 0


def test_area_alone_has_no_clock():
    cost = measure(Delays(), find("max10"), name="delays")
    assert (cost.clock, cost.fmax_mhz, cost.median_mhz) == (None, {}, None)
    assert cost.ffs == 9
    assert cost.as_dict()["fmax_mhz"] == {"median": None, "min": None, "max": None, "seeds": {}}


def test_too_large_by_count(handshake):
    small = dataclasses.replace(ICE40, capacity={"luts": 50})
    with pytest.raises(TooLargeError, match=r"^handshake needs \d+ LUTs, ice40-hx8k has 50: make it smaller, or take"):
        measure(handshake(), small, name="handshake")


def test_too_large_for_the_placer():
    router = ("ice40", "--hx1k", "--package", "tq144", "--pcf-allow-unconstrained")
    smaller = dataclasses.replace(ICE40, router=router, capacity={})
    with pytest.raises(TooLargeError, match=r"^memory does not fit ice40-hx8k: make it smaller"):
        measure(Remembers("comb"), smaller, name="memory")
