"""What workers need from us: this package, the compiled model, a user's own predicate, the tuples of a file.

All of it goes through Spark, so that workers need not share a file system with us. They need Python with the packages
that this one depends on. The model is compiled once, here; a worker with another processor or system, or one that
cannot load it, compiles it for itself.
"""

import ctypes
import hashlib
import io
import json
import os
import platform
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.registry import find, key_of
from streamjoin.reference.own_functions import module_name
from streamjoin.reference.predicates import Predicate
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.run.verilate import Library, build_library
from streamjoin.sim.verilog.generate import Verilog
from streamjoin.support.own_code import DATA, own_code

_ROOMS = ("", "/reference", "/hdl", "/sim", "/spark_driver", "/support")
_SHIPPED_SUFFIXES = (".py", *DATA)


@dataclass(frozen=True)
class ShippedModel:
    """A simulator on its way: all that a worker needs to have the same one.

    Attributes
    ----------
    library, description
        Names of shipped files: the compiled model, and its Verilog with its manifest.
    digest
        The SHA-256 of the library.
    machine
        Where the library runs.
    """

    design: str
    parameters: tuple[tuple[str, object], ...]
    library: str
    description: str
    digest: str
    machine: str

    def simulator(self) -> Simulator:
        """On a worker: the simulator, opened or built once a process."""
        return _open(self)


def machine() -> str:
    """What a library has to be compiled for."""
    return f"{platform.system()} {platform.machine()}"


def ship_package(spark: SparkSession, folder: Path, design: Design, predicate: Predicate) -> None:
    """Send this package, and what a design and a predicate from outside are made of."""
    archive = _archive(folder, {f"streamjoin{room}": files(f"streamjoin{room.replace('/', '.')}") for room in _ROOMS})
    spark.sparkContext.addPyFile(str(archive))
    for source in dict.fromkeys((*_modules_of(design.sources, folder), *_own_modules(predicate, folder))):
        spark.sparkContext.addPyFile(str(source))


def ship_model(spark: SparkSession, folder: Path, simulator: Simulator) -> ShippedModel:
    """Send the compiled model."""
    verilog, content = simulator.verilog, simulator.library.path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    name = f"model-{digest[:16]}"
    (folder / f"{name}.json").write_text(json.dumps({"text": verilog.text, "manifest": verilog.manifest}))
    (folder / f"{name}.so").write_bytes(content)
    for suffix in ("json", "so"):
        spark.sparkContext.addFile(str(folder / f"{name}.{suffix}"))
    return ShippedModel(
        design=key_of(simulator.design),
        parameters=tuple(simulator.parameters.as_dict().items()),
        library=f"{name}.so",
        description=f"{name}.json",
        digest=digest,
        machine=machine(),
    )


@lru_cache(maxsize=4)
def _open(model: ShippedModel) -> Simulator:
    design = find(model.design)
    verilog = Verilog(**json.loads(Path(SparkFiles.get(model.description)).read_text()))
    path = Path(SparkFiles.get(model.library))
    if model.machine == machine() and _is_sound(path, model.digest):
        library = Library(path, waves=None, cached=True)
    else:
        library = build_library(verilog)
    return Simulator(design, design.parameters(**dict(model.parameters)), verilog, library, 0.0)


def _is_sound(path: Path, digest: str) -> bool:
    """Whether the library arrived whole and can be loaded here: a C library that is too old refuses it."""
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return False
        ctypes.CDLL(os.fspath(path))
    except OSError:
        return False
    return True


def _archive(folder: Path, packages: Mapping[str, Traversable]) -> Path:
    """An archive of packages, each under its path, named after its content: Spark takes no other file of a name."""
    modules: dict[str, bytes] = {}
    for path, package in packages.items():
        modules |= _modules(package, path)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for path, text in sorted(modules.items()):
            target.writestr(zipfile.ZipInfo(path), text)
    archive = folder / f"package-{hashlib.sha256(content.getvalue()).hexdigest()[:16]}.zip"
    archive.write_bytes(content.getvalue())
    return archive


def _modules(package: Traversable, path: str) -> dict[str, bytes]:
    found = {}
    for entry in package.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found |= _modules(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(_SHIPPED_SUFFIXES):
            found[f"{path}/{entry.name}"] = entry.read_bytes()
    return found


def _own_modules(predicate: Predicate, folder: Path) -> list[Path]:
    """What workers need of a predicate of the user's own: its module; or its file, with the modules beside it that are
    in use, too.
    """
    name, colon, _ = predicate.spec.rpartition(":")
    if not (colon and name.endswith(".py")):
        return _modules_of([name] if colon and name in sys.modules else [], folder)
    own = Path(name).resolve()
    sent = folder / f"{module_name(name)}.py"
    sent.write_bytes(own.read_bytes())
    loaded = {Path(file) for module in sys.modules.values() if (file := getattr(module, "__file__", None))}
    beside = (file for file in loaded if file.parent == own.parent and file.suffix == ".py")
    return [sent, *sorted(file for file in beside if file.name not in (own.name, "__init__.py"))]


def _modules_of(names: Iterable[str], folder: Path) -> list[Path]:
    """The files of these modules and of all that they import of the user's own code; of packages, archives."""
    outside = {name.partition(".")[0] for name in own_code(names)} - {__name__.partition(".")[0]}
    return [_own_module(name, folder) for name in sorted(outside)]


def _own_module(name: str, folder: Path) -> Path:
    """The file of a module, or an archive of a package."""
    spec = find_spec(name)
    assert spec is not None  # it has been found before
    if spec.submodule_search_locations is not None:
        return _archive(folder, {name: Path(next(iter(spec.submodule_search_locations)))})
    assert spec.origin is not None  # and its file has been read
    return Path(spec.origin)
