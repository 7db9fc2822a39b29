"""Payloads for several items: where the slots are, and the count."""

import pytest

from streamjoin.hdl.base.slots import Slots


@pytest.mark.parametrize(("width", "bits"), [(1, 1), (2, 2), (3, 2), (4, 3), (8, 4)])
def test_slots_from_bit_0_up_and_then_a_count_that_can_be_all_of_them(width, bits):
    layout = Slots(32, width)
    assert layout.size == 32 * width + bits
    assert [field.offset for _, field in layout["slots"].shape] == [32 * slot for slot in range(width)]
    assert (layout["count"].offset, layout["count"].width) == (32 * width, bits)
