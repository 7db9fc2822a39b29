"""A design in a four-state, event-driven simulator (Icarus Verilog), in the place of the compiled model.

What nobody has written is unknown there, and so is what comes of it: memories start with nothing but unknown bits.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Self
from unittest import mock

import numpy as np

from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run import simulate
from streamjoin.sim.run.model import Contents, Run, Stalls, StuckError
from streamjoin.sim.run.packing import PortItems, pack, unpack, words_for
from streamjoin.sim.run.simulate import Simulation, Simulator
from streamjoin.sim.verilog.generate import Verilog

AVAILABLE = shutil.which("iverilog") is not None
#: Arrivals of a run, at most.
MOST = 4096
_END = ("cycles", "dropped", "overflows")


class UnknownError(AssertionError):
    """A bit that somebody outside looks at is unknown."""


class FourStateModel:
    """Stands for :class:`streamjoin.sim.run.model.Model` of a design that was compiled by :func:`compile_design`.

    Whatever ``contents`` says: what memories hold is unknown.
    """

    def __init__(self, program: Path, manifest: dict, waves: None = None, *, contents: Contents = "zeros"):
        self._program = program
        ports = {port["name"]: port for port in manifest["ports"]}
        self._inputs = [PortItems.of(ports[f"{stream['port']}__payload"]) for stream in manifest["inputs"]]
        self._result = PortItems.of(ports["o_result__payload"])
        self._before = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        pass

    def run(
        self,
        fields: dict[str, np.ndarray],
        stream: np.ndarray,
        *,
        input_stalls: Stalls | None,
        output_stalls: Stalls | None,
        patience: int,
        max_cycles: int | None = None,
        reset_cycles: int = 4,
        **others: None,
    ) -> Run | None:
        """As there; of stalls only the probability and the seed count. With ``max_cycles`` it is noted how long the
        next run goes on before it is reset and begins anew; nothing else can be asked for."""
        if max_cycles is not None:
            self._before = max_cycles
            return None
        assert len(stream) <= MOST
        assert not any(others.values()), f"not in four states: {others}"
        stalls_in, stalls_out = input_stalls or Stalls(), output_stalls or Stalls()
        arrivals = self._program.with_suffix(".arrivals")
        arrivals.write_text("\n".join(self._words(fields, stream)))
        output = subprocess.run(
            [
                *("vvp", "-n", self._program, f"+arrivals={arrivals}", f"+count={len(stream)}"),
                f"+warm_up={self._before}",
                f"+reset_cycles={reset_cycles}",
                f"+patience={min(patience, 10**9)}",
                f"+input_stalls={round(100 * stalls_in.probability)}",
                f"+output_stalls={round(100 * stalls_out.probability)}",
                f"+seed={1 + (31 * stalls_in.seed + stalls_out.seed) % 2**30}",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return self._read(output, len(stream))

    def _words(self, fields, stream):
        """Each arrival as one number in hexadecimal: its port, and the tuple."""
        widest = max(items.width for items in self._inputs)
        for number, port in enumerate(stream):
            items = self._inputs[port]
            own = {name: np.asarray(column)[number : number + 1] for name, column in fields.items()}
            words = pack(own, items.fields, words_for(items.width))[0]
            payload = sum(int(word) << 32 * n for n, word in enumerate(words))
            yield f"{payload | int(port) << widest:x}"

    def _read(self, output: str, count: int) -> Run:
        accepted, discarded = np.full(count, -1), np.zeros(count, dtype=bool)
        results, cycles = [], []
        end = {}
        for line in output.splitlines():
            kind, *words = line.split()
            if kind == "unknown":
                raise UnknownError(f"{words[0]} is unknown in cycle {words[1]}")
            if kind == "restart":
                accepted[:] = -1
                results.clear()
                cycles.clear()
            elif kind == "taken":
                number, cycle, thrown_away = map(int, words)
                accepted[number], discarded[number] = cycle, thrown_away
            elif kind == "result":
                cycles.append(int(words[0]))
                results.append(self._known(words[1], cycles[-1]))
            else:
                end = {"status": kind, **dict(zip(_END, map(int, words), strict=True))}
        if end["status"] != "finished":
            raise StuckError(f"{end['status']} in cycle {end['cycles']}: {accepted.max(initial=-1) + 1} tuples taken")
        words = words_for(self._result.width)
        table = np.array([[result >> 32 * n & 0xFFFFFFFF for n in range(words)] for result in results], dtype=np.uint32)
        return Run(
            accepted_cycle=accepted,
            discarded=discarded,
            result=unpack(table.reshape(-1, words), self._result.fields),
            result_cycle=np.array(cycles, dtype=np.int64),
            finished=True,
            cycles=end["cycles"],
            input_cycles=end["cycles"],
            undrained_cycles=end["cycles"],
            stall_cycles=0,
            halted_cycles=0,
            dropped=end["dropped"],
            overflows=end["overflows"],
            lost=0,
            seconds=1.0,
        )

    def _known(self, bits: str, cycle: int) -> int:
        if set(bits) <= {"0", "1"}:
            return int(bits, 2)
        unknown = [
            field["name"]
            for field in self._result.fields
            if not set(bits[::-1][field["offset"] : field["offset"] + field["width"]]) <= {"0", "1"}
        ]
        raise UnknownError(f"{', '.join(unknown)} of the result of cycle {cycle} is unknown: {bits}")


def compile_design(verilog: Verilog, folder: Path, standard: str = "2005") -> Path:
    """The program that simulates a design, together with a bench; ``folder`` is where it may write.

    ``standard`` is the year of the language by whose rules it reads both: 2005 for Verilog, 2012 for SystemVerilog.
    """
    design, bench = folder / "design.v", folder / "bench.v"
    program = folder / f"sim{standard}.vvp"
    design.write_text(verilog.text)
    bench.write_text(_bench(verilog.manifest))
    subprocess.run(["iverilog", f"-g{standard}", "-s", "bench", "-o", program, design, bench], check=True)
    return program


def run(simulator: Simulator, arrivals: Arrivals, **options) -> Simulation:
    """:meth:`Simulator.run` of a simulator whose ``library`` is a program of :func:`compile_design`."""
    with mock.patch.object(simulate, "Model", FourStateModel):
        return simulator.run(arrivals, **options)


def _bench(manifest: dict) -> str:
    """The bulk driver (``sim/driver.cpp``) in Verilog: the same rules, but it looks at each bit that it samples."""
    widths = {port["name"]: port["width"] for port in manifest["ports"]}
    items = {port["name"].removesuffix("__payload"): PortItems.of(port) for port in manifest["ports"]}
    inputs = [stream["port"] for stream in manifest["inputs"]]
    widest = max(items[port].width for port in inputs)
    outputs = [port["name"] for port in manifest["ports"] if port["direction"] == "output"]
    driven = [port["name"] for port in manifest["ports"] if port["direction"] == "input"]
    sampled = [name for name in outputs if name != "o_result__payload"]
    pins = ", ".join(f".{name}({name})" for name in widths)
    numbered = list(enumerate(inputs))
    together = items[inputs[0]].slots > 1
    looks = [
        f'if ((^{name}) === unknown) begin $display("unknown {name} %0d", cycle); $finish; end' for name in sampled
    ]
    return f"""
module bench;
  {" ".join(f"reg [{widths[name] - 1}:0] {name} = 0;" for name in driven)}
  {" ".join(f"wire [{widths[name] - 1}:0] {name};" for name in outputs)}
  {manifest["name"]} joined({pins});

  reg [{widest + 7}:0] arrivals [0:{MOST - 1}];
  reg [8191:0] file;
  integer count, reset_cycles, warm_up, patience, input_stalls, output_stalls, seed;
  integer presented, accepted, cycle, idle, k;
  integer room [0:{len(inputs) - 1}], filled [0:{len(inputs) - 1}];
  reg [{len(inputs) - 1}:0] stalled, ready, taken;
  reg going, moved, unknown;

  function integer port_of(input integer number);
    port_of = arrivals[number] >> {widest};
  endfunction

  task tick;
    begin
      #1 clk = 1;
      #1 clk = 0;
    end
  endtask

  task reset;
    begin
      {" ".join(f"{port}__valid = 0;" for port in inputs)}
      {{drain, o_result__ready}} = 0;
      {{presented, accepted, cycle, idle}} = 0;
      rst = 1;
      repeat (reset_cycles) tick;
      rst = 0;
    end
  endtask

  task finish(input [8*16-1:0] status);
    begin
      $display("%0s %0d %0d %0d", status, cycle, dropped, overflows);
      $finish;
    end
  endtask

  initial begin
    k = $value$plusargs("arrivals=%s", file);
    k = $value$plusargs("count=%d", count);
    k = $value$plusargs("reset_cycles=%d", reset_cycles);
    k = $value$plusargs("warm_up=%d", warm_up);
    k = $value$plusargs("patience=%d", patience);
    k = $value$plusargs("input_stalls=%d", input_stalls);
    k = $value$plusargs("output_stalls=%d", output_stalls);
    k = $value$plusargs("seed=%d", seed);
    if (count > 0) $readmemh(file, arrivals, 0, count - 1);
    reset;
    forever begin
      if (warm_up > 0 && cycle == warm_up) begin
        $display("restart");
        warm_up = 0;
        reset;
      end
      for (k = 0; k < {len(inputs)}; k = k + 1) stalled[k] = $unsigned($random(seed)) % 100 < input_stalls;
      going = 1;
      {_presents_together(inputs, items) if together else _presents(inputs)}
      drain = accepted == count;
      o_result__ready = !($unsigned($random(seed)) % 100 < output_stalls);
      #1;
      {" ".join(looks)}
      ready = {{{", ".join(f"{port}__ready" for port in reversed(inputs))}}};
      taken = 0;
      moved = 0;
      {'if (presented > accepted && ready != 0 && ready != 3) finish("torn");' if together else ""}
      for (k = accepted; k < presented; k = k + 1) if (ready[port_of(k)]) begin
        if (k != accepted) finish("disorder");
        $display("taken %0d %0d %0d", k, cycle, discarding);
        taken[port_of(k)] = 1;
        {"taken = 3;" if together else ""}
        accepted = accepted + 1;
        moved = 1;
      end
      {_looks_at_results(items["o_result"])}
      if (o_result__valid && o_result__ready) moved = 1;
      idle = moved || !o_result__ready ? 0 : idle + 1;
      cycle = cycle + 1;
      if (drain && drained && !o_result__valid) finish("finished");
      if (idle > patience) finish("stuck");
      tick;
      {" ".join(f"if (taken[{n}]) {port}__valid = 0;" for n, port in numbered)}
    end
  end
endmodule
"""


def _presents(inputs: list[str]) -> str:
    """Raise what is due: what is presented together has rising port numbers."""
    numbered = enumerate(inputs)
    raises = [f"{n}: begin {port}__payload = arrivals[presented]; {port}__valid = 1; end" for n, port in numbered]
    return f"""
      while (going && presented < count) begin
        going = presented == accepted;
        if (!going) going = port_of(presented) > port_of(presented - 1);
        if (going) going = !stalled[port_of(presented)];
        if (going) begin
          case (port_of(presented))
            {" ".join(raises)}
          endcase
          presented = presented + 1;
        end
      end"""


def _presents_together(inputs: list[str], items: dict[str, PortItems]) -> str:
    """Make a transfer of what is due, if none is there; slots that are not filled are unknown."""
    width = items[inputs[0]].slots
    blanks, fills, counts = [], [], []
    for n, port in enumerate(inputs):
        at, payload = items[port], f"{port}__payload"
        begin = f"filled[{n}] * {at.stride}"
        fill = [f"{payload}[{begin} +: {at.width}] = arrivals[presented];"]
        if at.stride > at.width:
            fill.append(f"{payload}[{begin} + {at.width} +: {at.stride - at.width}] = filled[0];")
        blanks.append(f"{payload} = {{{at.count_at + at.count_width}{{1'bx}}}};")
        fills.append(f"{n}: begin {' '.join(fill)} end")
        counts.append(f"{payload}[{at.count_at} +: {at.count_width}] = filled[{n}]; {port}__valid = 1;")
    return f"""
      for (k = 0; k < {len(inputs)}; k = k + 1) begin
        filled[k] = 0;
        room[k] = stalled[k] ? 0 : input_stalls == 0 ? {width} : 1 + $unsigned($random(seed)) % {2 * width};
        if (room[k] > {width}) room[k] = {width};
      end
      going = presented == accepted;
      if (going) begin
        {" ".join(blanks)}
        while (going && presented < count) begin
          going = filled[port_of(presented)] < room[port_of(presented)];
          if (going) begin
            case (port_of(presented))
              {" ".join(fills)}
            endcase
            filled[port_of(presented)] = filled[port_of(presented)] + 1;
            presented = presented + 1;
          end
        end
        if (presented > accepted) begin
          {" ".join(counts)}
        end
      end"""


def _looks_at_results(items: PortItems) -> str:
    """Look at all that is valid, whether it is taken or not, and tell what is taken."""
    if items.slots == 1:
        return """
      if (o_result__valid && (^o_result__payload) === unknown) begin
        $display("unknown o_result__payload=%b %0d", o_result__payload, cycle);
        $finish;
      end
      if (o_result__valid && o_result__ready) $display("result %0d %b", cycle, o_result__payload);"""
    count = f"o_result__payload[{items.count_at} +: {items.count_width}]"
    item = f"o_result__payload[k * {items.stride} +: {items.width}]"
    return f"""
      if (o_result__valid) begin
        if (!({count} >= 1 && {count} <= {items.slots})) finish("miscounted");
        for (k = 0; k < {count}; k = k + 1) begin
          if ((^{item}) === unknown) begin
            $display("unknown o_result__payload=%b %0d", o_result__payload, cycle);
            $finish;
          end
          if (o_result__ready) $display("result %0d %b", cycle, {item});
        end
      end"""
