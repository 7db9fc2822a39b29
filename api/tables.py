"""Where tuples may come from: files, tables, frames and columns, as one of the two kinds that are read."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import pyarrow as pa

from streamjoin.reference.wording import one_sentence
from streamjoin.support.files import InputError

if TYPE_CHECKING:
    import pandas as pd

    Source = str | os.PathLike[str] | pa.Table | pd.DataFrame | Mapping[str, np.ndarray]
else:  # pandas is not needed by those who do not have it
    Source = object

_COLUMNS = ("stream", "key", "key2", "time")


def as_readable(source: Source) -> str | Path | pa.Table:
    """The path of a file, or a table of the columns that matter."""
    if _is_path(source):
        return source if isinstance(source, str) else Path(source)
    if isinstance(source, pa.Table):
        return source
    if not (isinstance(source, Mapping) or hasattr(source, "columns")):
        raise InputError(
            "tuples come from a path, a pyarrow table, a pandas frame or a mapping of columns, "
            f"not from a {type(source).__name__}"
        )
    return _table(source)


def _table(columns: Any) -> pa.Table:
    try:
        return pa.table({name: pa.array(columns[name]) for name in _COLUMNS if name in columns})
    except (pa.ArrowException, TypeError, ValueError) as error:
        said = one_sentence(str(error), 120).rstrip(".")
        raise InputError(f"the columns make no table ({said}): give each one value a tuple, all of one kind") from error


def _is_path(source: Source) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(source, str | os.PathLike)
