"""A join: a design with its parameters, to simulate, to write as Verilog, to synthesise, or to build into another."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from operator import index
from pathlib import Path
from typing import SupportsIndex

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.hdl.base.part import Ported
from streamjoin.hdl.registry import find, installed
from streamjoin.reference.predicates import Predicate, predicate_of
from streamjoin.run import Run
from streamjoin.sim.run.feed import generate, offers_of, read
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.simulate import Simulator, check_numbering, check_widths, design_verilog
from streamjoin.sim.verilog.generate import Verilog, check_name
from streamjoin.support.files import InputError, check_writable
from streamjoin.synth.flow import targets
from streamjoin.synth.flow.cost import Cost, measure
from streamjoin.tables import Source, as_readable

#: Hears what is being done, how much of it is done, and of how much (0 where nobody knows).
Progress = Callable[[str, int, int], None]


def designs() -> dict[str, str]:
    """The designs there are, those of installed packages included: what each is, by its name."""
    return {name: design.summary for name, design in installed().items()}


def join(design: str | Design, **parameters: object) -> "Join":
    """A join of one of the designs.

    Parameters
    ----------
    design
        Its name, one of :func:`designs`; ``"module:NAME"`` for one that is not installed; or the design itself.
    parameters
        By the names that ``streamjoin designs DESIGN`` lists, as values or as text. ``window`` sets all windows at
        once, ``span`` all spans; ``preset`` names a set of parameters, and what is given beside it wins. ``predicate``
        is text as on the command line (``"band:3"``), or a function of two tuples r and s that returns one condition
        on ``key`` and ``key2``: ``lambda r, s: (r.key <= s.key + 8) & (s.key <= r.key + 2)``.

    Raises
    ------
    ParameterError
        Where no hardware can be made of this; its one sentence says what to change.
    """
    design = design if isinstance(design, Design) else find(design)
    given = {name: _plain(value) for name, value in parameters.items()}
    if callable(function := given.get("predicate")) and not isinstance(function, Predicate):
        try:
            given["predicate"] = predicate_of(function)
        except ValueError as error:
            raise ParameterError(str(error)) from error
    return Join(design, design.parameters(**given))


def _plain(value: object) -> object:
    """NumPy's whole numbers as Python's."""
    return index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else value


@dataclass(frozen=True)
class Join:
    """A design with its parameters; :func:`join` makes one.

    Attributes
    ----------
    design
        What kind of join it is.
    parameters
        All of its parameters, checked; ``parameters.as_dict()`` has them as plain values.
    """

    design: Design = field(hash=False)
    parameters: JoinParameters

    def simulate(
        self,
        source: Source | None = None,
        *,
        tuples: int | None = None,
        match_rate: float | None = None,
        seed: int = 0,
        arrivals: str | None = None,
        keys: str | None = None,
        rate: float | str | Fraction | None = None,
        pace: str | None = None,
        check: bool = True,
        input_stalls: float = 0.0,
        output_stalls: float = 0.0,
        waves: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Push tuples through the design, cycle by cycle, drain it, and compare its results with the reference.

        The first call compiles the design, or finds it in the cache; later ones only run it.

        Parameters
        ----------
        source
            The tuples, in arrival order: the path of a file (.csv, .csv.gz, .parquet; ``"-"`` for CSV from standard
            input), a pyarrow table, a pandas frame, or a mapping of columns such as NumPy arrays. Columns are
            ``stream`` (``"R"`` and ``"S"``; ``"S1"`` to ``"SN"``), ``key``, and where they matter ``key2`` and
            ``time``; others are passed over.
        tuples
            Instead: generate so many.
        match_rate, arrivals, keys
            Of generated tuples: the probability that two of different streams match (default: keys are uniform over
            their width); ``"alternating"``, ``"random"``, ``"bursty"`` or ``"one-sided"``; ``"uniform"``, ``"zipf"`` or
            ``"drifting"``.
        seed
            Of whatever is random.
        rate, pace
            Tuples offered a cycle, all streams together, and how: ``"even"``, ``"poisson"``, ``"bursty"``, or
            ``"time"``, by the tuples' time, one tick a cycle or scaled to the rate. Without either, tuples are offered
            as fast as they are taken.
        check
            Whether to compare with the reference.
        input_stalls, output_stalls
            The share of cycles, below 1, in which no input is offered and in which results have to wait.
        waves
            A file, .vcd or .fst, for all signals.
        progress
            Hears what is being done, how much of it is done, and of how much.

        Raises
        ------
        InputError
            Where something is wrong with the tuples or how they are asked for, in one sentence.
        ParameterError
            Where these parameters cannot be simulated, or not with so many tuples.
        """
        hear = progress or _hear_nothing
        check_widths(self.parameters)
        stalls = _stalls(seed, input_stalls=input_stalls, output_stalls=output_stalls)
        file = None if waves is None else _waves_file(waves)
        if source is None and tuples is not None:
            fed = generate(self.parameters, tuples, match_rate=match_rate, seed=seed, arrivals=arrivals, keys=keys)
        elif source is None or tuples is not None:
            raise InputError("give a source of tuples, or tuples=N to generate so many: one of them")
        else:
            for name, value in (("match_rate", match_rate), ("arrivals", arrivals), ("keys", keys)):
                if value is not None:
                    raise InputError(f"{name} goes with tuples=N, not with a source of tuples: leave it out")
            fed = read(as_readable(source), self.parameters, timed=pace == "time")
            check_numbering(self.parameters, len(fed))
        offers = offers_of(fed, rate, pace, seed)
        hear(f"building {self.design.name}", 0, 0)
        simulator = self.simulator if file is None else Simulator.build(self.design, self.parameters, waves=file)
        hear("tuples", 0, len(fed))
        return Run(
            simulator.run(
                fed,
                check=check,
                offers=offers,
                input_stalls=stalls[0],
                output_stalls=stalls[1],
                waves=file,
                progress=lambda accepted: hear("tuples", accepted, len(fed)),
            )
        )

    @cached_property
    def simulator(self) -> Simulator:
        """The compiled design, built when it is first asked for."""
        return Simulator.build(self.design, self.parameters)

    def verilog(self, name: str | None = None, *, axi: bool = False) -> Verilog:
        """The design as Verilog: ``text``, ``manifest``, and ``write(path)`` for both.

        Parameters
        ----------
        name
            Of the top module, with which the names of all others begin (default: the design's).
        axi
            Whether ports have the names of AXI4-Stream.
        """
        if name is not None:
            try:
                check_name(name)
            except ValueError as error:
                raise ParameterError(str(error)) from error
        return design_verilog(self.design, self.parameters, name, axi=axi)

    def synthesise(
        self,
        target: str,
        *,
        seeds: int = 1,
        jobs: int = 1,
        area_only: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> Cost:
        """What the design costs on a device: area, clock, and the path that limits it; ``as_dict()`` for JSON.

        Parameters
        ----------
        target
            The device, such as ``"ecp5-85k"``; ``streamjoin synth --targets`` lists them. ``"ecp5-85k@200"`` asks
            place and route for 200 MHz.
        seeds, jobs
            How often to place and route, and how many of these at a time.
        area_only
            Whether to leave out place and route, and with it the clock.
        progress
            Hears a word as each step is done.
        """
        device = targets.find(target)
        device = device.without_clock() if area_only else device
        return measure(self.component(), device, name=str(self), seeds=seeds, jobs=jobs, progress=progress)

    def component(self) -> Ported:
        """The hardware itself, an Amaranth component to be put into a design of one's own.

        Its ports, in the domain ``sync``:

        - ``i_r``, ``i_s`` (``i_s1`` to ``i_sN`` where there are more streams): streams of tuples, with the fields
          ``key``, ``key2`` and ``time`` where they matter, and ``payload``. The order in which they are taken is their
          arrival order; of those that are taken in one cycle, that of the first port is the earliest. With a ``width``
          of several tuples a cycle the payload has ``slots`` and a ``count``, and both streams transfer together;
          with several ``results`` a cycle so has that of ``o_result``.
        - ``o_result``: the stream of results, with the ``key`` that its tuples share, or ``key_r`` and ``key_s``, and
          with ``payload_r`` and ``payload_s``; from designs that number their results, with ``order`` and ``mark``.
        - ``drain`` in, ``drained`` out: give all results that are due; all of them have left. Only a reset makes it
          take tuples again.
        - ``halted`` out: full queues hold the input back.
        - ``discarding``, ``dropped`` out: with ``on_full="drop"``, what is taken in this cycle is thrown away; how
          many tuples have been.
        - ``overflows`` out: how many tuples left a time-based window before their time was up.
        """
        return self.design.component(self.parameters)

    def __str__(self) -> str:
        """The words for the command line that make the same join."""
        defaults = self.design.parameters().as_dict()
        given = {name: value for name, value in self.parameters.as_dict().items() if value != defaults.get(name)}
        return " ".join([self.design.key, *(f"-p {name}={value}" for name, value in given.items())])


def _hear_nothing(_what: str, _done: int, _of: int) -> None:
    """The progress that nobody asked for."""


def _stalls(seed: int, **shares: float) -> list[Stalls]:
    """Stalls of so many cycles, each with its own seed."""
    for name, share in shares.items():
        if not 0 <= share < 1:
            raise InputError(f"{name} must be at least 0 and below 1, or nothing ever moves, not {share}")
    return [Stalls(share, seed=seed + number) for number, share in enumerate(shares.values())]


def _waves_file(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if path.suffix not in (".vcd", ".fst"):
        raise InputError(f"waves go to a file that ends in .vcd or .fst, not to {path.name!r}")
    check_writable(path)
    return path
