"""Files of the user: written whole or not at all."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamjoin.reference.wording import named
from streamjoin.support.errors import StreamjoinError


class InputError(StreamjoinError, ValueError):
    """Something is wrong with a file; the message is one sentence that names the file, the row and the fix."""


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A path beside ``path``, with the same suffix, to write to; it becomes ``path`` on success and is gone on failure.

    So a reader sees the old file or the new one, and never a half. `InputError` if there is no writing there.
    """
    part = _new_beside(path)
    try:
        yield part
        part.replace(Path(path).resolve())
    finally:
        part.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """`InputError` if there is no writing there: to be asked before the work whose outcome is to be written."""
    _new_beside(path).unlink()


def _new_beside(path: str | Path) -> Path:
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{named(path)} is not a file: name one to write")
        target = path.resolve()
        part = target.with_name(f".{target.stem}-{uuid.uuid4().hex[:8]}{target.suffix}")
        part.touch(exist_ok=False)
    except OSError as error:
        raise InputError(f"{named(path)} cannot be written ({error.strerror}): name a directory that can be") from error
    return part
