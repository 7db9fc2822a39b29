"""What decides the results of a stream and their cycles: the checkpoint keeps it, and a run that goes on must equal it.

Names do not tell: whoever goes on with a function that was changed under its name mixes two joins in one output.
"""

import json

from streamjoin.reference.wording import printable
from streamjoin.sim.verilog.generate import Verilog
from streamjoin.spark_driver.sources import to_text
from streamjoin.spark_driver.stream import Lanes

_MOST = 50  # characters of a value that are shown
_WHOLE = 1 << 20  # and that are compared
_BEFORE = 10  # of them, before the first that differs


def identity(verilog: Verilog, lanes: Lanes) -> dict:
    """Of lanes that run through this Verilog; what tells people most comes first.

    A predicate of the user's own is known by what it says.
    """
    manifest = verilog.manifest
    return {
        "streamjoin": manifest["versions"]["streamjoin"],
        "design": manifest["design"],
        "predicate": str(lanes.source.predicate.expression),
        "parameters": manifest["parameters"],
        **json.loads(to_text(lanes.source)),
        "tuples": lanes.tuples,
        "lanes": lanes.lanes,
        "batch": lanes.batch,
        "Verilog": manifest["hash"],
    }


def first_difference(before: dict, now: dict) -> str | None:
    """In what a run differs from one before, in words: ``seed was 1, not 2``; None if in nothing."""
    for name in (*now, *sorted(before.keys() - now.keys())):
        old, new = (values.get(name, "absent") for values in (before, now))
        if isinstance(old, dict) and isinstance(new, dict):
            if found := first_difference(old, new):
                return found
        elif old != new:
            old, new = _apart(_text(old), _text(new))
            return f"{name} was {old}, not {new}"
    return None


def _text(value: object) -> str:
    return printable(value if isinstance(value, str) else json.dumps(value), longest=_WHOLE)


def _apart(old: str, new: str) -> list[str]:
    """Two texts that differ; of long ones, what lies around the first difference."""
    start = 0
    if max(len(old), len(new)) > _MOST:
        same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        start = max(0, same - _BEFORE)
    stop = start + _MOST
    return [f"{'…' * bool(start)}{text[start:stop]}{'…' * (len(text) > stop)}" for text in (old, new)]
