"""A fingerprint of the code that a figure depends on, so that no old figure is taken for a new one."""

import hashlib
import inspect
from functools import cache
from pathlib import Path

from streamjoin.reference.predicates import Predicate
from streamjoin.support.own_code import DATA, own_code


@cache
def fingerprint(*modules: str) -> str:
    """A hash of the sources of these modules and of what they import of their authors' own, data files included."""
    digest = hashlib.sha256()
    for path in sorted(_sources(modules)):
        digest.update(f"{path.parent.name}/{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def predicate_source(predicate: Predicate) -> str:
    """What the predicate says: its name does not tell when a user has changed their own function, or what it uses."""
    try:
        module = inspect.getmodule(predicate.holds)
        return predicate.spec if module is None else inspect.getsource(module)
    except (OSError, TypeError):
        return predicate.spec


def _sources(modules: tuple[str, ...]) -> set[Path]:
    """The files of these modules and of what they import of their authors' own; the data of their packages, too."""
    files = {path for path in own_code(modules).values() if path is not None}
    packages = {path.parent for path in files if path.name == "__init__.py"}  # what lies elsewhere may be anybody's
    return files | {other for package in packages for other in package.iterdir() if other.suffix in DATA}
