"""Whole numbers as people write them."""

import re
from fractions import Fraction

#: How numbers may be written, for help and documents.
HOW = "1e6, 10M (10^7) and 4Ki (4096) are numbers, too"

_DECIMAL = re.compile(r"[+-]?[0-9_]+", re.ASCII)
_SCALED = re.compile(
    r"(?P<number>[+-]?[0-9]+(\.[0-9]+)?)([eE]\+?(?P<power>[0-9]{1,2})|(?P<suffix>k|[KMGT]i?))", re.ASCII
)
_SUFFIXES = {
    **{suffix: 1000**power for suffix, power in zip("kKMGT", (1, 1, 2, 3, 4), strict=True)},
    **{f"{suffix}i": 1024**power for power, suffix in enumerate("KMGT", start=1)},
}
_MOST = 100  # characters: no hardware has wider numbers, and Python would be long in reading them


def whole_number(text: str) -> int:
    """The number that a text is: decimal (``10``, ``010``, ``1_000``), with 0x, 0b, 0o before it, or scaled: ``1e6``,
    ``10M`` (k or K, M, G, T are powers of 1000), ``4Ki`` (Ki, Mi, Gi, Ti of 1024), ``1.5M``. Else ValueError.

    Digits alone are decimal even where zeros lead: who pads numbers means no octal.
    """
    text = text.strip()
    if len(text) > _MOST or not text.isascii():
        raise ValueError(f"numbers are at most {_MOST} ASCII characters")
    if scaled := _SCALED.fullmatch(text):
        scale = 10 ** int(scaled["power"]) if scaled["power"] else _SUFFIXES[scaled["suffix"]]
        number = Fraction(scaled["number"]) * scale
        if number.denominator > 1:
            raise ValueError(f"invalid literal for a whole number: {text!r}")
        return int(number)
    return int(text, 10 if _DECIMAL.fullmatch(text) else 0)
