"""Tuples from files, results into files: CSV or Parquet, as the suffix says."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv, parquet

from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.files import InputError, whole_file


def read_arrivals(
    path: str | Path,
    streams: Sequence[str] = ("R", "S"),
    *,
    key_width: int = 32,
    payload_width: int = 0,
    two_keys: bool = False,
    timed: bool = False,
    time_width: int = 32,
) -> Arrivals:
    """The tuples of a file, one a row, in arrival order. Widths are at most 63 bits.

    Columns are ``stream`` (one of the names in ``streams``), ``key``, and ``key2`` and ``time`` where asked for.
    ``payload`` is read if it is there and has a width. Other columns do not matter. No rows are no tuples; anything
    else that is not as it should be is an `InputError`, which counts rows from 1 for the first after the header.
    """
    path = Path(path)
    required = {"key": key_width} | ({"key2": key_width} if two_keys else {}) | ({"time": time_width} if timed else {})
    optional = {"payload": payload_width} if payload_width else {}
    table = _READERS[_suffix(path)](path, ["stream", *required, *optional])
    for name in ["stream", *required, *optional]:
        if name not in table.column_names and name not in optional:
            raise InputError(f"{path} has no column {name!r}: add it, or check the header")
        if table.column_names.count(name) > 1:
            raise InputError(f"{path} has more than one column {name!r}: keep one of them")
    widths = {name: width for name, width in (required | optional).items() if name in table.column_names}
    columns = {name: _integers(path, table, name, width) for name, width in widths.items()}
    if timed:
        _refuse(path, "time", table, np.append(False, np.diff(columns["time"]) < 0), "goes back: sort the rows by time")
    return Arrivals(stream=_streams(path, table, streams), **columns)


def write_results(
    path: str | Path,
    numbers: np.ndarray,
    keys: Mapping[str, np.ndarray],
    cycles: np.ndarray,
    streams: Sequence[str] = ("R", "S"),
) -> None:
    """Write one row a result: its arrival numbers, a column for each stream, the key columns, and its ``cycle``."""
    path = Path(path)
    write = _WRITERS[_suffix(path)]
    numbers = np.asarray(numbers, np.int64).reshape(-1, len(streams))
    table = pa.table({**dict(zip(streams, numbers.T, strict=True)), **keys, "cycle": cycles})
    with whole_file(path) as part:
        write(table, part)


def _suffix(path: Path) -> str:
    if path.suffix.lower() not in _READERS:
        raise InputError(f"{path} is neither CSV nor Parquet by its name: end it in .csv or .parquet")
    return path.suffix.lower()


@contextmanager
def _readable(path: Path):
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: check its name") from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror or error}): check that it is a readable file"
        ) from error
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{path} cannot be read ({reason}): check that it is what its suffix says") from error


def _read_csv(path: Path, names: list[str]) -> pa.Table:
    def refuse(row):
        # Arrow counts the header as a row, and would hide an exception raised here.
        bad_rows.append((row.number - 1, row.actual_columns, row.expected_columns))
        return "skip"

    bad_rows = []
    with _readable(path):
        text = path.read_bytes()
        if not text.strip():
            raise InputError(f"{path} is empty: write at least a header")
        table = csv.read_csv(
            pa.BufferReader(text + b"\n"),  # Arrow wants an end of line even after a header alone
            read_options=csv.ReadOptions(use_threads=False),  # so that it counts rows
            parse_options=csv.ParseOptions(invalid_row_handler=refuse),
            # As text: guessing types would round what is too wide, and could not say which row is wrong.
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    if bad_rows:
        row, actual, expected = bad_rows[0]
        raise InputError(f"{path}, row {row}: there are {actual} values for {expected} columns: correct the row")
    return table


def _read_parquet(path: Path, names: list[str]) -> pa.Table:
    with _readable(path), path.open("rb") as file:
        content = parquet.ParquetFile(file)
        return content.read([name for name in content.schema_arrow.names if name in names])


def _write_csv(table: pa.Table, path: Path) -> None:
    csv.write_csv(table, path, csv.WriteOptions(quoting_header="none"))


_READERS = {".csv": _read_csv, ".parquet": _read_parquet}
_WRITERS = {".csv": _write_csv, ".parquet": parquet.write_table}


def _streams(path: Path, table: pa.Table, streams: Sequence[str]) -> np.ndarray:
    """The indices of the streams that a column names."""
    column = _decoded(table["stream"])
    index = compute.index_in(column, pa.array(streams, column.type)) if _is_text(column) else pa.nulls(len(column))
    _refuse(path, "stream", table, compute.is_null(index), f"is unknown: write one of {', '.join(streams)}")
    return index.to_numpy(zero_copy_only=False)


def _integers(path: Path, table: pa.Table, name: str, width: int) -> np.ndarray:
    """A column of unsigned integers of so many bits, whether it came as text or as numbers."""

    def refuse(mask, what):
        _refuse(path, name, table, mask, f"{what}: write a whole number from 0 to {2**width - 1}")

    column = _decoded(table[name])
    refuse(compute.is_null(column), "is missing")
    if _is_text(column):
        refuse(compute.invert(compute.match_substring_regex(column, "^-?[0-9]+$")), "is not a whole number")
        refuse(compute.starts_with(column, "-"), "is negative")
        # 19 digits always fit the 64 bits of the conversion, and 63 bits never need more.
        refuse(compute.greater(compute.utf8_length(compute.utf8_ltrim(column, "0")), 19), f"does not fit {width} bits")
        column = column.cast(pa.uint64())
    elif pa.types.is_signed_integer(column.type):
        column = column.cast(pa.int64())
        refuse(compute.less(column, 0), "is negative")
    elif not pa.types.is_unsigned_integer(column.type):
        refuse(np.ones(len(column), bool), "is not a whole number")
        column = pa.array([], pa.uint64())  # no rows, hence no type
    refuse(
        compute.greater(column.cast(pa.uint64()), pa.scalar(2**width - 1, pa.uint64())), f"does not fit {width} bits"
    )
    return column.cast(pa.int64()).to_numpy()


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_text(column: pa.ChunkedArray) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def _refuse(path: Path, name: str, table: pa.Table, mask, what: str) -> None:
    """InputError for the first row that a mask marks."""
    rows = np.flatnonzero(mask)
    if len(rows):
        value = table[name][int(rows[0])].as_py()
        said = "" if value is None or value == "" else f" {value!r}"
        raise InputError(f"{path}, row {rows[0] + 1}: {name}{said} {what}")
