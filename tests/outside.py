"""Packages that are not installed, with designs of their own, as if they were."""

from pathlib import Path

#: A module that holds a design: one of ours under another name.
RENAMED = """\
from dataclasses import replace
from streamjoin.hdl.nested_loop.design import DESIGN as NESTED_LOOP
DESIGN = replace(NESTED_LOOP, name={name!r}, summary="from outside")
"""


def add_module(folder: Path, module: str, text: str) -> None:
    """A module, in packages that say that they are some."""
    path = folder / f"{module.replace('.', '/')}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    for package in path.parents[: module.count(".")]:
        (package / "__init__.py").touch()
    path.write_text(text)


def add_entries(folder: Path, **entries: str) -> None:
    """What a package that offers these designs, by what they are loaded from, leaves where it is installed."""
    information = folder / "outside-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    lines = (f"{name} = {value}\n" for name, value in entries.items())
    (information / "entry_points.txt").write_text("".join(["[streamjoin.designs]\n", *lines]))
