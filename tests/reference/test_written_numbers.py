import pytest

from streamjoin.reference.written_numbers import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [("10", 10), ("010", 10), ("00", 0), ("-7", -7), ("+7", 7), ("1_000", 1000), ("0x1F", 31), ("0b11", 3), (" 5 ", 5)],
)
def test_numbers_as_people_write_them(text, number):
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "ten", "1.5", "1__0", "0x", "٣", "１", "9" * 101, "0x" + "f" * 5000])
def test_anything_else_is_none(text):
    with pytest.raises(ValueError, match=r"invalid literal|at most 100"):
        whole_number(text)
