"""When tuples are offered: the options ``--rate``, ``--pace`` and ``--clock``, and what a run says of them."""

import argparse
import re
from fractions import Fraction
from math import isfinite

from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.reference.wording import shown
from streamjoin.sim.run.feed import PACES
from streamjoin.sim.tuples import offers
from streamjoin.support.files import InputError

_RATE = re.compile(
    r"\d{1,40}/0*[1-9]\d{0,40}|(\d{1,40}\.?|\d{0,40}\.\d{1,40})(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE
)
#: What latencies rest on where nobody says when tuples are offered.
AT_FULL_LOAD = "input offered as fast as it is taken"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    load = parser.add_argument_group("offered load (unless told, input is offered as fast as it is taken)")
    load.add_argument(
        "--rate",
        type=_rate,
        metavar="X",
        help="tuples offered a cycle, all streams together, such as 0.25 or 1/3 (advise counts a second)",
    )
    load.add_argument(
        "--pace",
        choices=PACES,
        help=f"even (default); at random with the same mean, singly or in bursts of {offers.BURST}; "
        "or by the tuples' time column, one tick a cycle, scaled to --rate if given",
    )
    load.add_argument("--clock", type=_clock, metavar="MHZ", help="also tell tuples a second and nanoseconds")


def check(arguments: argparse.Namespace) -> None:
    """InputError before any work is done if the options do not go together."""
    if arguments.rate is None and arguments.pace not in (None, "time"):
        raise InputError(f"--pace {arguments.pace} needs a rate: give --rate X, in tuples a cycle")


def in_seconds(summary: dict, clock: float | None) -> dict:
    """The figures in seconds, at a clock in MHz, if there is one."""
    if clock is None:
        return {}
    figures: dict[str, object] = {"clock_mhz": clock}
    for name, value in summary.items():
        if name in ("tuples_per_cycle", "offered_tuples_per_cycle"):
            figures[name.replace("_cycle", "_second")] = value * clock * 1e6
        if name in ("latency_cycles", "sojourn_cycles"):
            nanoseconds = {which: None if each is None else each * 1e3 / clock for which, each in value.items()}
            figures[name.replace("_cycles", "_ns")] = nanoseconds
    return figures


def lines(summary: dict, parameters: JoinParameters) -> list[str]:
    """What is to be said of the times in a summary, and of the offered load, if there was any."""
    latency, told = summary["latency_cycles"], []
    loaded = "sojourn_cycles" in summary
    if loaded:
        queue = f"{summary['waiting_max']} waited in front at most"
        verdict = "sustained" if summary["sustained"] else "not sustained: the queue in front still grew at the end"
        if parameters.on_full == "drop":
            queue = "none waited, what was not taken at once was dropped"
            verdict = "sustained" if summary["sustained"] else "not sustained: tuples were dropped to the end"
        told.append(f"  offered: {summary['offered_tuples_per_cycle']:.4g} tuples a cycle; {queue}; {verdict}")
    if latency["min"] is not None:
        how = "" if loaded else f", {AT_FULL_LOAD}"
        told.append(f"  latency in cycles, from acceptance{how}: {in_words(latency)}")
    if loaded and summary["sojourn_cycles"]["min"] is not None:
        told.append(f"  sojourn in cycles, from the offer: {in_words(summary['sojourn_cycles'])}")
    if loaded and summary["results_after_drain"]:
        told.append(
            f"  not in the sojourn: {summary['results_after_drain']} of {summary['results']} results came only with "
            f"the drain, because {parameters.holds_back}"
        )
    return told + _in_seconds(summary)


def in_words(figures: dict) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in figures.items())


def _in_seconds(summary: dict) -> list[str]:
    if "clock_mhz" not in summary:
        return []
    told = [f"  at {summary['clock_mhz']:g} MHz: {summary['tuples_per_second']:,.0f} tuples a second"]
    if "offered_tuples_per_second" in summary:
        told[0] += f", {summary['offered_tuples_per_second']:,.0f} offered"
    for name in ("latency", "sojourn"):
        figures = summary.get(f"{name}_ns")
        if figures and figures["min"] is not None:
            told.append(f"  {name} in ns: {in_words(figures)}")
    return told


def _rate(text: str) -> Fraction:
    rate = Fraction(text) if _RATE.fullmatch(text) else 0
    if rate == 0:
        raise argparse.ArgumentTypeError(f"must be a number of tuples a cycle above 0, not {shown(text)}")
    return rate


def _clock(text: str) -> float:
    try:
        clock = float(text) if text.isascii() else 0.0
    except ValueError:
        clock = 0.0
    if not (isfinite(clock) and clock > 0):
        raise argparse.ArgumentTypeError(f"must be a number of MHz above 0, not {shown(text)}")
    return clock
