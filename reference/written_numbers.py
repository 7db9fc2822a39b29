"""Whole numbers as people write them."""

import re

_DECIMAL = re.compile(r"[+-]?[0-9_]+", re.ASCII)
_MOST = 100  # characters: no hardware has wider numbers, and Python would be long in reading them


def whole_number(text: str) -> int:
    """The number that a text is: decimal (``10``, ``010``, ``1_000``), or with 0x, 0b, 0o before it; else ValueError.

    Digits alone are decimal even where zeros lead: who pads numbers means no octal.
    """
    text = text.strip()
    if len(text) > _MOST or not text.isascii():
        raise ValueError(f"numbers are at most {_MOST} ASCII characters")
    return int(text, 10 if _DECIMAL.fullmatch(text) else 0)
