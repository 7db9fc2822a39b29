"""Boards by name: those that amaranth-boards knows, and the toolchains that build for each."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import amaranth_boards
from amaranth.build import Platform

from streamjoin.reference.wording import shown
from streamjoin.synth.board.top import lights_of
from streamjoin.synth.flow.errors import SynthError

#: All that Amaranth's vendors offer; which of them a board can use is found out by asking it.
TOOLCHAINS = (
    *("Vivado", "ISE", "Symbiflow", "Xray", "Quartus", "Mistral", "Trellis", "Diamond", "Oxide", "Radiant"),
    *("IceStorm", "LSE-iCECube2", "Synplify-iCECube2", "Apicula", "Gowin", "QLSymbiflow"),
)


class BoardError(SynthError, ValueError):
    """A board, or a toolchain for it, that there is not, in one sentence."""


@dataclass(frozen=True)
class Board:
    """A board that can be asked for; ``platform_class`` knows its pins, and more than Amaranth's stubs tell."""

    name: str
    platform_class: Callable[..., Any]

    def platform(self, toolchain: str | None = None) -> Any:
        """The board with the toolchain of this name, in any case, or with its usual one."""
        if toolchain is None:
            return self.platform_class()
        for known in self.toolchains:
            if known.lower() == toolchain.lower():
                return self.platform_class(toolchain=known)
        raise BoardError(
            f"{self.name} cannot be built with {toolchain!r}: take {' or '.join(self.toolchains)}, or leave it out"
        )

    @cached_property
    def toolchains(self) -> tuple[str, ...]:
        return tuple(name for name in TOOLCHAINS if self._takes(name))

    def _takes(self, toolchain: str) -> bool:
        # Project Mistral has documented one family; the platform would not ask.
        if toolchain == "Mistral" and not self.device.upper().startswith("5C"):
            return False
        try:
            return self.platform_class(toolchain=toolchain).toolchain == toolchain
        except (AssertionError, TypeError, ValueError):
            return False

    @cached_property
    def device(self) -> str:
        platform = self.platform_class()
        return str(getattr(platform, "device", None) or getattr(platform, "part", None) or "unknown")

    @cached_property
    def clock_mhz(self) -> float | None:
        """Of the clock that the board brings; ``None`` if it brings none that the fabric sees."""
        try:
            return self.platform_class().default_clk_frequency / 1e6
        except (AttributeError, KeyError):
            return None

    @cached_property
    def lights(self) -> str | None:
        """``"three"``, ``"colour"``, ``"one"`` or ``None``; see :func:`streamjoin.synth.board.top.lights_of`."""
        return lights_of(self.platform_class())[0]

    def check(self) -> None:
        """BoardError if a self-test could not run there, or nobody would see how it went."""
        if self.clock_mhz is None:
            raise BoardError(f"{self.name} brings no clock of its own: take another board")
        if self.lights is None:
            raise BoardError(f"{self.name} has no light that could show a verdict: take another board")


@cache
def boards() -> dict[str, Board]:
    """All boards by name. A module, or a board, that fails on this machine is left out."""
    found = {}
    for module in pkgutil.iter_modules(amaranth_boards.__path__, "amaranth_boards."):
        try:
            members = vars(importlib.import_module(module.name))
        except Exception:  # whatever somebody else's module raises
            continue
        for name, platform in members.items():
            ours = inspect.isclass(platform) and issubclass(platform, Platform) and platform.__module__ == module.name
            if ours and not name.startswith("_") and _works(platform):
                board = Board(re.sub(r"_?Platform$", "", name).lower().replace("_", "-"), platform)
                found[board.name] = board
    return dict(sorted(found.items()))


def find_board(name: str) -> Board:
    """The board of this name, whatever its case, dashes and underscores."""
    wanted = _plain(name)
    for board in boards().values():
        if _plain(board.name) == wanted:
            return board
    near = [board for board in boards() if wanted[:4] and _plain(board).startswith(wanted[:4])]
    hint = f"there are {', '.join(near)}" if near else "'streamjoin board --list' names all"
    raise BoardError(f"there is no board {shown(name)}; {hint}")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _works(platform: Callable[[], object]) -> bool:
    try:
        platform()
    except Exception:  # abstract, or of a part that the vendor's platform does not know
        return False
    return True
