"""Run a compiled design: arrivals in, results out, with the clock cycle of everything that crossed its ports."""

import ctypes
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np

from streamjoin.reference.errors import DesignError
from streamjoin.reference.output import Reading
from streamjoin.sim.run.packing import PortItems, pack, unpack, words_for
from streamjoin.sim.run.verilate import Library
from streamjoin.support.files import check_writable

_RESET_CYCLES = 4
# A slice of a run should take about this long: short enough for a smooth progress bar and for Ctrl-C.
_SLICE_SECONDS = 0.1
_FINISHED, _MORE, _STUCK, _ORDER_VIOLATION, _TORN, _BAD_COUNT = range(6)
#: What memories hold before anything is written: nothing, all bits up, or what a generator draws from this seed.
Contents = Literal["zeros", "ones"] | int
_ZEROS, _ONES, _DRAWN = range(3)


class StuckError(DesignError):
    """The design stopped moving; the message says where."""


@dataclass(frozen=True)
class Stalls:
    """When one side of a stream holds back.

    Where several tuples of a stream enter in a cycle, a stalled port takes part in no transfer that begins in that
    cycle; and if stalls are not none at all, each other transfer fills as many slots of a port as is drawn, from one
    to all of them.

    Parameters
    ----------
    probability
        The share of cycles that are stalled, below 1.
    burst
        The mean number of stalled cycles in a row. Independent decisions give 1 / (1 - probability); less than that
        means just that.
    pattern
        Instead: a repeating sequence of cycles, each stalled if true.
    seed
        Each port has a generator of its own, drawn from this seed.
    """

    probability: float = 0.0
    burst: float = 1.0
    pattern: tuple[bool, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.probability < 1:
            raise ValueError(f"a stall's probability is at least 0 and below 1, not {self.probability}")
        if self.burst < 1:
            raise ValueError(f"a burst of stalls lasts at least 1 cycle, not {self.burst}")
        if self.pattern and all(self.pattern):
            raise ValueError("a pattern of stalls needs a cycle that is not stalled")


@dataclass(frozen=True, eq=False)
class Run:
    """What happened in a run.

    Attributes
    ----------
    accepted_cycle
        For each arrival the cycle in which it was taken; -1 if it was not, because the run was cut short or it was
        dropped in front of the design.
    discarded
        For each arrival whether it was dropped: by the design (``on_full="drop"``), or in front of it.
    result
        The fields of the results, one array each, in the order in which the results left.
    result_cycle
        For each result the cycle in which it left.
    finished
        Whether the run came to its end; otherwise ``max_cycles`` cut it short.
    cycles
        How many clock cycles it took.
    input_cycles, undrained_cycles
        How many of them had passed when the last arrival had been taken or dropped, and when the drain began.
    stall_cycles
        Cycles in which an arrival was presented but none was taken.
    halted_cycles
        Cycles in which the design said that full queues held it back.
    dropped, overflows, lost
        The design's own counters at the end, the first along with what was dropped in front of it; ``lost``:
        intermediate results that it threw away.
    seconds
        How long the simulation took.
    """

    accepted_cycle: np.ndarray
    discarded: np.ndarray
    result: dict[str, np.ndarray]
    result_cycle: np.ndarray
    finished: bool
    cycles: int
    input_cycles: int
    undrained_cycles: int
    stall_cycles: int
    halted_cycles: int
    dropped: int
    overflows: int
    lost: int
    seconds: float

    def of(self, reading: Reading) -> "Run":
        """The same with a result for each that the transfers mean, instead of one for each transfer."""
        if reading.transfer is None:
            return self
        result = {name: reading.of_results(column) for name, column in self.result.items()}
        return replace(self, result=result, result_cycle=reading.of_results(self.result_cycle))


class Model:
    """A design being simulated.

    Use it as a context manager: waves are complete, and appear, once it is closed.

    Parameters
    ----------
    library
        From :func:`streamjoin.sim.run.verilate.build_library`.
    manifest
        Of the Verilog that the library was built from.
    waves
        Where to write waves, if anywhere; the library must have been built for them.
    contents
        Of memories, before the first reset; a later one leaves in them what it finds.
    """

    def __init__(
        self,
        library: Library,
        manifest: dict,
        waves: str | os.PathLike | None = None,
        *,
        contents: Contents = "zeros",
    ) -> None:
        if waves is not None and library.waves is None:
            raise ValueError("the library was built without waves")
        ports = {port["name"]: port for port in manifest["ports"]}
        self._streams = [
            (stream["port"], PortItems.of(ports[f"{stream['port']}__payload"])) for stream in manifest["inputs"]
        ]
        self._results_of = PortItems.of(ports["o_result__payload"])
        self._waves = self._growing_waves = None
        if waves is not None:
            self._waves = Path(waves)
            self._growing_waves = self._waves.with_name(f".{self._waves.name}.{os.getpid()}")
            check_writable(self._waves)
        self._library = _load(library)
        self._handle = self._library.streamjoin_create(
            self._growing_waves and os.fsencode(self._growing_waves), *_start_values(contents)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the simulation; only now do the waves appear under their name."""
        if self._handle is not None:
            self._library.streamjoin_destroy(self._handle)
            self._handle = None
            if self._waves is not None and self._growing_waves is not None:
                self._growing_waves.replace(self._waves)

    def reset(self, cycles: int = _RESET_CYCLES) -> None:
        """Reset the design, wherever it stands, for so many cycles."""
        self._library.streamjoin_reset(self._handle, cycles)

    def run(
        self,
        fields: Mapping[str, np.ndarray],
        stream: np.ndarray,
        *,
        offered: np.ndarray | None = None,
        queue: bool = True,
        quiet: int = 0,
        input_stalls: Stalls | None = None,
        output_stalls: Stalls | None = None,
        patience: int = 100_000,
        progress: Callable[[int], None] | None = None,
        max_cycles: int | None = None,
        drain: bool = True,
        reset_cycles: int = _RESET_CYCLES,
    ) -> Run:
        """Reset the design and push arrivals through it, then drain it.

        Parameters
        ----------
        fields
            One array for each field of the input payloads, a row for each arrival.
        stream
            For each arrival the number of its input port, from 0.
        offered
            For each arrival the cycle in which it is offered, 0 being the first after the reset, never decreasing;
            unless told, each is offered as soon as the one before it has been taken, or together with it. Where
            several tuples of a stream enter in a cycle, a transfer holds as many arrivals in a row as fit.
        queue
            Whether what is offered waits until it is taken, in arrival order, as many as there may be. If not, what
            is not taken in the cycle in which it is offered is dropped; ``offered`` is needed then.
        quiet
            Cycles of silence, in which a result could have left and none did, between the last acceptance and the
            drain.
        input_stalls, output_stalls
            When arrivals and the result's consumer hold back; never, unless told.
        patience
            After so many cycles in which the design could have moved but neither took an arrival nor gave a result,
            it counts as stuck.
        progress
            Called from time to time, and at the end, with the number of arrivals accepted so far.
        max_cycles
            Cut the run short after so many cycles.
        drain
            If false, the run ends with the acceptance of the last arrival.
        reset_cycles
            How long the reset before it lasts, at least one cycle.

        Raises
        ------
        StuckError
            If the design stops moving.
        DesignError
            If it takes a later arrival before an earlier one that was presented along with it; or, where several enter
            in a cycle, one port without the other; or gives a transfer without results.
        """
        started = time.perf_counter()
        stream = np.ascontiguousarray(stream, dtype=np.uint8)
        words = self._pack(fields, stream)
        if offered is not None:
            offered = _checked_offers(offered, len(stream))
        elif not queue:
            raise ValueError("arrivals that do not wait need a cycle in which they are offered")
        accepted_cycle = np.full(len(stream), -1, dtype=np.int64)
        discarded = np.zeros(len(stream), dtype=np.uint8)
        input_plan, input_pattern = _plan(input_stalls or Stalls())
        output_plan, output_pattern = _plan(output_stalls or Stalls())
        request = _Request(
            arrivals=len(stream),
            stride=words.shape[1],
            stream=stream.ctypes.data,
            words=words.ctypes.data,
            offered=None if offered is None else offered.ctypes.data,
            queue=queue,
            accepted_cycle=accepted_cycle.ctypes.data,
            discarded=discarded.ctypes.data,
            input_stalls=input_plan,
            output_stalls=output_plan,
            patience=patience,
            drain=drain,
            quiet=quiet,
        )
        self.reset(reset_cycles)
        self._library.streamjoin_begin(self._handle, ctypes.byref(request))
        status = self._run_slices(max_cycles, progress)
        del input_pattern, output_pattern  # the request pointed at them until here
        report = self._report()
        if status == _STUCK:
            raise StuckError(self._describe_stuck(report, stream))
        if status == _ORDER_VIOLATION:
            raise DesignError(self._describe_violation(report, stream))
        if status in (_TORN, _BAD_COUNT):
            raise DesignError(self._describe_transfer(report, status))
        result, result_cycle = self._results(report.results)
        return Run(
            accepted_cycle=accepted_cycle,
            discarded=discarded.astype(bool),
            result=result,
            result_cycle=result_cycle,
            finished=status == _FINISHED,
            cycles=report.cycles,
            input_cycles=report.input_cycles,
            undrained_cycles=report.undrained_cycles,
            stall_cycles=report.stall_cycles,
            halted_cycles=report.halted_cycles,
            dropped=report.dropped + report.turned_away,
            overflows=report.overflows,
            lost=report.lost,
            seconds=time.perf_counter() - started,
        )

    def _pack(self, fields: Mapping[str, np.ndarray], stream: np.ndarray) -> np.ndarray:
        if len(stream) and stream.max() >= len(self._streams):
            raise ValueError(f"an arrival is for port {stream.max()}, the last one is {len(self._streams) - 1}")
        for name, column in fields.items():
            if len(column) != len(stream):
                raise ValueError(f"{name} has {len(column)} rows for {len(stream)} arrivals")
        words = np.zeros((len(stream), max(words_for(items.width) for _, items in self._streams)), dtype=np.uint32)
        for number, (_, items) in enumerate(self._streams):
            rows = stream == number
            own = {name: np.asarray(column)[rows] for name, column in fields.items()}
            count = words_for(items.width)
            words[rows, :count] = pack(own, items.fields, count)
        return words

    def _run_slices(self, max_cycles: int | None, progress: Callable[[int], None] | None) -> int:
        cycles, left = 1024, max_cycles
        status = _MORE
        while status == _MORE and left != 0:
            if left is not None:
                cycles = min(cycles, left)
                left -= cycles
            started = time.perf_counter()
            status = self._library.streamjoin_run(self._handle, cycles)
            seconds = time.perf_counter() - started
            cycles = max(1, int(cycles * min(2, _SLICE_SECONDS / max(seconds, 1e-9))))
            if progress is not None:
                progress(self._report().accepted)
        return status

    def _report(self) -> "_Report":
        report = _Report()
        self._library.streamjoin_report(self._handle, ctypes.byref(report))
        return report

    def _results(self, count: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        words = np.empty((count, words_for(self._results_of.width)), dtype=np.uint32)
        cycles = np.empty(count, dtype=np.int64)
        self._library.streamjoin_results(self._handle, words.ctypes.data, cycles.ctypes.data)
        return unpack(words, self._results_of.fields), cycles

    def _describe_stuck(self, report: "_Report", stream: np.ndarray) -> str:
        if report.accepted < len(stream):
            port, _ = self._streams[stream[report.accepted]]
            waiting = f"arrival {report.accepted} waits on {port}, whose ready is low"
        else:
            waiting = "all arrivals have been taken"
        return (
            f"the design is stuck at cycle {report.cycles}: {waiting}, "
            f"the result is {_word(report.valid)}valid, the design {_word(report.halted)}halted, "
            f"{_word(report.draining)}draining and {_word(report.drained)}drained"
        )

    def _describe_violation(self, report: "_Report", stream: np.ndarray) -> str:
        early, late = report.violator, report.accepted
        return (
            f"the design broke the arrival order at cycle {report.cycles}: it took arrival {early} on "
            f"{self._streams[stream[early]][0]} before arrival {late} on {self._streams[stream[late]][0]}"
        )

    def _describe_transfer(self, report: "_Report", status: int) -> str:
        if status == _BAD_COUNT:
            most = self._results_of.slots
            return f"the design gave {report.count} results at once at cycle {report.cycles}, not from 1 to {most}"
        ports = " and ".join(port for port, _ in self._streams)
        return (
            f"the design took arrivals of one port only at cycle {report.cycles}: "
            f"several tuples enter by a transfer of {ports} together"
        )


def _start_values(contents: Contents) -> tuple[int, int]:
    """What Verilator calls it, and a seed that it takes as one: not 0."""
    named = {"zeros": _ZEROS, "ones": _ONES}
    return (named[contents], 1) if isinstance(contents, str) else (_DRAWN, 1 + contents % (2**31 - 1))


def _checked_offers(offered: np.ndarray, count: int) -> np.ndarray:
    offered = np.ascontiguousarray(offered, dtype=np.int64)
    if len(offered) != count:
        raise ValueError(f"{len(offered)} arrivals are offered, and there are {count}")
    if (np.diff(offered) < 0).any():
        raise ValueError("an arrival is offered before an earlier one")
    return offered


def _word(flag: int) -> str:
    return "" if flag else "not "


# ---- Shared with driver.cpp: keep the two in step ----


class _StallPlan(ctypes.Structure):
    _fields_ = (
        ("start", ctypes.c_double),
        ("stop", ctypes.c_double),
        ("first", ctypes.c_double),
        ("seed", ctypes.c_uint64),
        ("pattern", ctypes.c_void_p),
        ("length", ctypes.c_uint64),
    )


class _Request(ctypes.Structure):
    _fields_ = (
        ("arrivals", ctypes.c_uint64),
        ("stride", ctypes.c_uint64),
        ("stream", ctypes.c_void_p),
        ("words", ctypes.c_void_p),
        ("offered", ctypes.c_void_p),
        ("queue", ctypes.c_uint64),
        ("accepted_cycle", ctypes.c_void_p),
        ("discarded", ctypes.c_void_p),
        ("input_stalls", _StallPlan),
        ("output_stalls", _StallPlan),
        ("patience", ctypes.c_uint64),
        ("drain", ctypes.c_uint64),
        ("quiet", ctypes.c_uint64),
    )


class _Report(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            *("cycles", "accepted", "presented", "results", "stall_cycles", "halted_cycles", "dropped", "overflows"),
            *("lost", "valid", "halted", "drained", "draining", "violator", "turned_away", "input_cycles"),
            *("undrained_cycles", "count"),
        )
    )


def _plan(stalls: Stalls) -> tuple[_StallPlan, np.ndarray]:
    """The driver's form of ``stalls``, and the array that it points at."""
    pattern = np.asarray(stalls.pattern, dtype=bool)
    flowing = 1 - stalls.probability
    # Stalls that last `burst` cycles take the share `probability` if flowing lasts burst × flowing / probability.
    burst = max(stalls.burst, 1 / flowing)
    plan = _StallPlan(
        start=stalls.probability / (burst * flowing),
        stop=1 / burst,
        first=stalls.probability,
        seed=stalls.seed % 2**64,
        pattern=pattern.ctypes.data,
        length=len(pattern),
    )
    return plan, pattern


def _load(library: Library) -> ctypes.CDLL:
    loaded = ctypes.CDLL(os.fspath(library.path))
    handle = ctypes.c_void_p
    for name, result, arguments in (
        ("create", handle, [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
        ("destroy", None, [handle]),
        ("reset", None, [handle, ctypes.c_uint64]),
        ("begin", None, [handle, ctypes.POINTER(_Request)]),
        ("run", ctypes.c_int, [handle, ctypes.c_uint64]),
        ("report", None, [handle, ctypes.POINTER(_Report)]),
        ("results", None, [handle, ctypes.c_void_p, ctypes.c_void_p]),
    ):
        function = getattr(loaded, f"streamjoin_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded
