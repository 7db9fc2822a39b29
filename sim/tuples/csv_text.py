"""CSV as RFC 4180 has it, in UTF-8, and where in it something stands.

Values that hold commas, line ends or quotes are quoted, with quotes in them doubled; lines end in LF or CRLF, the last
one may lack its end, and empty lines count for nothing. Arrow reads this fast, but would guess where a text is anything
else. So the text is looked through first, all of it at once: quotes come in pairs, hence a line end is the end of a
record if an even number of them stand before it, and from the ends of records follow the row and the line of a byte.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyarrow import csv

from streamjoin.support.files import InputError

_MARK = b"\xef\xbb\xbf"  # UTF-8's byte order mark
_BLOCK = 1 << 20
_LONGEST = 1 << 30  # Arrow counts the bytes of a block in 31 bits

_OTHERS = {
    b"\x1f\x8b": "is compressed by gzip: end its name in .csv.gz, or unpack it first",
    b"PAR1": "is Parquet, not CSV: give it as a file whose name ends in .parquet",
    b"\xff\xfe": "is UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text: save it as UTF-8",
}


class CsvText:
    """The contents of a CSV file; `InputError` if they are none. ``name`` is how sentences call the file."""

    def __init__(self, contents: bytes, name: str):
        for start, what in _OTHERS.items():
            if contents.startswith(start):
                raise InputError(f"{name} {what}")
        text = contents.removeprefix(_MARK)
        if text.startswith(_MARK):
            raise InputError(f"{name} begins with two byte order marks: keep one of them")
        self._name = name
        self._text = text if text.endswith(b"\n") else text + b"\n"
        self._bytes = np.frombuffer(self._text, np.uint8)
        self._quotes = self._all(b'"')
        self._line_ends = self._all(b"\n")
        ends = self._line_ends[~self._quoted(self._line_ends)]
        begins = np.append(0, ends[:-1] + 1)[: len(ends)]
        empty = (begins == ends) | ((begins + 1 == ends) & (self._bytes[begins] == ord("\r")))
        self._begins, self._ends = begins[~empty], ends[~empty]
        self._check_characters()
        self._check_quotes()
        self._check_lines()
        header = self._text[self._begins[0] : self._ends[0] + 1]
        #: The names of the columns.
        self.header: list[str] = csv.read_csv(
            pa.BufferReader(header), read_options=csv.ReadOptions(block_size=len(header))
        ).column_names

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Columns by their names, each of which is in the header once, as text."""

        def refuse(row):
            wrong.append(row)  # Arrow would hide an exception raised here
            return "error"

        wrong = []
        longest = int((self._ends - self._begins).max())
        try:
            return csv.read_csv(
                pa.BufferReader(self._text),
                read_options=csv.ReadOptions(use_threads=False, block_size=max(_BLOCK, longest + 1)),  # to count rows
                parse_options=csv.ParseOptions(newlines_in_values=True, invalid_row_handler=refuse),
                # As text: guessing types would round what is too wide, and could not say which row is wrong.
                convert_options=csv.ConvertOptions(
                    include_columns=names, column_types=dict.fromkeys(names, pa.string())
                ),
            )
        except pa.ArrowInvalid as error:
            if not wrong:
                raise
            row = wrong[0]
            what = f"there are {row.actual_columns} values for {row.expected_columns} columns: correct the row"
            raise self._error(int(self._begins[row.number - 1]), what) from error

    def place(self, row: int) -> str:
        """A row, from 0, as sentences name it: from 1, and with its line where that is not simply the next number."""
        return self._place(int(self._begins[row + 1]))

    def _place(self, position: int) -> str:
        row = int(np.searchsorted(self._ends, position))
        line = int(np.searchsorted(self._line_ends, position)) + 1
        where = f"row {row}" if row else "header"
        return where if line == row + 1 else f"{where} (line {line})"

    def _error(self, position: int, what: str) -> InputError:
        return InputError(f"{self._name}, {self._place(position)}: {what}")

    def _all(self, character: bytes) -> np.ndarray:
        """Where a character stands."""
        return np.flatnonzero(self._bytes == ord(character)) if character in self._text else np.empty(0, np.int64)

    def _quoted(self, positions: np.ndarray) -> np.ndarray:
        """Which of the positions lie between quotes."""
        return np.searchsorted(self._quotes, positions) % 2 == 1

    def _check_characters(self) -> None:
        if b"\0" in self._text:
            raise self._error(self._text.index(b"\0"), "a NUL byte is no text, but UTF-16 has them: save it as UTF-8")
        if not self._text.isascii():
            try:
                self._text.decode()
            except UnicodeDecodeError as error:
                what = f"byte 0x{self._text[error.start]:02x} is not UTF-8: save it as UTF-8"
                raise self._error(error.start, what) from None
        if not len(self._begins) and not len(self._quotes):
            raise InputError(f"{self._name} is empty: write at least a header")

    def _check_quotes(self) -> None:
        """Quotes open a value or close it; between two that do, a closing and an opening one are a quote itself."""
        opening, closing = self._quotes[::2], self._quotes[1::2]
        borders = np.frombuffer(b',\r\n"', np.uint8)
        inside = opening[~np.isin(self._bytes[opening - 1], borders)]  # before the first byte is the last, a line end
        behind = closing[~np.isin(self._bytes[closing + 1], borders)]
        # Beyond the first that is wrong, what opens and what closes may have changed places.
        stray = min((int(found[0]) for found in (inside, behind) if len(found)), default=None)
        if stray is not None:
            what = "a quote stands inside a value: quote the value and double quotes in it, or close an earlier one"
            raise self._error(stray, what)
        if len(opening) > len(closing):
            raise self._error(int(opening[-1]), "a value begins with a quote and has none at its end: add it")

    def _check_lines(self) -> None:
        returns = self._all(b"\r")
        alone = returns[self._bytes[returns + 1] != ord("\n")]
        alone = alone[~self._quoted(alone)]
        if len(alone):
            raise self._error(int(alone[0]), "a carriage return stands alone: end lines in LF or CRLF")
        long = self._begins[self._ends - self._begins >= _LONGEST]
        if len(long):
            raise self._error(int(long[0]), f"it is longer than {_LONGEST:,} bytes: shorten it")
