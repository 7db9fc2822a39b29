"""Errors become one sentence and an exit status."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.registry import DesignWarning
from streamjoin.reference.errors import DesignError
from streamjoin.reference.wording import one_sentence
from streamjoin.support.errors import StreamjoinError


class _Terminated(KeyboardInterrupt):
    """Somebody asked us to end: whatever cleans up after Ctrl-C does so now."""


def guarded(command: Callable[[], int]) -> int:
    """Run a command; whatever error says its status ends in one sentence and that status."""
    try:
        with _termination_as_interrupt(), _plain_warnings():
            return command()
    except (StreamjoinError, ParameterError, DesignError) as error:
        _tell(error)
        return error.status
    except MemoryError:
        _tell("there is not enough memory for this: take fewer tuples, or smaller windows")
        return 2
    except BrokenPipeError:
        # Whoever read our output has seen enough; let the interpreter not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except _Terminated:
        print("streamjoin: terminated", file=sys.stderr)
        return 143
    except KeyboardInterrupt:
        print("streamjoin: interrupted", file=sys.stderr)
        return 130


def _tell(error: object) -> None:
    print(one_sentence(f"streamjoin: {error}"), file=sys.stderr)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Let a design that cannot be had be told in one line, without the place in the code that noticed."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DesignWarning)
        otherwise = warnings.showwarning

        def show(message, category, *where, **more):
            if issubclass(category, DesignWarning):
                _tell(message)
            else:
                otherwise(message, category, *where, **more)

        warnings.showwarning = show
        yield


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM, which by itself would leave the tools that we started running, end a command like Ctrl-C."""

    def end(*_):
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
