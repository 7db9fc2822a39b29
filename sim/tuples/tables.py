"""Tuples from files or tables, results into files: CSV or Parquet, as the name says."""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv, parquet

from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.wording import named, printable, shown
from streamjoin.sim.tuples.csv_text import CsvText
from streamjoin.support.files import InputError, whole_file

#: The name that stands for standard input, which is read as CSV.
STANDARD_INPUT = "-"

_REASON = 100  # characters of what a library says in a sentence


def read_arrivals(
    source: str | Path | pa.Table,
    streams: Sequence[str] = ("R", "S"),
    *,
    key_width: int = 32,
    payload_width: int = 0,
    two_keys: bool = False,
    timed: bool = False,
    time_width: int = 32,
) -> Arrivals:
    """The tuples of a file or a table, one a row, in arrival order. Widths are at most 63 bits.

    A file's name ends in .csv, .csv.gz or .parquet; ``-`` is CSV from standard input. Columns are ``stream`` (one of
    the names in ``streams``), ``key``, and ``key2`` and ``time`` where asked for. ``payload`` is read if it is there
    and has a width. Other columns do not matter. No rows are no tuples; anything else that is not as it should be is an
    `InputError`, which counts rows from 1 for the first after the header.
    """
    required = {"key": key_width} | ({"key2": key_width} if two_keys else {}) | ({"time": time_width} if timed else {})
    optional = {"payload": payload_width} if payload_width else {}
    with _readable(name := _name(source)):
        rows = _read(source, name, ["stream", *required], list(optional))
        widths = {column: width for column, width in (required | optional).items() if column in rows.table.column_names}
        columns = {column: _integers(rows, column, width) for column, width in widths.items()}
        if timed:
            rows.refuse("time", np.append(False, np.diff(columns["time"]) < 0), "goes back: sort the rows by time")
        return Arrivals(stream=_streams(rows, streams), **columns)


def write_results(
    path: str | Path,
    numbers: np.ndarray,
    keys: Mapping[str, np.ndarray],
    cycles: np.ndarray,
    streams: Sequence[str] = ("R", "S"),
) -> None:
    """Write one row a result: its arrival numbers, a column for each stream, the key columns, and its ``cycle``."""
    write_table(path, results_table(numbers, keys, cycles, streams))


def results_table(
    numbers: np.ndarray, keys: Mapping[str, np.ndarray], cycles: np.ndarray, streams: Sequence[str] = ("R", "S")
) -> pa.Table:
    """The same as a table."""
    numbers = np.asarray(numbers, np.int64).reshape(-1, len(streams))
    return pa.table({**dict(zip(streams, numbers.T, strict=True)), **keys, "cycle": cycles})


def write_table(path: str | Path, table: pa.Table) -> None:
    """Write a table as the name of the file says, whole or not at all."""
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise InputError(f"{named(path)} is neither CSV nor Parquet by its name: end it in .csv or .parquet")
    with whole_file(path) as part:
        _WRITERS[path.suffix.lower()](table, part)


def write_parquet(table: pa.Table, path: Path, **options) -> None:
    """Write a table whose pages have checksums, so that damage is noticed."""
    parquet.write_table(table, path, write_page_checksum=True, **options)


def open_parquet(source) -> parquet.ParquetFile:
    """A Parquet file whose checksums are verified where it has any: reading raises OSError where one does not fit."""
    return parquet.ParquetFile(source, page_checksum_verification=True)


def _write_csv(table: pa.Table, path: Path) -> None:
    csv.write_csv(table, path, csv.WriteOptions(quoting_header="none"))


_WRITERS = {".csv": _write_csv, ".parquet": write_parquet}


@dataclass(frozen=True)
class _Rows:
    """The columns of a file, and how sentences name the file and a row, which is counted from 0."""

    name: str
    table: pa.Table
    place: Callable[[int], str]

    def refuse(self, column: str, mask, what: str) -> None:
        """InputError for the first row that a mask marks."""
        marked = np.flatnonzero(mask)
        if len(marked):
            row = int(marked[0])
            raise InputError(f"{self.name}, {self.place(row)}: {column}{_said(self.table[column][row])} {what}")


def _said(value: pa.Scalar) -> str:
    """A value behind the name of its column, if there is anything to be said of it."""
    try:
        plain = value.as_py()
    except (ValueError, OverflowError):  # a time that Python has none for
        return ""
    return "" if plain is None else f" {shown(plain)}"


@contextmanager
def _readable(name: str):
    """InputError for whatever those who read files say."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name} does not exist: check its name") from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno is not None:
            reason, fix = error.strerror or "", "is a readable file"
        else:
            reason, fix = str(error).strip().partition("\n")[0].rstrip("."), "is what its suffix says, and whole"
        raise InputError(f"{name} cannot be read ({printable(reason, _REASON)}): check that it {fix}") from error


def _name(source: str | Path | pa.Table) -> str:
    """What sentences call it."""
    if isinstance(source, pa.Table):
        return "the table"
    return "standard input" if str(source) == STANDARD_INPUT else named(source)


def _read(source: str | Path | pa.Table, name: str, required: Sequence[str], optional: Sequence[str]) -> _Rows:
    """Columns of a file or a table, the optional ones if they are there."""
    if not isinstance(source, str | Path):
        return _Rows(name, source.select(_chosen(source.column_names, name, required, optional)), _row)
    path = source
    ending = Path(path).name.lower()
    if ending.endswith(".parquet"):
        with Path(path).open("rb") as file:
            content = open_parquet(file)
            table = content.read(_chosen(content.schema_arrow.names, name, required, optional))
            # Pages have checksums, but their directory, which says twice how many rows there are, has none.
            if table.num_rows != (announced := content.metadata.num_rows):
                raise InputError(f"{name} is damaged, with {table.num_rows} of {announced} rows: write it anew")
            return _Rows(name, table, _row)
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input is closed: pipe tuples into it, or name a file")
        contents = sys.stdin.buffer.read()
    elif ending.endswith((".csv", ".csv.gz")):
        contents = Path(path).read_bytes()
        contents = gzip.decompress(contents) if ending.endswith(".gz") else contents
    else:
        raise InputError(f"{name} is neither CSV nor Parquet by its name: end it in .csv, .csv.gz or .parquet")
    text = CsvText(contents, name)
    return _Rows(name, text.columns(_chosen(text.header, name, required, optional)), text.place)


def _row(number: int) -> str:
    return f"row {number + 1}"


def _chosen(header: Sequence[str], name: str, required: Iterable[str], optional: Iterable[str]) -> list[str]:
    """The columns to be read, each of which is there once."""
    for column in required:
        if column not in header:
            raise InputError(f"{name} has no column {column!r}: add it, or check the header")
    chosen = [*required, *(column for column in optional if column in header)]
    for column in chosen:
        if header.count(column) > 1:
            raise InputError(f"{name} has more than one column {column!r}: keep one of them")
    return chosen


def _streams(rows: _Rows, streams: Sequence[str]) -> np.ndarray:
    """The indices of the streams that a column names."""
    column = _values(rows, "stream")
    fix = f"write one of {', '.join(streams)}"
    rows.refuse("stream", compute.is_null(column), f"is missing: {fix}")
    index = compute.index_in(column, pa.array(streams, column.type)) if _is_text(column.type) else pa.nulls(len(column))
    rows.refuse("stream", compute.is_null(index), f"is unknown: {fix}")
    return index.to_numpy(zero_copy_only=False)


def _integers(rows: _Rows, name: str, width: int) -> np.ndarray:
    """A column of unsigned integers of so many bits, whether it came as text or as numbers."""

    def refuse(mask, what):
        rows.refuse(name, mask, f"{what}: write a whole number from 0 to {2**width - 1}")

    column = _values(rows, name)
    refuse(compute.is_null(column), "is missing")
    if _is_text(column.type):
        refuse(compute.invert(compute.match_substring_regex(column, "^-?[0-9]+$")), "is not a whole number")
        refuse(compute.starts_with(column, "-"), "is negative")
        # 19 digits always fit the 64 bits of the conversion, and 63 bits never need more.
        refuse(compute.greater(compute.utf8_length(compute.utf8_ltrim(column, "0")), 19), f"does not fit {width} bits")
        column = column.cast(pa.uint64())
    elif pa.types.is_signed_integer(column.type):
        column = column.cast(pa.int64())
        refuse(compute.less(column, 0), "is negative")
    elif not pa.types.is_unsigned_integer(column.type):
        refuse(np.ones(len(column), bool), f"is not a whole number but {column.type}")
        column = pa.array([], pa.uint64())  # no rows, hence no type
    refuse(
        compute.greater(column.cast(pa.uint64()), pa.scalar(2**width - 1, pa.uint64())), f"does not fit {width} bits"
    )
    return column.cast(pa.int64()).to_numpy()


def _values(rows: _Rows, name: str) -> pa.ChunkedArray:
    """A column without a dictionary, and with text of any kind as one of two types."""
    column = rows.table[name]
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not any(is_text(kind) for is_text in _TEXTS):
        return column.cast(kind)
    try:
        return column if _is_text(column.type) else column.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise InputError(f"{rows.name} has bytes in column {name!r} that are no text: store it as strings") from error


_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)
