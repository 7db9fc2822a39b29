"""One run from beginning to end: a design, made runnable, fed with tuples, and its results checked."""

import dataclasses
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.hdl import Shape

from streamjoin.hdl.axi_stream import AxiStreamPorts
from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.compare import Difference
from streamjoin.reference.errors import DesignError
from streamjoin.reference.join import count_overflows
from streamjoin.reference.output import Reading, Transfers
from streamjoin.reference.overflow import needed_rooms
from streamjoin.reference.punctuations import Punctuations
from streamjoin.sim.run.latency import latency_statistics
from streamjoin.sim.run.model import Contents, Model, Run, Stalls
from streamjoin.sim.run.offered_load import driving, load_figures
from streamjoin.sim.run.rooms import needed_windows, overflow_sentence
from streamjoin.sim.run.verilate import Library, build_library
from streamjoin.sim.tuples import numbering
from streamjoin.sim.tuples.offers import Offers
from streamjoin.sim.verilog.generate import Verilog, generate

# The reference computes in signed 64-bit integers, and a predicate may add two keys; payloads are only compared.
_WIDEST, _WIDEST_PAYLOAD = 62, 64


@dataclasses.dataclass(frozen=True)
class Simulator:
    """A design with its parameters, compiled and ready to run any number of times."""

    design: Design
    parameters: JoinParameters
    verilog: Verilog
    library: Library
    build_seconds: float

    @classmethod
    def build(cls, design: Design, parameters: JoinParameters, *, waves: Path | None = None) -> "Simulator":
        """Generate and compile, or find the compiled model in the cache; ``waves`` decides what it can record."""
        check_widths(parameters)
        started = time.perf_counter()
        verilog = design_verilog(design, parameters, aliases=waves is not None)
        library = build_library(verilog, waves=None if waves is None else waves.suffix.removeprefix("."))
        return cls(design, parameters, verilog, library, time.perf_counter() - started)

    def run(
        self,
        arrivals: Arrivals,
        *,
        check: bool = True,
        offers: Offers | None = None,
        input_stalls: Stalls | None = None,
        output_stalls: Stalls | None = None,
        reset_at: int | None = None,
        reset_cycles: int = 4,
        contents: Contents = "zeros",
        waves: Path | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> "Simulation":
        """Push the arrivals through the design, drain it, and compare with the reference unless told not to.

        Tuples carry their arrival number as payload, scrambled (see :mod:`~streamjoin.sim.tuples.numbering`); that is
        how results are recognised. With ``reset_at`` the run is cut off by a reset in that cycle, wherever it stands,
        and starts anew: only the second attempt counts. Without ``offers`` tuples are offered as fast as they are
        taken. ``contents`` is what memories start with, ``reset_cycles`` how long each reset lasts: no result depends
        on either.
        """
        p = self.parameters
        check_numbering(p, len(arrivals))
        fields = {name: getattr(arrivals, name) for name in p.layout.arrival.members if name != "payload"}
        fields["payload"] = numbering.payloads(np.arange(len(arrivals)), p.payload_width)
        with Model(self.library, self.verilog.manifest, waves, contents=contents) as model:
            attempt = partial(
                model.run,
                fields,
                arrivals.stream,
                **driving(offers, p),
                input_stalls=input_stalls,
                output_stalls=output_stalls,
                patience=p.patience,
                reset_cycles=reset_cycles,
            )
            if reset_at is not None:
                attempt(max_cycles=reset_at)
            run = attempt(progress=progress)
        columns = {
            name: numbering.numbers(column, p.payload_width) if name.startswith("payload") else column
            for name, column in run.result.items()
        }
        kept = ~run.discarded & (run.accepted_cycle >= 0)
        reading = p.output_meaning.read(Transfers(arrivals, kept, columns, p.layout.sides, run.finished))
        simulation = Simulation(self, arrivals, run.of(reading), reading, None, offers)
        return simulation.checked() if check else simulation


@dataclasses.dataclass(frozen=True, eq=False)
class Simulation:
    """What a run gave.

    ``run`` is as of results, whatever else crossed the output; ``reading`` tells which tuples they are of.
    ``difference`` is how that differs from the reference, or ``None`` if nobody looked. ``offers`` are as they were
    given.
    """

    simulator: Simulator
    arrivals: Arrivals
    run: Run
    reading: Reading
    difference: Difference | None
    offers: Offers | None = None

    @property
    def numbers(self) -> np.ndarray:
        """A row a result and a column a stream: the arrival numbers of the tuples that took part."""
        return self.reading.numbers

    @property
    def punctuations(self) -> Punctuations | None:
        """What the design said between its results, if it says anything."""
        return self.reading.punctuations

    @property
    def exact(self) -> bool:
        return self.difference is not None and self.difference.exact

    @property
    def known_difference(self) -> Difference:
        """The difference, where somebody has looked."""
        assert self.difference is not None
        return self.difference

    def checked(self, warm_up: int = 0) -> "Simulation":
        """The same, compared with what the output should be; the design's counters are held to it, too.

        Results that are missing by overflow do not count if they are of the first ``warm_up`` arrivals, which are of
        another segment.
        """
        p = self.simulator.parameters
        windows = Windows(p.windows, p.spans)
        for name, counted, right in (
            ("dropped", self.run.dropped, np.count_nonzero(self.run.discarded)),
            ("overflows", self.run.overflows, count_overflows(self.accepted, windows)),
        ):
            if counted != right:
                raise DesignError(f"the design's counter {name} says {counted}, but it is {right}")
        difference = p.output_meaning.difference(self.reading, p.predicate, windows, warm_up)
        return dataclasses.replace(self, difference=difference)

    @property
    def accepted(self) -> Arrivals:
        """The arrivals that were not dropped."""
        return self.reading.transfers.accepted

    @property
    def needed_rooms(self) -> tuple[int, ...]:
        """For each stream, how much room its time-based window would have needed."""
        p = self.simulator.parameters
        return needed_rooms(self.accepted, Windows(p.windows, p.spans))

    @property
    def overflow_sentence(self) -> str | None:
        """What is missing by overflow and which windows would help, if anything is."""
        if self.difference is None or not self.difference.missing_by_overflow:
            return None
        return overflow_sentence(self.simulator.parameters, self.difference.missing_by_overflow, self.needed_rooms)

    @property
    def latencies(self) -> np.ndarray:
        """For each result the cycles from the acceptance of its later tuple to its leaving."""
        return self.since(self.run.accepted_cycle)

    def since(self, cycle: np.ndarray, of: np.ndarray | bool = True) -> np.ndarray:
        """For each of some results the cycles from that of its later tuple, given for all arrivals, to its leaving.

        A wrong design may give results of tuples that never were; those are left out.
        """
        real = (self.numbers < len(self.arrivals)).all(axis=1) & of
        return self.run.result_cycle[real] - cycle[self.numbers[real]].max(axis=1)

    @property
    def key_columns(self) -> dict[str, np.ndarray]:
        """The keys of the results, by the names they have in result files: ``key``, or ``key_R`` and ``key_S``."""
        streams = {stream.lower(): stream for stream in self.simulator.parameters.streams}
        columns = {}
        for name, column in self.run.result.items():
            field, _, side = name.partition("_")
            if field in self.simulator.parameters.predicate.fields:
                columns[f"{field}_{streams[side]}" if side else field] = column
        return columns

    def summary(self) -> dict[str, Any]:
        """The figures of the run, as ``sim --json`` shows them."""
        run, simulator = self.run, self.simulator
        accepted = len(self.arrivals) - run.dropped
        summary = {
            "design": simulator.design.name,
            "parameters": simulator.parameters.as_dict(),
            "tuples": len(self.arrivals),
            "results": len(self.numbers),
            "cycles": run.cycles,
            "tuples_per_cycle": accepted / run.cycles,
            "results_per_cycle": len(self.numbers) / run.cycles,
            "latency_cycles": latency_statistics(self.latencies),
            "dropped": run.dropped,
            "overflows": run.overflows,
            "stall_cycles": run.stall_cycles,
            "halted_cycles": run.halted_cycles,
            "check": self._verdict(),
            "build_seconds": simulator.build_seconds,
            "sim_seconds": run.seconds,
            "cycles_per_second": run.cycles / run.seconds,
        }
        if self.offers is not None:
            summary |= load_figures(self)
        if self.punctuations is not None:
            summary["punctuations"] = len(self.punctuations.covered)
        if run.overflows:
            summary["needed_windows"] = needed_windows(simulator.parameters, self.needed_rooms)
        if run.lost:
            summary["lost_intermediates"] = run.lost
        if run.dropped:
            summary["dropped_arrivals"] = np.flatnonzero(run.discarded).tolist()
        return summary

    def _verdict(self) -> str | dict[str, int]:
        if self.difference is None:
            return "skipped"
        return "exact" if self.difference.exact else self.difference.counts


def check_widths(parameters: JoinParameters) -> None:
    """ParameterError where tuples are too wide to be simulated; Verilog can be had at any width."""
    for name, shape in parameters.layout.tuple.members.items():
        width = Shape.cast(shape).width
        widest = _WIDEST_PAYLOAD if name == "payload" else _WIDEST
        if width > widest:
            raise ParameterError(
                f"a simulated tuple has fields of at most {widest} bits, and {name} has {width}: lower its width"
            )


def check_numbering(parameters: JoinParameters, tuples: int) -> None:
    """ParameterError where payloads are too narrow to tell so many tuples apart."""
    if tuples > 1 << parameters.payload_width:
        raise ParameterError(
            f"payload_width={parameters.payload_width} cannot number {tuples} tuples: raise it, or run fewer at once"
        )


def design_verilog(
    design: Design, parameters: JoinParameters, name: str | None = None, *, axi: bool = False, aliases: bool = False
) -> Verilog:
    """The Verilog of a design; its top module is named after the design unless told otherwise.

    ``axi`` gives the ports the names of AXI4-Stream; ``aliases`` is that of
    :func:`streamjoin.sim.verilog.generate.generate`.
    """
    component = design.component(parameters)
    return generate(
        AxiStreamPorts(component) if axi else component,
        name or design.name.replace("-", "_"),
        about={"design": design.name, "parameters": parameters.as_dict()},
        aliases=aliases,
    )
