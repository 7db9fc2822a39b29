"""The self-test passes with every design, and fails with every kind of wrong one."""

import dataclasses
import shutil
from itertools import pairwise

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped
from amaranth.sim import Simulator

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.board.self_test import SelfTest
from streamjoin.hdl.registry import find
from streamjoin.sim.run.cocotb_runner import run_bench

SIMULATORS = ["verilator", *(["icarus"] if shutil.which("iverilog") else [])]
CASES = {
    "parallel": ("handshake", {"cores": 2, "window": 8}),
    "uneven": ("handshake", {"cores": 3, "window_r": 5, "window_s": 9, "predicate": "lt", "key_width": 3}),
    "sequential": (
        "handshake",
        {"cores": 2, "window": 6, "scan": "sequential", "storage": "memory", "predicate": "band2:2,9"},
    ),
    "messages": ("handshake-async", {"cores": 2, "window": 6}),
    "low latency": ("llhj", {"cores": 3, "window": 7, "lanes": 2}),
    "in order": ("llhj", {"cores": 2, "window": 6, "ordered": "true", "index": "hash", "outstanding": 8}),
    "sorted": ("bisort", {"window": 6, "subwindow": 8, "partitions": 2, "batch": 4, "predicate": "band:2"}),
    "hashed": ("hash", {"window": 6, "predicate": "band:2"}),
    "narrow payload, wide key": ("nested-loop", {"window": 5, "payload_width": 4, "key_width": 80}),
    "wide payload, most match": ("handshake", {"cores": 2, "window": 4, "predicate": "ne", "payload_width": 100}),
    "short span": ("handshake", {"cores": 2, "window": 8, "span": 1}),
    "spans that differ": ("handshake", {"cores": 2, "window": 6, "span_r": 3, "span_s": 20}),
    "wide": ("tests.sim.wide_design:DESIGN", {"window": 5, "width": 3, "results": 2, "predicate": "band:1"}),
    "wide in": ("tests.sim.wide_design:DESIGN", {"window": 4, "span": 9, "width": 4, "results": 1}),
    "wide out": ("tests.sim.wide_design:DESIGN", {"window": 4, "width": 1, "results": 3, "predicate": "ne"}),
    "time, overflows": ("nested-loop", {"window": 4, "span": 30, "time_width": 5, "storage": "registers"}),
}


def made(name, **wishes):
    design, wanted = CASES[name]
    parameters = find(design).parameters(**wanted)
    return SelfTest(find(design).component(parameters), parameters, **wishes)


def simulate(component, bench):
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def verdict(test, within=3000):
    """(passed, failed) in the end, or None if there is none."""
    seen = []

    async def bench(ctx):
        for _ in range(within):
            await ctx.tick()
            seen.append([ctx.get(port) for port in (test.done, test.passed, test.failed, test.running)])
            if len(seen) > 20 and seen[-20][0]:
                break

    simulate(test, bench)
    assert all(done + running == 1 and passed + failed == done for done, passed, failed, running in seen)
    changes = [index for index, (before, after) in enumerate(pairwise(seen)) if before != after]
    assert len(changes) <= 1, "a verdict stands"
    return tuple(seen[-1][1:3]) if seen[-1][0] else None


@pytest.mark.parametrize("name", CASES)
def test_a_right_design_passes(name):
    test = made(name)
    assert test.expected[0] > 0, "nothing would be tested without results"
    assert verdict(test) == (1, 0)


def test_overflows_are_expected():
    assert made("time, overflows").overflows > 0


@pytest.mark.parametrize("name", ["parallel", "wide"])
@pytest.mark.parametrize("wrong", [(1, 0), (0, 1)])
def test_a_wrong_expectation_fails(name, wrong):
    right = made(name).expected
    expected = tuple(value ^ bit for value, bit in zip(right, wrong, strict=True))
    assert verdict(made(name, expected=expected)) == (0, 1)


def test_more_tuples_and_another_seed():
    few, other = made("parallel", tuples=20), made("parallel", tuples=300, seed=7)
    assert few.expected != other.expected != made("parallel", tuples=300).expected
    assert verdict(few) == verdict(other) == (1, 0)


class Faulty(wiring.Component):
    """A design with a fault at its output, from its third result on."""

    def __init__(self, design, fault):
        self._design, self._fault = design, fault
        super().__init__(dict(design.signature.members))

    def elaborate(self, _):
        m = Module()
        m.submodules.design = design = self._design
        for name, member in design.signature.members.items():
            if name == "o_result":
                continue
            if not member.is_port:
                connect(m, flipped(getattr(self, name)), getattr(design, name))
            elif member.flow == In:
                m.d.comb += getattr(design, name).eq(getattr(self, name))
            else:
                m.d.comb += getattr(self, name).eq(getattr(design, name))
        result, out = design.o_result, self.o_result
        count = Signal(8)
        m.d.comb += [out.p.eq(result.p), out.valid.eq(result.valid), result.ready.eq(out.ready)]
        with m.If(result.valid & result.ready):
            m.d.sync += count.eq(count + 1)
        with m.If(count == 2):
            match self._fault:
                case "drops one":
                    m.d.comb += out.valid.eq(0)
                case "repeats one":
                    m.d.comb += result.ready.eq(0)
                    m.d.sync += count.eq(count + out.ready)
                    repeated = Signal()
                    with m.If(result.valid):
                        m.d.sync += repeated.eq(1)
                    with m.If(repeated):
                        m.d.comb += result.ready.eq(1)
                    with m.Else():
                        m.d.sync += count.eq(2)
                case "flips a bit":
                    m.d.comb += out.p.payload_s[0].eq(~result.p.payload_s[0])
                case "goes silent":
                    m.d.comb += [out.valid.eq(0), result.ready.eq(0)]
        if self._fault == "counts a loss":
            m.d.comb += self.dropped.eq(1)
        if self._fault == "blends two":
            # The count, and the sum of every field, stay what they were.
            other = Signal.like(result.p.payload_s)
            with m.If(count == 2):
                m.d.comb += out.p.payload_s.eq(0)
                m.d.sync += other.eq(result.p.payload_s)
            with m.Elif(count == 3):
                m.d.comb += out.p.payload_s.eq(other + result.p.payload_s)
        return m


@pytest.mark.parametrize(
    "fault", ["drops one", "repeats one", "flips a bit", "goes silent", "counts a loss", "blends two", "none"]
)
def test_a_fault_is_noticed(fault):
    design = find("handshake")
    parameters = design.parameters(cores=2, window=8)
    faulty = SelfTest(Faulty(design.component(parameters), fault), parameters)
    assert verdict(faulty, within=5000) == ((1, 0) if fault == "none" else (0, 1))


@pytest.mark.parametrize("name", ["parallel", "wide"])
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_as_verilog(name, simulator):
    """The Verilog that goes onto boards, in other simulators, from the reset and with a reset in mid-run."""
    bench = {"cycles": 300 if name == "parallel" else 1500, "passed": 1}
    report = run_bench(made(name), "self_test", "self_test", bench, simulator=simulator, seed=1)
    assert (report.passed, report.failures) == (2, ()), f"see {report.log}"


@pytest.mark.parametrize(
    ("sentence", "wanted", "wishes"),
    [
        ("cannot know which tuples on_full=drop will lose", {"on_full": "drop"}, {}),
        ("an even number of tuples, from 2 up, not 3", {}, {"tuples": 3}),
        ("an even number of tuples, from 2 up, not 0", {}, {"tuples": 0}),
        ("none of the self-test's 2 tuples match", {"predicate": "band2:0,0"}, {"tuples": 2}),
    ],
)
def test_what_cannot_be_tested(sentence, wanted, wishes):
    design = find("nested-loop")
    parameters = design.parameters(**wanted)
    with pytest.raises(ParameterError, match=sentence):
        SelfTest(design.component(parameters), parameters, **wishes)


def test_two_streams_only():
    design = find("nested-loop")
    parameters = design.parameters()

    class Three(type(parameters)):
        streams = ("S1", "S2", "S3")

    three = Three(**{field.name: getattr(parameters, field.name) for field in dataclasses.fields(parameters)})
    with pytest.raises(ParameterError, match="two streams, not 3"):
        SelfTest(design.component(parameters), three)
