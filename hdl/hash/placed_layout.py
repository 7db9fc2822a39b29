"""Tuples that know their place in the arrival order, so that they may come to each other in any order."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

from amaranth.hdl import Value
from amaranth.lib import data

from streamjoin.hdl.base.tuple_layout import TupleLayout


@dataclass(frozen=True, kw_only=True)
class PlacedLayout(TupleLayout):
    """A tuple has its number among those of its own stream, and that of the next tuple of the other stream.

    Of two tuples R came first if its number is below the one that S expected next; else S did, and its number is below
    the one that R expected. How far below says whether the earlier one was still in its window. So exactly one of the
    two differences is positive, and it decides. Which one, only the number of the one that is stored can tell, as it is
    not dead: see :meth:`in_windows`.

    Parameters
    ----------
    windows
        Tuples in the windows of R and S.
    number_bits
        Of a number: they wrap round.
    home_bits
        Where tuples of R may have two homes, and are stored in both: bits of the home for which a tuple is stored. Two
        tuples are a pair for the home that they have in common, and S has one only.
    """

    windows: tuple[int, int]
    number_bits: int
    home_bits: int = 0

    @classmethod
    def of(cls, layout: TupleLayout, windows: tuple[int, int], number_bits: int, home_bits: int = 0) -> Self:
        """The same layout for the inside of a design, where tuples and results come one by one."""
        given = {field.name: getattr(layout, field.name) for field in fields(TupleLayout) if field.name != "_"}
        given |= {"width": 1, "results_width": 1}
        return cls(**given, windows=windows, number_bits=number_bits, home_bits=home_bits)

    @cached_property
    def tuple(self) -> data.StructLayout:
        places = {"number": self.number_bits, "other": self.number_bits}
        return data.StructLayout({**self.arrival.members, **places, "home": self.home_bits})

    def conditions(self, r, s) -> list[Value]:
        return [*super().conditions(r, s), *([r.home == s.home] if self.home_bits else [])]

    def distances(self, r, s) -> list[Value]:
        """How far the R tuple was behind S's expectation, less one, and the other way round."""
        return [(s.other - r.number - 1)[: self.number_bits], (r.other - s.number - 1)[: self.number_bits]]

    def in_windows(self, distances: list[Value], stored: str) -> Value:
        """One bit: the earlier tuple of a pair with these distances was in its window.

        The tuple of the side ``stored`` waited for the other one. It is not dead: by its own number one can tell which
        of the two came first. Of the other one's stream any number may have come meanwhile, and numbers wrap round; so
        the other distance tells nothing unless the stored tuple came later.
        """
        own = "rs".index(stored)
        near = [distance < window for distance, window in zip(distances, self.windows, strict=True)]
        return near[own] | (distances[own][self.number_bits - 1] & near[1 - own])
