"""A four-state, event-driven simulator behind the bulk driver: Icarus Verilog, by the rules of either language.

An :class:`EventModel` takes the place of a :class:`streamjoin.sim.model.Model`: the same arrivals go in by the same
rules, with random stalls on both sides, and the same kind of `Run` comes out. In four states nothing can pass that was
never given a value: an undefined bit in a result, or in what a design says of itself, ends the run.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from streamjoin.sim.model import DesignError, Run, Stalls, StuckError
from streamjoin.sim.packing import pack, unpack, words_for
from streamjoin.sim.verilog import Verilog

#: What Icarus calls the languages.
RULES = ("2005", "2012")

_BENCH = """
`timescale 1ns/1ns
module bench;
  parameter ARRIVALS = 0, BEFORE = 0, PATIENCE = 0, INPUT_STALLS = 0, OUTPUT_STALLS = 0, SEED = 0;
  reg clk = 0, rst = 1, drain = 0, ready = 0;
  reg [{ports}-1:0] valid = 0;
  wire [{ports}-1:0] taken;
  reg [{width}-1:0] payload [0:{ports}-1];
  reg [{width}+7:0] arrivals [0:ARRIVALS];
  wire [{result}-1:0] result;
  wire [31:0] dropped, overflows;
  wire result_valid, drained, halted, discarding;
  integer accepted, presented, cycle, idle, seed, port, log;
  reg stop, moved;

  {name} dut(
    .clk(clk), .rst(rst), .drain(drain), .drained(drained), .halted(halted), .discarding(discarding),
    .dropped(dropped), .overflows(overflows){lost},
    {pins},
    .o_result__payload(result), .o_result__valid(result_valid), .o_result__ready(ready));

  function stalls(input integer percent);
    stalls = $unsigned($random(seed)) % 100 < percent;
  endfunction

  // Arrivals that are due: those presented together have rising port numbers, and none is taken back.
  task present;
    begin
      stop = 0;
      while (!stop && presented < ARRIVALS) begin
        port = arrivals[presented] >> {width};
        stop = presented != accepted && port <= (arrivals[presented - 1] >> {width});
        if (!stop) stop = stalls(INPUT_STALLS);
        if (!stop) begin
          valid[port] = 1;
          payload[port] = arrivals[presented];
          presented = presented + 1;
        end
      end
    end
  endtask

  task step;
    begin
      clk = 0;
      #1;
      present;
      drain = accepted == ARRIVALS;
      ready = !stalls(OUTPUT_STALLS);
      #1;
      if ((^{{taken, result_valid, drained, halted}}) === 1'bx) begin
        $fdisplay(log, "undefined %b %b %b %b", taken, result_valid, drained, halted);
        $finish(0);
      end
      moved = 0;
      while (accepted < presented && taken[arrivals[accepted] >> {width}]) begin
        moved = 1;
        port = arrivals[accepted] >> {width};
        $fdisplay(log, "accepted %0d %b", cycle, discarding);
        accepted = accepted + 1;
        valid[port] <= #2 0;
      end
      if (result_valid && ready) begin
        moved = 1;
        $fdisplay(log, "result %0d %h", cycle, result);
      end
      idle = moved || !ready ? 0 : idle + 1;
      stop = drain && drained && !result_valid;
      #1 clk = 1;
      #2 cycle = cycle + 1;
    end
  endtask

  task restart;
    begin
      rst = 1;
      valid = 0;
      drain = 0;
      ready = 0;
      repeat (4) begin
        #1 clk = 0;
        #1 clk = 1;
      end
      #1 rst = 0;
      accepted = 0;
      presented = 0;
      cycle = 0;
      idle = 0;
      stop = 0;
    end
  endtask

  initial begin
    log = $fopen("log");
    seed = SEED;
    $readmemh("arrivals", arrivals);
    restart;
    repeat (BEFORE) if (!stop) step;
    $fdisplay(log, "restart");
    restart;
    while (!stop && idle < PATIENCE) step;
    if (stop) $fdisplay(log, "end %0d %0d %0d", cycle, dropped, overflows);
    else $fdisplay(log, "stuck %0d", cycle);
    $finish(0);
  end
endmodule
"""


class EventModel:
    """As :class:`streamjoin.sim.model.Model`; ``rules`` is one of :data:`RULES`."""

    def __init__(self, verilog: Verilog, rules: str) -> None:
        self._manifest = verilog.manifest
        self._folder = Path(tempfile.mkdtemp())
        self._before = 0
        ports = {port["name"]: port for port in verilog.manifest["ports"]}
        self._inputs = [ports[f"{stream['port']}__payload"] for stream in verilog.manifest["inputs"]]
        self._result = ports["o_result__payload"]
        self._width = max(port["width"] for port in self._inputs)
        names = [stream["port"] for stream in verilog.manifest["inputs"]]
        pins = [
            f".{name}__payload(payload[{n}][{port['width'] - 1}:0]), .{name}__valid(valid[{n}]), "
            f".{name}__ready(taken[{n}])"
            for n, (name, port) in enumerate(zip(names, self._inputs, strict=True))
        ]
        bench = _BENCH.format(
            name=verilog.manifest["name"],
            ports=len(names),
            width=self._width,
            result=self._result["width"],
            pins=",\n    ".join(pins),
            lost=", .lost()" if "lost" in ports else "",
        )
        (self._folder / "design.v").write_text(verilog.text)
        (self._folder / "bench.v").write_text(bench)
        self._rules = rules

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self._folder)

    def run(self, fields, stream, *, input_stalls=None, output_stalls=None, patience, max_cycles=None, **_):
        """As there; with ``max_cycles`` it is noted how long the next run goes on before it is reset and begins."""
        if max_cycles is not None:
            self._before = max_cycles
            return None
        self._write(fields, np.asarray(stream))
        input_stalls, output_stalls = input_stalls or Stalls(), output_stalls or Stalls()
        parameters = {
            "ARRIVALS": len(stream),
            "BEFORE": self._before,
            "PATIENCE": patience,
            "INPUT_STALLS": round(100 * input_stalls.probability),
            "OUTPUT_STALLS": round(100 * output_stalls.probability),
            "SEED": input_stalls.seed + 1,
        }
        settings = [f"-Pbench.{name}={value}" for name, value in parameters.items()]
        compile_ = ["iverilog", f"-g{self._rules}", *settings, "-s", "bench", "-o", "bench", "bench.v", "design.v"]
        for command in (compile_, ["vvp", "-n", "bench"]):
            done = subprocess.run(command, cwd=self._folder, text=True, capture_output=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        return self._read(len(stream))

    def _write(self, fields, stream: np.ndarray) -> None:
        lines = [""] * len(stream)
        for number, port in enumerate(self._inputs):
            rows = np.flatnonzero(stream == number)
            own = {name: np.asarray(column)[rows] for name, column in fields.items()}
            words = pack(own, port["fields"], words_for(self._width)).astype(object)
            for row, payload in zip(rows, words, strict=True):
                value = sum(int(word) << 32 * n for n, word in enumerate(payload)) | number << self._width
                lines[row] = f"{value:x}\n"
        (self._folder / "arrivals").write_text("".join(lines) + "0\n")

    def _read(self, arrivals: int) -> Run:
        log = (self._folder / "log").read_text().partition("restart\n")
        assert "undefined" not in log[0], log[0]
        lines = [line.split() for line in log[2].splitlines()]
        accepted = [line[1:] for line in lines if line[0] == "accepted"]
        results = [line[1:] for line in lines if line[0] == "result"]
        how, *details = lines[-1]
        if how == "stuck":
            raise StuckError(f"stuck with {len(accepted)} of {arrivals} accepted, {len(results)} results")
        unknown = [payload for _, payload in results if set(payload) & set("xXzZ")]
        if how != "end" or unknown:
            raise DesignError(f"undefined: {how} {details} {unknown[:3]}")
        words = np.zeros((len(results), words_for(self._result["width"])), np.uint32)
        for row, (_, payload) in enumerate(results):
            for n in range(words.shape[1]):
                words[row, n] = int(payload, 16) >> 32 * n & 0xFFFFFFFF
        return Run(
            accepted_cycle=np.array([int(cycle) for cycle, _ in accepted], np.int64),
            discarded=np.array([flag == "1" for _, flag in accepted], bool),
            result=unpack(words, self._result["fields"]),
            result_cycle=np.array([int(cycle) for cycle, _ in results], np.int64),
            finished=True,
            cycles=int(details[0]),
            stall_cycles=0,
            halted_cycles=0,
            dropped=int(details[1]),
            overflows=int(details[2]),
            lost=0,
            seconds=0.0,
        )
