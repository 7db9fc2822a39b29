"""Where builds live: a folder of entries, each found by a key that names everything it was made from.

An entry is built once, even when several processes ask for it at the same time; it appears whole or not at all; and it
is checked against its checksums before every use, since what lies in it is going to be loaded and run.
"""

import fcntl
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamjoin.support.errors import StreamjoinError

_CHECKSUMS = "checksums.json"
_KEPT_SECONDS = 30 * 24 * 3600  # entries that nobody has used for a month go when the next one is built


class CacheError(StreamjoinError):
    """The cache's folder cannot be trusted."""


def directory() -> Path:
    """The cache's folder, made if need be: ``$STREAMJOIN_CACHE``, else ``streamjoin`` under the user's caches.

    A folder that belongs to, or can be written by, somebody else is refused with :exc:`CacheError`: they could slip
    in a library that we would load.
    """
    if own := os.environ.get("STREAMJOIN_CACHE"):
        path = Path(own).absolute()
    elif caches := os.environ.get("XDG_CACHE_HOME"):
        path = Path(caches).absolute() / "streamjoin"
    else:
        path = Path.home() / ".cache" / "streamjoin"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CacheError(f"the cache {path} cannot be made: {error.strerror}; set STREAMJOIN_CACHE") from error
    status = path.stat()
    if status.st_uid != os.getuid():
        raise CacheError(f"the cache {path} belongs to another user: set STREAMJOIN_CACHE to a folder of your own")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheError(f"the cache {path} can be written by others: run chmod 700 on it, or set STREAMJOIN_CACHE")
    return path


def key_of(*parts: str) -> str:
    """A key for whatever is made from ``parts``, in this order."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def entry(key: str, build: Callable[[Path], None]) -> Path:
    """The folder kept under ``key``; if there is none, or a damaged one, ``build`` fills an empty folder first.

    When ``build`` raises, nothing is kept and the exception passes through.
    """
    root = directory()
    path = root / key
    with _locked(root / f"{key}.lock"):
        if not _is_sound(path):
            _remove_unused(root)
            _remove(path)
            # The lock makes the name ours; what a killed process left behind goes as well.
            partial = root / f"{key}.partial"
            _remove(partial)
            partial.mkdir(mode=0o700)
            try:
                build(partial)
                (partial / _CHECKSUMS).write_text(json.dumps(_checksums(partial), indent=2))
                partial.rename(path)
            finally:
                _remove(partial)
        (path / _CHECKSUMS).touch()  # when it was used last
    return path


@contextmanager
def _locked(path: Path, wait: bool = True) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(
            file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
        )  # released when the file is closed, or its process dies
        yield


def _is_sound(path: Path) -> bool:
    try:
        return json.loads((path / _CHECKSUMS).read_text()) == _checksums(path)
    except (OSError, ValueError):
        return False


def _checksums(path: Path) -> dict[str, str]:
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name != _CHECKSUMS
    }


def _remove_unused(root: Path) -> None:
    """Make room. An entry that somebody is just asking for is locked, and stays; a loaded library outlives its file."""
    for record in root.glob(f"*/{_CHECKSUMS}"):
        with suppress(OSError), _locked(root / f"{record.parent.name}.lock", wait=False):
            if record.stat().st_mtime < time.time() - _KEPT_SECONDS:
                _remove(record.parent)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
