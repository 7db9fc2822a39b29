"""Which files a module is made of: its own, and those of its author that it imports."""

import ast
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
from pathlib import Path

#: What belongs to a package besides its modules: the driver in C++, say.
DATA = (".cpp", ".json", ".toml", ".ys")

_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def own_code(modules: Iterable[str]) -> dict[str, Path | None]:
    """These modules and all of their authors' that any of them imports, anywhere in it, with their files.

    An author's are the modules of the same packages, and those in a folder with them, unless that is where packages
    are installed or Python's own. A folder that is a package without saying so has no file.
    """
    waiting = list(modules)
    ours = {_top(module) for module in waiting}
    homes = {_home(top) for top in ours} - {Path(path) for path in sysconfig.get_paths().values()}
    found: dict[str, Path | None] = {}
    while waiting:
        module = waiting.pop()
        if not module or module in found or (_top(module) not in ours and _home(_top(module)) not in homes):
            continue
        spec = _spec(module)
        if spec is None:
            continue
        waiting.append(module.rpartition(".")[0])  # a package runs before what is in it
        found[module] = path = Path(spec.origin) if spec.has_location and spec.origin else None
        if path is not None and path.suffix == ".py":
            waiting += _imported(path, spec.parent or "")
    return found


def _top(module: str) -> str:
    return module.partition(".")[0]


def _home(top: str) -> Path | None:
    """The folder that a module outside of all packages is in."""
    spec = _spec(top)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).parent
    return Path(spec.origin).parent if spec.has_location and spec.origin else None


def _imported(path: Path, package: str) -> Iterator[str]:
    """What a file in this package imports, anywhere in it, by full names; those within a module among them."""
    for node in _run(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from (module, *(f"{module}.{name.name}" for name in node.names))


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """This and all below it, but for what only those read who check types."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) in _CHECKING:
            for one in child.orelse:
                yield from _run(one)
        else:
            yield from _run(child)


def _spec(module: str) -> ModuleSpec | None:
    """Where a module is; ``None``: it is a name within another one, which need not be loaded to tell."""
    package = module.rpartition(".")[0]
    holder = _spec(package) if package else None
    if package and (holder is None or holder.submodule_search_locations is None):
        return None
    try:
        return find_spec(module)
    except (ModuleNotFoundError, ValueError):  # what runs as a program has no place
        return None
