"""Which folders are packages: every room of the house with all it holds, below the one name ``streamjoin``.

The room ``api`` is the package ``streamjoin`` itself. Everything else about the project is in pyproject.toml.
"""

from setuptools import find_packages, setup

ROOMS = ("reference", "hdl", "sim", "synth", "spark_driver", "report", "support", "cli")

_found = [name for room in ROOMS for name in (room, *(f"{room}.{inner}" for inner in find_packages(room)))]

setup(
    packages=["streamjoin", *(f"streamjoin.{name}" for name in _found)],
    package_dir={"streamjoin": "api"} | {f"streamjoin.{name}": name.replace(".", "/") for name in _found},
)
