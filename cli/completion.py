"""What a shell offers when TAB is pressed: designs, parameters and their choices, targets, boards, figures.

``eval "$(register-python-argcomplete streamjoin)"`` in a shell's start-up file makes it ask us.
"""

import argparse
from collections.abc import Callable, Iterable
from contextlib import suppress

import argcomplete

from streamjoin.hdl.base.parameters import ParameterError

#: Gives what may stand in an argument's place, from what is known of the call: ``parsed_args`` and ``prefix``.
Completer = Callable[..., Iterable[str]]

_PREDICATES = ("equi", "ne", "lt", "le", "gt", "ge", "band:", "bands:", "band2:")


def complete(parser: argparse.ArgumentParser) -> None:
    """Tell the shell that asks what may come next, and end."""
    argcomplete.autocomplete(parser)


def completed(action: argparse.Action, completer: Completer) -> None:
    """Let an argument be completed by what a function gives."""
    vars(action)["completer"] = completer


def design_names(**_) -> list[str]:
    from streamjoin.hdl.registry import installed

    return list(installed())


def predicates(**_) -> tuple[str, ...]:
    return _PREDICATES


def targets(**_) -> list[str]:
    from streamjoin.synth.flow.targets import TARGETS

    return list(TARGETS)


def boards(**_) -> list[str]:
    from streamjoin.synth.board.boards import boards

    return list(boards())


def figures(**_) -> list[str]:
    from streamjoin.report.reproduce.framework.registry import ENTRIES

    return list(ENTRIES)


def parameters(prefix: str, parsed_args: argparse.Namespace, **_) -> list[str]:
    """``NAME=`` for each parameter of the design that was named; behind ``NAME=`` its choices, if it has any."""
    from streamjoin.hdl.registry import find

    values: dict[str, Iterable[str]] = {"window": (), "span": ()}
    with suppress(ParameterError):  # no such design: nothing to offer
        design = find(parsed_args.design)
        values |= {field.name: field.metadata.get("choices") or () for field in design.parameters_type.fields()}
        values |= {"predicate": _PREDICATES, "preset": design.presets}
    name, equals, _ = prefix.partition("=")
    return [f"{name}={value}" for value in values.get(name, ())] if equals else [f"{name}=" for name in values]
