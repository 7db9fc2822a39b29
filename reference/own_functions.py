"""Functions of the user's own, by the names that users give them: ``module:function`` or ``path/file.py:function``."""

import hashlib
import importlib
import sys
from collections.abc import Callable
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any


def own_function(module: str, function: str) -> Callable[..., Any]:
    """The function of a module, or of a file if the name ends in ``.py``; whatever importing it raises."""
    return getattr(own_module(module), function)


def own_module(name: str) -> ModuleType:
    """The module of this name, which may lie in the current folder, or of this file."""
    if not name.endswith(".py"):
        with _importable(Path.cwd()):
            return importlib.import_module(name)
    path, alias = Path(name), module_name(name)
    if alias in sys.modules:
        return sys.modules[alias]
    if not path.exists():
        # Workers have a file that was sent to them, under this name.
        with _importable(Path.cwd()):
            try:
                return importlib.import_module(alias)
            except ModuleNotFoundError:
                raise FileNotFoundError(f"there is no file {name}") from None
    spec = spec_from_file_location(alias, path)
    assert spec is not None  # as for every file that ends in .py
    assert spec.loader is not None
    sys.modules[alias] = module = module_from_spec(spec)
    try:
        with _importable(path.resolve().parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return module


def module_name(path: str) -> str:
    """What the module of a file is called, here and on workers: no other module has this name."""
    return f"own_{Path(path).stem}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"


@contextmanager
def _importable(folder: Path):
    """A console script, unlike ``python -m``, does not look for modules where it was started."""
    here = str(folder)
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        # A module may have changed the path too; remove one entry at most.
        if here in sys.path:
            sys.path.remove(here)
