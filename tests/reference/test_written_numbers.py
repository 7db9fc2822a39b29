import pytest

from streamjoin.reference.written_numbers import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("10", 10), ("010", 10), ("00", 0), ("-7", -7), ("+7", 7), ("1_000", 1000), (" 5 ", 5)),
        *(("0x1F", 31), ("0b11", 3), ("0x1e6", 0x1E6)),
        *(("1e6", 10**6), ("1E3", 1000), ("-2e+2", -200), ("1.25e2", 125), ("0e0", 0)),
        *(("10M", 10**7), ("1.5M", 1_500_000), ("2k", 2000), ("2K", 2000), ("3G", 3 * 10**9), ("1T", 10**12)),
        *(("4Ki", 4096), ("0.5Ki", 512), ("1Mi", 1 << 20), ("2Gi", 2 << 30), ("1Ti", 1 << 40)),
    ],
)
def test_numbers_as_people_write_them(text, number):
    assert whole_number(text) == number


NO_NUMBERS = ["", "ten", "1.5", "1.0", "1__0", "0x", "٣", "１", "9" * 101, "0x" + "f" * 5000]
NO_SCALED_NUMBERS = ["1.5e0", "15e-1", "1e100", "1.2345k", "0.3Ki", "10m", "4ki", "4KB", "M", ".5M", "1_000k", "٣M"]


@pytest.mark.parametrize("text", NO_NUMBERS + NO_SCALED_NUMBERS)
def test_anything_else_is_none(text):
    with pytest.raises(ValueError, match=r"invalid literal|at most 100"):
        whole_number(text)
