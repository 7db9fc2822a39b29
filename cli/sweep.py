"""Measure a design over a grid of parameters: a folder with CSV, JSON, plots and one page."""

import argparse
import shlex
import sys
from pathlib import Path

from tqdm import tqdm

from streamjoin.cli import completion
from streamjoin.cli.arguments import add_allow_overflows, on_record, share, whole
from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.registry import find
from streamjoin.report.metrics import WRONG, nothing_matched
from streamjoin.synth.sweep.grid import Axis, expand, read_axis
from streamjoin.synth.sweep.run import DEFAULT_RATES, OVERFLOW, Sweep, SweepSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = parser.add_argument(
        "designs", metavar="DESIGN[,DESIGN…]", help="'streamjoin designs' lists them; or module:NAME"
    )
    completion.completed(names, completion.design_names)
    parser.add_argument(
        "-p",
        dest="axes",
        action="append",
        default=[],
        metavar="NAME=V1,V2,…",
        help="values of a parameter; a value may be an expression of others (window=8*cores); "
        "DESIGN.NAME=… is for one design alone",
    )
    parser.add_argument("--predicate", action="append", default=[], metavar="P", help="may be given several times")
    parser.add_argument("--match-rates", type=_rates, default=DEFAULT_RATES, metavar="X,…", help="none: uniform keys")
    parser.add_argument(
        "--tuples", type=whole(1), default=20_000, metavar="N", help="of a run, at most (default 20000)"
    )
    target = parser.add_argument(
        "--target", default="", metavar="T1,T2,…", help="devices to synthesise for, T@MHZ for another goal"
    )
    completion.completed(target, completion.targets)
    parser.add_argument(
        "--seeds", default="1", metavar="K", help="of place and route, or an expression as with -p (default 1)"
    )
    parser.add_argument("--jobs", type=whole(1), default=1, metavar="N", help="processes at a time (default 1)")
    parser.add_argument("--timeout", type=whole(1), metavar="MINUTES", help="give up on a point after so long")
    add_allow_overflows(parser)
    parser.add_argument("--title", metavar="TEXT", help="of the page")
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="DIR", help="finished points stay there")


def run(arguments: argparse.Namespace) -> int:
    # The plots' library takes longer to load than all else: no other command should wait for it.
    from streamjoin.report.sweep_report import write_report

    designs = _designs(arguments.designs)
    axes = [read_axis(text) for text in arguments.axes]
    if arguments.predicate:
        axes.append(Axis("predicate", tuple(dict.fromkeys(arguments.predicate))))
    targets = tuple(dict.fromkeys(_words(arguments.target)))
    settings = SweepSettings(arguments.match_rates, arguments.tuples, targets, arguments.seeds)
    sweep = Sweep(expand(designs, axes), settings, arguments.output)
    title = arguments.title or _title(designs, arguments)
    interrupted = False
    with tqdm(unit=" parts", disable=None, leave=False) as bar:
        try:
            sweep.run(
                processes=arguments.jobs,
                timeout=arguments.timeout and 60 * arguments.timeout,
                progress=lambda done, of: _show(bar, done, of),
            )
        except KeyboardInterrupt:
            interrupted = True
    results = write_report(sweep, title=title, command=_command(arguments))
    print(_in_words(results, arguments.output))
    if interrupted:
        print("streamjoin: interrupted; nothing finished is lost: run the same command to go on", file=sys.stderr)
        return 130
    return _status(results, arguments.allow_overflows)


def _designs(text: str) -> list[Design]:
    designs: dict[str, Design] = {}
    for design in map(find, _words(text)):
        if designs.setdefault(design.name, design) != design:
            raise ParameterError(f"two designs are called {design.name}: rename one, or sweep them one by one")
    return list(designs.values())


def _show(bar: tqdm, done: int, of: int) -> None:
    bar.total = of
    bar.n = done
    bar.refresh()


def _in_words(results: dict, folder: Path) -> str:
    """The table in short, what went wrong, and where to look."""
    lines = []
    for row in results["rows"]:
        figures = [
            f"{row['metrics'][name]:.4g} {results['metrics'][name]['unit'] or results['metrics'][name]['label']}"
            for name in ("tuples_per_cycle", "fmax", "tuples_per_second", "luts", "brams")
            if row["metrics"][name] is not None
        ]
        target = f" on {row['target']}" if row["target"] else ""
        kinds = dict.fromkeys(failure["kind"] for failure in row["failures"])
        lines.append(f"{row['label']}{target}: {', '.join([*figures, *kinds])}")
    sentences = dict.fromkeys(failure["sentence"] for row in results["rows"] for failure in row["failures"])
    sentences |= dict.fromkeys(f"{each['design']} refuses: {each['sentence']}" for each in results["refused"])
    lines += [f"  {sentence}" for sentence in sentences]
    silent = dict.fromkeys((row["label"], *nothing_matched(row)) for row in results["rows"] if nothing_matched(row))
    lines += [f"  nothing matched: {label} has 0 results at {', '.join(rates)}" for label, *rates in silent]
    return "\n".join([*lines, f"{folder / 'report.html'}: all of it; results.csv, results.json and plots beside it"])


def _status(results: dict, allow_overflows: bool) -> int:
    """1 if a design is wrong or results are missing by overflow, 2 if a tool failed; what does not fit is an answer."""
    kinds = {failure["kind"] for row in results["rows"] for failure in row["failures"]}
    if kinds.intersection(WRONG):
        print("streamjoin: a result differs from the reference", file=sys.stderr)
        return 1
    if OVERFLOW in kinds:
        print("streamjoin: results are missing by overflow: give the windows more room", file=sys.stderr)
        if not allow_overflows:
            return 1
    if bad := sorted(kinds - {"does not fit", OVERFLOW}):
        print(f"streamjoin: not every point could be measured: {', '.join(bad)}", file=sys.stderr)
        return 2
    return 0


def _title(designs: list[Design], arguments: argparse.Namespace) -> str:
    over = [text.partition("=")[0].rpartition(".")[2].replace("_", " ") for text in arguments.axes if "," in text]
    title = _listed([design.name for design in designs]) + (f" over {_listed(over)}" if over else "")
    return title[0].upper() + title[1:]


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _command(arguments: argparse.Namespace) -> str:
    """The call, without what does not change the figures."""
    words = ["streamjoin", "sweep", arguments.designs]
    for axis in arguments.axes:
        words += ["-p", axis]
    for predicate in arguments.predicate:
        words += ["--predicate", predicate]
    if arguments.match_rates != DEFAULT_RATES:
        words += ["--match-rates", ",".join("none" if rate is None else f"{rate:g}" for rate in arguments.match_rates)]
    words += ["--tuples", str(arguments.tuples)]
    if arguments.target:
        words += ["--target", arguments.target, "--seeds", arguments.seeds]
    return shlex.join([*words, "-o", on_record(arguments.output)])


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _rates(text: str) -> tuple[float | None, ...]:
    rates = tuple(None if word == "none" else share(word) for word in _words(text))
    if not rates or len(set(rates)) < len(rates):
        raise argparse.ArgumentTypeError(f"must be different probabilities, with commas between, not {text!r}")
    return rates
