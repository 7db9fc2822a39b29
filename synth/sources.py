"""A fingerprint of the code that a figure depends on, so that no old figure is taken for a new one."""

import ast
import hashlib
import inspect
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from streamjoin.reference.predicates import Predicate


@cache
def fingerprint(*modules: str) -> str:
    """A hash of the sources of these modules of ours and of all of ours that they import, data files included."""
    digest = hashlib.sha256()
    for path in sorted(_sources(modules)):
        digest.update(f"{path.parent.name}/{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def predicate_source(predicate: Predicate) -> str:
    """What the predicate says: its name does not tell when a user has changed their own function, or what it uses."""
    try:
        return inspect.getsource(inspect.getmodule(predicate.holds))
    except (OSError, TypeError):
        return predicate.spec


def _sources(modules: tuple[str, ...]) -> set[Path]:
    found, waiting = set(), list(modules)
    while waiting:
        path = _source(waiting.pop())
        if path is None or path in found:
            continue
        found.add(path)
        # A package's data (the driver in C++, say) belongs to whoever imports from it.
        found.update(other for other in path.parent.iterdir() if other.suffix in (".cpp", ".json", ".toml", ".ys"))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("streamjoin."):
                waiting += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    return found


def _source(module: str) -> Path | None:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # a name within a module, not a module
        return None
    return Path(spec.origin) if spec and spec.has_location else None
