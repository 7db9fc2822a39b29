"""Fields to payload words and back, by the layout in a design's manifest.

A payload is a row of 32-bit words, the least significant first. A field may begin anywhere, cross word borders, and
be up to 64 bits wide. Columns are handled whole: one pass of NumPy for each word that a field touches.

Where a port carries several items in a transfer, a row is an item: what stands in a slot.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

WORD_BITS = 32


#: The field of a slot that tells how many items of the other port come before this one: not of the item itself.
AFTER = "after"
_FIRST_SLOT, _SECOND_SLOT = "slots.0.", "slots.1."


@dataclass(frozen=True)
class PortItems:
    """Where items lie in the payload of a port, by what the manifest says of it.

    Attributes
    ----------
    fields
        Of one item, with offsets from where it begins.
    width
        Bits of one item; the payload is one if there is one slot only.
    slots
        How many items a payload has room for.
    stride
        Bits from one slot to the next. What is between an item and the next slot, if anything, is :data:`AFTER`.
    count_at, count_width
        Where in the payload the count of items stands; it has no bits if there is one slot only.
    """

    fields: list[dict]
    width: int
    slots: int
    stride: int
    count_at: int
    count_width: int

    @classmethod
    def of(cls, port: Mapping) -> "PortItems":
        width, fields = port["width"], port.get("fields", [])
        if "slots" not in port:
            return cls(fields, width, 1, width, width, 0)
        places = {field["name"]: field for field in fields}
        first = {
            name.removeprefix(_FIRST_SLOT): field for name, field in places.items() if name.startswith(_FIRST_SLOT)
        }
        count = places["count"]
        stride = min(field["offset"] for name, field in places.items() if name.startswith(_SECOND_SLOT))
        item = [{**field, "name": name} for name, field in first.items() if name != AFTER]
        width = first[AFTER]["offset"] if AFTER in first else stride
        return cls(item, width, port["slots"], stride, count["offset"], count["width"])


def words_for(width: int) -> int:
    """How many words a payload of ``width`` bits takes, at least one."""
    return max(1, -(-width // WORD_BITS))


def pack(fields: Mapping[str, np.ndarray], layout: Sequence[Mapping], words: int) -> np.ndarray:
    """The columns named by ``layout`` as rows of ``words`` words; bits that no field covers are 0.

    Raises :exc:`ValueError` if a column is missing, differs in length, is not of integers, or does not fit its width.
    """
    columns = [_column(fields, field["name"], field["width"]) for field in layout]
    rows = len(columns[0]) if columns else 0
    packed = np.zeros((rows, words), dtype=np.uint32)
    for field, column in zip(layout, columns, strict=True):
        if len(column) != rows:
            raise ValueError(f"{field['name']} has {len(column)} rows, {layout[0]['name']} has {rows}")
        for word, shift in _touched(field):
            part = column << np.uint64(shift) if shift >= 0 else column >> np.uint64(-shift)
            packed[:, word] |= part.astype(np.uint32)  # keeps the low 32 bits
    return packed


def unpack(packed: np.ndarray, layout: Sequence[Mapping]) -> dict[str, np.ndarray]:
    """The columns of ``packed``, the inverse of :func:`pack`.

    Columns are ``int64``, so that differences come out signed, but ``uint64`` for fields of 64 bits.
    """
    return {field["name"]: _unpacked(packed, field) for field in layout}


def _unpacked(packed: np.ndarray, field: Mapping) -> np.ndarray:
    column = np.zeros(len(packed), dtype=np.uint64)
    for word, shift in _touched(field):
        part = packed[:, word].astype(np.uint64)
        column |= part >> np.uint64(shift) if shift >= 0 else part << np.uint64(-shift)
    column &= np.uint64((1 << field["width"]) - 1)
    return column if field["width"] == 64 else column.astype(np.int64)


def _touched(field: Mapping) -> Iterator[tuple[int, int]]:
    """The words that a field touches, and by how many bits it is shifted up (if negative: down) to get there."""
    first = field["offset"] // WORD_BITS
    last = (field["offset"] + field["width"] - 1) // WORD_BITS
    for word in range(first, last + 1):
        yield word, field["offset"] - word * WORD_BITS


def _column(fields: Mapping[str, np.ndarray], name: str, width: int) -> np.ndarray:
    if name not in fields:
        raise ValueError(f"the field {name} is missing")
    column = np.asarray(fields[name])
    if len(column) and column.dtype.kind not in "bui":
        raise ValueError(f"{name} holds {column.dtype} values, not integers")
    if width > 64:
        raise ValueError(f"{name} is {width} bits wide, more than 64")
    if len(column) and (column.min() < 0 or int(column.max()) >> width):
        wrong = column.min() if column.min() < 0 else column.max()
        raise ValueError(f"{name} holds {wrong}, which does not fit {width} bits")
    return column.astype(np.uint64)
