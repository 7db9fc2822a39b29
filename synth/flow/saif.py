"""Switching activity as Verilator writes it: how often each bit of each net changed (SAIF 2.0)."""

import re
from collections import Counter
from pathlib import Path

_OPENS = re.compile(r"\(INSTANCE (\S+)$")
# A name, the bit of it if it has several, and its changes; an element of a memory has its number in the name.
_NET = re.compile(r"\((?P<name>\S+?)(?:\\\[\d+\\\])? \(T0 .*\(TC (?P<changes>\d+)\)\)$")


def read_saif(path: Path, instance: str) -> Counter[str]:
    """The changes of all bits of each net of ``instance``, not counting those of instances in it."""
    changes: Counter[str] = Counter()
    within: list[str] = []
    with path.open() as file:
        for line in map(str.strip, file):
            if opened := _OPENS.match(line):
                within.append(opened[1])
            elif line == "(NET":
                within.append(line)
            elif line == ")" and within:
                within.pop()
            elif within[-2:] == [instance, "(NET"] and (net := _NET.match(line)):
                changes[net["name"].replace("\\", "")] += int(net["changes"])
    if not changes:
        raise ValueError(f"{path} has no activity of an instance {instance}")
    return changes
