"""After a reset every design is right whatever its memories hold; and the simulator makes them hold anything."""

import dataclasses
import functools

import numpy as np
import pytest

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.model import Model, Stalls
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.sim.run.verilate import build_library
from streamjoin.sim.verilog.generate import generate
from tests.sim import four_state
from tests.sim.toy import Toy

#: In the place of the toy join: tells the words of a memory that nobody has ever written, after the drain began.
_TELLS = """
module toy(clk, rst, i_r__payload, i_r__valid, i_r__ready, i_s__payload, i_s__valid, i_s__ready,
           o_result__payload, o_result__valid, o_result__ready, drain, drained, discarding, halted, dropped, overflows);
  input clk, rst, i_r__valid, i_s__valid, o_result__ready, drain;
  input [40:0] i_r__payload, i_s__payload;
  output i_r__ready, i_s__ready, o_result__valid, drained, discarding, halted;
  output [73:0] o_result__payload;
  output [31:0] dropped, overflows;
  reg [73:0] words [0:7];
  reg [3:0] next;
  always @(posedge clk) begin
    if (rst) next <= 0;
    else if (o_result__valid) next <= next + 1;
    if (i_r__valid) words[next] <= i_r__payload;
  end
  assign o_result__payload = words[next[2:0]];
  assign o_result__valid = drain && !next[3];
  assign drained = next[3];
  assign {i_r__ready, i_s__ready, discarding, halted, dropped, overflows} = 0;
endmodule
"""


@functools.cache
def tells():
    verilog = dataclasses.replace(generate(Toy(), "toy"), text=_TELLS)
    return build_library(verilog), verilog.manifest


def told(contents) -> list[tuple[int, int, int]]:
    nothing = np.zeros(0, dtype=np.int64)
    with Model(*tells(), contents=contents) as model:
        result = model.run({"key": nothing, "payload": nothing}, nothing).result
    return list(zip(*(result[name].tolist() for name in ("key", "r", "s")), strict=True))


def test_memories_hold_what_was_asked_for():
    assert told("zeros") == [(0, 0, 0)] * 8
    assert told("ones") == [(2**8 - 1, 2**33 - 1, 2**33 - 1)] * 8
    assert len(set(told(3))) == 8, "some words are the same"
    assert told(3) == told(3)
    assert not set(told(3)) & set(told(4))


#: Rings whose rows are no power of two, so that a memory can name rows that there are not; and many buckets, so that
#: some see their first tuple late.
HASHED = [
    ("llhj", "cores=2 window=12 index=hash buckets=64"),
    ("circular", "window=13 flight=5 index=hash buckets=64"),
    ("hash", "window=20000 key_width=8"),  # whose heads say any lap, so that one in four seems to be of this one
    ("hash", "window=20 buckets=64 predicate=bands:-3..1"),
]


def parse(design: str, words: str):
    return find(design).parameters(**dict(word.split("=", 1) for word in words.split()))


def seldom_met(parameters, seed: int, count: int = 300) -> Arrivals:
    """Many keys, of which 0 comes late and seldom: that is what a place that never was seems to hold."""
    random = np.random.default_rng(seed)
    key = random.integers(1, 200, count)
    key[30:][random.random(count - 30) < 0.03] = 0
    return Arrivals(stream=random.integers(0, len(parameters.streams), count), key=key)


@pytest.mark.parametrize(("design", "words"), HASHED)
def test_an_index_that_starts_with_anything(design, words):
    parameters = parse(design, words)
    simulator = Simulator.build(find(design), parameters)
    for seed, contents in enumerate(("zeros", "ones", *range(40))):
        outcome = simulator.run(seldom_met(parameters, seed), contents=contents)
        assert outcome.exact, f"{contents}: {outcome.difference.describe()}"


def test_clearing_for_long_is_not_being_stuck():
    """The memory that counts results of arrivals is as long as there may be such arrivals."""
    parameters = parse("llhj", "cores=1 window=1 ordered=true outstanding=4096")
    simulator = Simulator.build(find("llhj"), parameters)
    outcome = simulator.run(seldom_met(parameters, 1, 60))
    assert outcome.exact
    assert outcome.run.accepted_cycle[0] >= 4096


@pytest.mark.skipif(not four_state.AVAILABLE, reason="no iverilog here: apt-get install iverilog")
@pytest.mark.parametrize(
    ("design", "words"),
    [
        *HASHED,
        ("llhj", "cores=4 window=13 punctuation=3 lanes=3 comparators=apart"),
        ("llhj", "cores=2 window=9 punctuation=2 index=hash on_full=drop link_queue=1"),
        ("llhj", "cores=3 window_r=9 window_s=4 ordered=true punctuation=5 outstanding=16 lanes=2"),
        ("bisort", "window_r=9 window_s=25 subwindow=16 partitions=4 batch=6 output=records"),
        ("handshake", "cores=2 window=6 scan=sequential storage=memory span=7 predicate=ge"),
        ("stashed", "window=5 stash=9 lanes=2 flight=2"),
    ],
)
def test_nothing_unknown_comes_out_of_unknown_memories(design, words, tmp_path):
    parameters = parse(design, words)
    verilog = design_verilog(find(design), parameters)
    program = four_state.compile_design(verilog, tmp_path)
    simulator = Simulator(find(design), parameters, verilog, program, 0.0)
    for seed in range(2):
        arrivals = seldom_met(parameters, seed, 120)
        if parameters.spans is not None:
            arrivals = dataclasses.replace(arrivals, time=np.arange(len(arrivals)) // 2)
        stalls = Stalls(0.3 * seed, seed=seed)
        outcome = four_state.run(simulator, arrivals, input_stalls=stalls, output_stalls=stalls)
        assert outcome.difference.design_is_right, outcome.difference.describe()
