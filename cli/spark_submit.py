"""What spark-submit runs: the commands on Spark, on the master that it was told."""

import sys
from pathlib import Path


def submitted() -> int:
    """Run ``streamjoin spark`` with the words behind this file's name."""
    # Python looks beside this file first, where modules of the command line would hide others of the same name.
    sys.path[:] = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]
    from streamjoin.cli.main import main

    return main(["spark", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(submitted())
