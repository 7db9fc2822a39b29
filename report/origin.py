"""When and where a record was made."""

import datetime as dt
import os
import platform


def origin() -> dict[str, str]:
    """``date`` and ``machine``, as every record under docs/results has them."""
    return {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }
