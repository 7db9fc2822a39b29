"""A fingerprint of the code that a figure depends on, so that no old figure is taken for a new one."""

import ast
import hashlib
import inspect
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
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
    """The files of these modules, and of all of their own packages that any of them imports."""
    ours = {module.partition(".")[0] for module in modules}
    found, seen, waiting = set(), set(), list(modules)
    while waiting:
        module = waiting.pop()
        if module in seen or module.partition(".")[0] not in ours:
            continue
        seen.add(module)
        waiting.append(module.rpartition(".")[0])  # a package runs before what is in it
        spec = _spec(module)
        if spec is None or not spec.has_location:
            continue
        path = Path(spec.origin)
        found.add(path)
        # A package's data (the driver in C++, say) belongs to whoever imports from it.
        found.update(other for other in path.parent.iterdir() if other.suffix in (".cpp", ".json", ".toml", ".ys"))
        waiting += _imported(path, spec.parent)
    return found


def _imported(path: Path, package: str) -> Iterator[str]:
    """What a file in this package imports, anywhere in it, by full names; those within a module among them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from (module, *(f"{module}.{name.name}" for name in node.names))


def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except ModuleNotFoundError:  # a name within a module, not a module
        return None
