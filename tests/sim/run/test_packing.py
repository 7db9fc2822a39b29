"""Packing keeps every bit where the layout says, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.sim.run.packing import PortItems, pack, unpack, words_for


@st.composite
def layouts_and_rows(draw):
    """Fields with gaps between them, and rows of values that fill them."""
    layout, offset = [], 0
    for number, (gap, width) in enumerate(
        draw(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 64)), min_size=1, max_size=5))
    ):
        layout.append({"name": f"f{number}", "offset": offset + gap, "width": width})
        offset += gap + width
    rows = draw(
        st.lists(st.tuples(*(st.integers(0, 2 ** field["width"] - 1) for field in layout)), min_size=1, max_size=5)
    )
    return layout, offset, rows


def columns(layout, rows) -> dict[str, np.ndarray]:
    return {field["name"]: np.array([row[number] for row in rows], np.uint64) for number, field in enumerate(layout)}


@given(layouts_and_rows())
def test_words_hold_the_payload_as_one_number(case):
    layout, width, rows = case
    fields = columns(layout, rows)
    packed = pack(fields, layout, words_for(width))
    for row, words in zip(rows, packed.tolist(), strict=True):
        number = sum(value << field["offset"] for field, value in zip(layout, row, strict=True))
        assert words == [number >> 32 * word & 0xFFFFFFFF for word in range(words_for(width))]


@given(layouts_and_rows())
def test_unpack_undoes_pack(case):
    layout, width, rows = case
    fields = columns(layout, rows)
    unpacked = unpack(pack(fields, layout, words_for(width)), layout)
    assert list(unpacked) == list(fields)
    for name, column in fields.items():
        assert unpacked[name].tolist() == column.tolist()


def test_columns_come_out_signed_where_they_can():
    layout = [{"name": "small", "offset": 0, "width": 63}, {"name": "large", "offset": 63, "width": 64}]
    unpacked = unpack(np.zeros((1, 4), np.uint32), layout)
    assert (unpacked["small"].dtype, unpacked["large"].dtype) == (np.int64, np.uint64)


KEY = [{"name": "key", "offset": 0, "width": 8}]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "the field key is missing"),
        ({"key": np.array([1, 256])}, "key holds 256, which does not fit 8 bits"),
        ({"key": np.array([-1])}, "key holds -1, which does not fit 8 bits"),
        ({"key": np.array([0.5])}, "key holds float64 values, not integers"),
    ],
)
def test_what_does_not_fit_is_named(fields, message):
    with pytest.raises(ValueError, match=message):
        pack(fields, KEY, 1)


def test_lengths_must_agree():
    layout = [*KEY, {"name": "payload", "offset": 8, "width": 8}]
    with pytest.raises(ValueError, match="payload has 2 rows, key has 1"):
        pack({"key": np.array([1]), "payload": np.array([1, 2])}, layout, 1)


def test_no_rows_at_all():
    assert pack({"key": np.array([], int)}, KEY, 1).shape == (0, 1)


def test_an_item_is_the_whole_payload_or_stands_in_a_slot():
    fields = [{"name": "key", "offset": 0, "width": 5}, {"name": "payload", "offset": 5, "width": 9}]
    assert PortItems.of({"width": 14, "fields": fields}) == PortItems(fields, 14, 1, 14, 14, 0)
    names = ("key", 5), ("payload", 9), ("after", 2)
    slots, offset = [], 0
    for name, width in ((f"slots.{slot}.{name}", width) for slot in range(3) for name, width in names):
        slots.append({"name": name, "offset": offset, "width": width})
        offset += width
    count = {"name": "count", "offset": offset, "width": 2}
    port = {"width": offset + 2, "fields": [*slots, count], "slots": 3}
    assert PortItems.of(port) == PortItems(fields, 14, 3, 16, 48, 2)
