"""Measure the papers' figures and tables anew: what they claim beside what we find, with a verdict."""

import argparse
import shlex
import sys
from pathlib import Path

from tqdm import tqdm

from streamjoin.cli import completion
from streamjoin.cli import summary as summary_option
from streamjoin.cli.arguments import on_record, whole
from streamjoin.support.toolchain import ToolError
from streamjoin.synth.flow.errors import SynthError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    figures = parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", help="such as 000-table-1 (default: all; see --list)"
    )
    completion.completed(figures, completion.figures)
    parser.add_argument("--list", action="store_true", help="say what there is and measure nothing")
    parser.add_argument("-o", dest="output", type=Path, default=Path("build", "reproduce"), metavar="DIR")
    parser.add_argument(
        "--cores", type=_counts, metavar="N,N,…", help="core counts of the figures that run over them (default: theirs)"
    )
    parser.add_argument("--seeds", type=whole(1), default=1, metavar="K", help="of place and route (default 1)")
    parser.add_argument("--jobs", type=whole(1), default=1, metavar="N", help="seeds at a time (default 1)")
    summary_option.add_argument(parser, "write all records in one")


def run(arguments: argparse.Namespace) -> int:
    # The plots' library takes longer to load than all else: no other command should wait for it.
    from streamjoin.report.reproduce.framework.entry import EntrySettings
    from streamjoin.report.reproduce.framework.record import INDEX, make, prepare, write_index
    from streamjoin.report.reproduce.framework.registry import choose

    entries = choose(arguments.figures)
    if arguments.list:
        for entry in entries:
            print(f"{entry.name}  {entry.title} ({entry.source})\n  {entry.claim}")
        return 0
    summary_option.check(arguments)
    prepare(arguments.output)
    records, failures = [], {}
    quiet = summary_option.is_quiet(arguments)
    with tqdm(entries, unit=" figures", disable=None, leave=False) as bar:
        settings = EntrySettings(arguments.cores, arguments.seeds, arguments.jobs, bar.set_postfix_str)
        for entry in bar:
            bar.set_description(entry.name)
            try:
                record = make(entry, settings, _command(arguments))
            except (ToolError, SynthError) as error:
                # One figure that cannot be measured here is no reason to withhold the others.
                failures[entry.name] = str(error)
                continue
            record.write(arguments.output)
            records.append(record)
            if not quiet:
                tqdm.write(f"{entry.name}: {entry.title}\n{_indented(str(record.table))}\n  {record.verdict}\n")
    if records:
        write_index(arguments.output)
    held = sum(record.verdict.holds for record in records)
    words = f"{held} of {len(records)} claims hold; {arguments.output / INDEX}: all of it, with pictures"
    summary_option.tell(arguments, [record.as_dict() for record in records], words if records else "")
    for name, sentence in failures.items():
        print(f"streamjoin: {name} could not be measured: {sentence}", file=sys.stderr)
    return 2 if failures else 0


def _command(arguments: argparse.Namespace) -> str:
    words = ["streamjoin", "reproduce", *arguments.figures]
    if arguments.cores:
        words += ["--cores", ",".join(map(str, arguments.cores))]
    if arguments.seeds > 1:
        words += ["--seeds", str(arguments.seeds)]
    return shlex.join([*words, "-o", on_record(arguments.output)])


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _counts(text: str) -> tuple[int, ...]:
    return tuple(sorted({whole(1)(word) for word in text.split(",")}))
