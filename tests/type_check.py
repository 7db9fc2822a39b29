"""Types, as `make lint` checks them: basic everywhere, strict for the public interface; see pyproject.toml.

The checker reads packages as folders and follows no links, and here the room ``api`` is the package ``streamjoin``
itself. So it looks at a copy that is laid out as the package is installed, and what it says is told of our own files.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build" / "typing"


def main() -> int:
    """Print what the checker finds, and return how it ended."""
    shutil.rmtree(COPY, ignore_errors=True)
    lay_out = ["setup.py", "--quiet", "build_py", "--no-compile", "--build-lib", str(COPY)]
    subprocess.run([sys.executable, *lay_out], cwd=ROOT, check=True)
    command = [sys.executable, "-m", "basedpyright", "--outputjson"]
    checker = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    try:
        said = json.loads(checker.stdout)
    except ValueError:
        print((checker.stderr or checker.stdout).decode(errors="replace"), file=sys.stderr)
        return 1
    for finding in said["generalDiagnostics"]:
        place = finding["range"]["start"]
        rule = f" [{finding['rule']}]" if "rule" in finding else ""
        where = f"{_ours(Path(finding['file']))}:{place['line'] + 1}:{place['character'] + 1}"
        print(f"{where}: {finding['severity']}: {finding['message']}{rule}")
    if checker.returncode == 0:
        print(f"The types in {said['summary']['filesAnalyzed']} files agree.")
    return checker.returncode


def _ours(copied: Path) -> Path:
    """The file that was copied there."""
    inner = copied.relative_to(COPY / "streamjoin")
    return inner if (ROOT / inner).exists() else "api" / inner


if __name__ == "__main__":
    sys.exit(main())
