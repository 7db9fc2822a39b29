"""Joins in C++ made callable: compiled for this processor, kept in the cache, and called with NumPy arrays."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from streamjoin.reference.arrivals import Arrivals
from streamjoin.support import cache as kept
from streamjoin.support.toolchain import compiler, run_tool

_FLAGS = ("-std=gnu++17", "-O3", "-march=native", "-fPIC", "-shared", "-w")
#: A ring of so many results stays in the nearest cache, as it would for somebody who reads them at once.
_RING = 1 << 10


class _Input(ctypes.Structure):
    _fields_ = (
        ("tuples", ctypes.c_uint64),
        ("untimed", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in ("stream", "key", "key2", "payload")),
    )


class _Output(ctypes.Structure):
    _fields_ = (
        ("ring", ctypes.c_void_p),
        ("mask", ctypes.c_uint64),
        ("results", ctypes.c_uint64),
        ("seconds", ctypes.c_double),
    )


@dataclass(frozen=True, eq=False)
class Timed:
    """What a run came to.

    Attributes
    ----------
    results
        How many there were.
    seconds
        How long the core was at work on what came after the untimed tuples.
    ring
        The last results, of as many as there was room for: fields ``key`` and ``payload``.
    """

    results: int
    seconds: float
    ring: np.ndarray


@dataclass(frozen=True)
class Program:
    """A join to be compiled.

    Parameters
    ----------
    source
        A file beside this one.
    streams
        How many it joins.
    key_width
        32 or 64: bits of the unsigned integers that keys are.
    keys
        How many keys a result shows.
    macros
        What else the source has to be told.
    """

    source: str
    streams: int
    key_width: int
    keys: int
    macros: tuple[tuple[str, str], ...] = ()

    def run(
        self, arrivals: Arrivals, rooms: Sequence[int], numbers: Sequence[int], *, untimed: int = 0, ring: int = _RING
    ) -> Timed:
        """Join all the arrivals; the payload of each is its arrival number.

        ``numbers`` are arguments of its own, ``untimed`` how many tuples come before the clock starts, and ``ring``, a
        power of two, how many results are kept.
        """
        key_type = np.dtype(f"u{self.key_width // 8}")
        columns: dict[str, np.ndarray | None] = {
            "stream": np.ascontiguousarray(arrivals.stream),
            "key": arrivals.key.astype(key_type),
            "key2": None if arrivals.key2 is None else arrivals.key2.astype(key_type),
            "payload": np.arange(len(arrivals), dtype=np.uint32),
        }
        pointers = {name: None if column is None else column.ctypes.data for name, column in columns.items()}
        result = np.dtype([("key", key_type, (self.keys,)), ("payload", np.uint32, (self.streams,))], align=True)
        kept_results = np.zeros(ring, result)
        windows = np.array(rooms, np.uint32)
        own = np.array(numbers, np.int64)
        given = _Input(len(arrivals), untimed, *pointers.values())
        told = _Output(kept_results.ctypes.data, ring - 1, 0, 0.0)
        status = _library(self)(
            ctypes.byref(given),
            ctypes.byref(told),
            windows.ctypes.data_as(ctypes.c_void_p),
            own.ctypes.data_as(ctypes.c_void_p),
        )
        if status:
            raise MemoryError(f"there is no room for windows of {max(rooms)} tuples: make them smaller")
        return Timed(told.results, told.seconds, kept_results)


@cache
def _library(program: Program) -> Any:
    """The function of a compiled program."""
    command = [*compiler(), *_FLAGS]
    for name, value in _macros(program).items():
        command.append(f"-D{name}={value}")
    folder = files(__package__ or "")
    sources = {name: folder.joinpath(name).read_text(encoding="utf-8") for name in (program.source, "common.hpp")}

    def build(place: Path) -> None:
        for name, text in sources.items():
            (place / name).write_text(text, encoding="utf-8")
        run_tool([*command, place / program.source, "-o", place / "join.so"])

    key = kept.key_of("yardstick", _machine(), *command, *sources.values())
    function = ctypes.CDLL(str(kept.entry(key, build) / "join.so")).join
    function.argtypes = (ctypes.c_void_p,) * 4
    function.restype = ctypes.c_int
    return function


def _macros(program: Program) -> Mapping[str, str]:
    own = {"KEY": f"uint{program.key_width}_t", "STREAMS": str(program.streams), "KEYS": str(program.keys)}
    return own | dict(program.macros)


@cache
def _machine() -> str:
    """The compiler and all that it knows of this processor: what is compiled for one may not run on another."""
    command = compiler()
    return run_tool([*command, "--version"]) + run_tool(
        [*command, "-march=native", "-dM", "-E", "-x", "c++", "/dev/null"]
    )
