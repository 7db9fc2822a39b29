"""Errors become one sentence and an exit status."""

import os
import sys
from collections.abc import Callable

from streamjoin.hdl.parameters import ParameterError
from streamjoin.sim.cache import CacheError
from streamjoin.sim.files import InputError
from streamjoin.sim.model import DesignError
from streamjoin.sim.toolchain import ToolError
from streamjoin.spark_driver.errors import SparkError
from streamjoin.synth.errors import SynthError


def guarded(command: Callable[[], int]) -> int:
    """Run a command; what users can mend ends in one sentence and status 2, a design's misbehaviour in status 1."""
    try:
        return command()
    except (ParameterError, InputError, ToolError, CacheError, SparkError, SynthError) as error:
        print(f"streamjoin: {error}", file=sys.stderr)
        return 2
    except DesignError as error:
        print(f"streamjoin: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read our output has seen enough; let the interpreter not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("streamjoin: interrupted", file=sys.stderr)
        return 130
