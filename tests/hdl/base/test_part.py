"""Parts know their kind, and a part that nobody uses is reported where it was made."""

import gc
import inspect
import warnings

from amaranth.hdl import Module, UnusedElaboratable
from amaranth.lib.wiring import In

from streamjoin.hdl.base.part import Part, SharingPlatform


class Wide(Part):
    """A part with a parameter."""

    def __init__(self, width: int):
        super().__init__({"i": In(width)})

    def elaborate(self, platform):
        return Module()


class Forgotten(Wide):
    """A part that is made in one place only."""


class Asked(SharingPlatform):
    """Remembers what it was asked for, and has no stand-in."""

    def __init__(self):
        self.asked = []

    def instance_of(self, part):
        self.asked.append(part)


def test_parts_of_one_kind_are_those_made_with_the_same_arguments():
    parts = [Wide(3), Wide(3), Wide(4)]
    assert parts[0].kind == parts[1].kind != parts[2].kind


def test_a_sharing_platform_is_asked_first():
    platform, part = Asked(), Wide(3)
    part.elaborate(platform)
    assert platform.asked == [part]


def test_a_part_that_is_not_used_is_named_with_the_line_that_made_it(monkeypatch):
    # An error elsewhere, once raised, silences these warnings.
    monkeypatch.setattr(UnusedElaboratable, "_MustUse__silence", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnusedElaboratable)
        line = inspect.currentframe().f_lineno + 1
        Forgotten(3)
        gc.collect()
    (warning,) = [warning for warning in caught if "Forgotten" in str(warning.message)]
    assert (warning.filename, warning.lineno) == (__file__, line)
