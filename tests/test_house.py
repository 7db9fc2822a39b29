"""The plan of the house: which folder may know which, no circles, and no folder that is too full."""

import ast
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("reference", "hdl", "sim", "synth", "spark_driver", "report", "api", "cli", "support")
MOST_MODULES = 25
#: What designs share, each known to whoever has its own kind of join.
FAMILIES = {
    "hdl.lockstep": ("hdl.handshake", "hdl.nested_loop"),
    "hdl.chain": ("hdl.handshake_async", "hdl.llhj"),
    "hdl.multiway": ("hdl.circular", "hdl.stashed"),
}
DESIGNS = (*(design for designs in FAMILIES.values() for design in designs), "hdl.bisort", "hdl.hash")
#: For each folder those that it may know besides itself; a design knows its family, and no other design.
MAY_KNOW = {
    "reference": (),
    "hdl.base": ("reference",),
    "hdl.lib": ("hdl.base", "reference"),
    **dict.fromkeys(FAMILIES, ("hdl.base", "hdl.lib", "reference")),
    **dict.fromkeys(DESIGNS, ("hdl.base", "hdl.lib", "reference")),
    "hdl.board": ("hdl.base", "hdl.lib", "reference"),
    "hdl": ("hdl.base", "hdl.lib", *FAMILIES, *DESIGNS, "hdl.board", "reference"),
    "support": ("reference.wording",),  # the one way to show what users wrote
    "sim": ("hdl", "reference", "support"),
    "synth": ("hdl", "sim", "reference", "support"),
    "spark_driver": ("hdl", "sim", "reference", "support"),
    "report": ("reference", "hdl", "sim", "synth", "spark_driver", "support"),
    "api": ("reference", "hdl", "sim", "synth", "spark_driver", "report", "support"),
    "cli": ("reference", "hdl", "sim", "synth", "spark_driver", "report", "api", "support"),
}
for family, designs in FAMILIES.items():
    MAY_KNOW |= {design: (*MAY_KNOW[design], family) for design in designs}


def modules() -> dict[str, Path]:
    """All modules of the rooms by their dotted names below the root."""
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


MODULES = modules()


def imported(name: str, path: Path) -> set[str]:
    """The modules of ours that one imports, anywhere in it."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), f"streamjoin.{package}")
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        found |= {below_root(name) for name in names if f"{name}.".startswith("streamjoin.")}
    return found & MODULES.keys()


def below_root(name: str) -> str:
    """Where a module of ours stands; the room ``api`` is the package ``streamjoin`` itself."""
    inner = name.removeprefix("streamjoin").removeprefix(".")
    return inner if inner.partition(".")[0] in ROOMS else f"api.{inner}".removesuffix(".")


EDGES = {name: imported(name, path) for name, path in MODULES.items()}


def folder_of(module: str) -> str:
    """The folder of the table that a module is in."""
    return max((folder for folder in MAY_KNOW if f"{module}.".startswith(f"{folder}.")), key=len)


def is_in(module: str, folder: str) -> bool:
    return f"{module}.".startswith(f"{folder}.")


@pytest.mark.parametrize("folder", MAY_KNOW)
def test_a_folder_knows_only_what_it_may(folder):
    offences = [
        f"{module} imports {other}"
        for module in MODULES
        if folder_of(module) == folder
        for other in EDGES[module]
        if folder_of(other) != folder and not any(is_in(other, known) for known in MAY_KNOW[folder])
    ]
    assert not offences


def test_every_design_is_in_the_table():
    there = {f"hdl.{path.parent.name}" for path in (ROOT / "hdl").glob("*/design.py")} - {"hdl.base"}
    assert there == set(DESIGNS)


def test_a_breach_would_be_seen():
    assert "reference.wording" in EDGES["support.files"]
    assert "api.configured" in EDGES["cli.arguments"]
    assert "api" in EDGES["cli.main"]
    assert folder_of("hdl.bisort.prober") == "hdl.bisort"
    assert folder_of("hdl.registry") == "hdl"
    assert not any(is_in("hdl.chain.join", known) for known in MAY_KNOW["hdl.bisort"])


def test_no_module_imports_itself_by_way_of_others():
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join((*way[way.index(module) :], module))
        if module not in done:
            for other in EDGES[module] - {module}:
                visit(other, (*way, module))
            done.add(module)

    for module in MODULES:
        visit(module, ())
    assert done == MODULES.keys()


def test_no_folder_is_too_full():
    folders: dict[Path, int] = {}
    for path in MODULES.values():
        folders[path.parent] = folders.get(path.parent, 0) + (path.name != "__init__.py")
    assert not {str(folder): count for folder, count in folders.items() if count > MOST_MODULES}
