"""What a join is fed: tuples that fit its parameters, read or generated, and when each of them is offered."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.wording import listed, shown
from streamjoin.sim.run.simulate import check_numbering
from streamjoin.sim.tuples import offers
from streamjoin.sim.tuples.offers import Offers
from streamjoin.sim.tuples.tables import read_arrivals
from streamjoin.sim.tuples.workload import ARRIVALS, KEYS, Workload
from streamjoin.support.files import InputError

#: How tuples are offered, at a rate or by their time.
PACES = ("even", "poisson", "bursty", "time")


def read(source: str | Path | pa.Table, parameters: JoinParameters, *, timed: bool = False) -> Arrivals:
    """The tuples of a file or a table; with ``timed`` their times, too, even where windows do not need them."""
    return read_arrivals(
        source,
        parameters.streams,
        key_width=parameters.key_width,
        two_keys="key2" in parameters.predicate.fields,
        timed=timed or parameters.spans is not None,
        time_width=parameters.time_width if parameters.spans is not None else 63,
    )


def workload(
    parameters: JoinParameters,
    *,
    match_rate: float | None = None,
    seed: int = 0,
    arrivals: str | None = None,
    keys: str | None = None,
) -> Workload:
    """What generates tuples for these parameters; ``None`` is what :class:`Workload` takes by itself."""
    try:
        return Workload(
            streams=len(parameters.streams),
            seed=seed,
            key_width=parameters.key_width,
            predicate=parameters.predicate,
            match_rate=match_rate,
            arrivals=arrivals or ARRIVALS[0],
            keys=keys or KEYS[0],
        )
    except ValueError as error:
        raise ParameterError(str(error)) from error


def generate(parameters: JoinParameters, tuples: int, **how: Any) -> Arrivals:
    """So many tuples of a :func:`workload`."""
    if tuples < 0:
        raise InputError(f"{tuples} tuples cannot be generated: give a whole number from 0 up")
    check_numbering(parameters, tuples)  # before they are made, lest they fill the memory
    arrivals = workload(parameters, **how).slice(0, tuples)
    if parameters.spans is not None and len(arrivals) and int(arrivals.times[-1]) >> parameters.time_width:
        raise ParameterError(
            f"time_width={parameters.time_width} is too narrow for {len(arrivals)} generated tuples: raise it"
        )
    return arrivals


def offers_of(
    arrivals: Arrivals, rate: float | str | Fraction | None = None, pace: str | None = None, seed: int = 0
) -> Offers | None:
    """When each of the arrivals is offered; ``None`` for as fast as they are taken."""
    if rate is None and pace is None:
        return None
    if pace not in (None, *PACES):
        raise InputError(f"there is no pace {shown(pace)}; there are {listed(PACES, str(pace))}")
    try:
        exact = None if rate is None else Fraction(str(rate))  # 0.1 is a tenth, not what a float makes of it
    except (ValueError, ZeroDivisionError):
        raise InputError(f"the rate must be a number of tuples a cycle above 0, not {shown(rate)}") from None
    try:
        if pace == "time":
            return offers.by_time(arrivals.times, exact)
        if exact is None:
            raise InputError(f"pace {pace} needs a rate: give one, in tuples a cycle")
        if pace in (None, "even"):
            return offers.even(len(arrivals), exact)
        return getattr(offers, pace)(len(arrivals), exact, seed)
    except ValueError as error:
        raise InputError(str(error)) from error
