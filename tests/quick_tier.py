"""The quick tier: tests that neither start a program nor load a compiled model, found out by watching them.

A test is skipped in the moment in which it does either, and with it the other cases of the same function, so that
nobody has to keep a list of what is slow. Tests marked ``quick`` go on: they are few, and their models small. Those
marked ``slow`` are left out: they only compute, but for seconds.
"""

import sys

import pytest

_STARTS = {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
_REASON = "it starts a program or loads a compiled model: make test runs it"


class QuickTier:
    """A plug-in for pytest; what it hooks into Python stays there until the process ends."""

    def __init__(self):
        self._watched: pytest.Item | None = None
        self._slow: set[str] = set()
        sys.addaudithook(self._hear)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        """Watch set-up, call and tear-down, fixtures included."""
        self._watched = None if item.get_closest_marker("quick") else item
        try:
            return (yield)
        finally:
            self._watched = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip the other cases of a function that was not quick."""
        if self._watched and _function(item) in self._slow:
            pytest.skip(_REASON)
        if item.get_closest_marker("slow"):
            pytest.skip("it takes seconds: make test runs it")

    def _hear(self, event: str, about: tuple) -> None:
        if self._watched and (event in _STARTS or (event == "ctypes.dlopen" and str(about[0]).endswith(".so"))):
            self._slow.add(_function(self._watched))
            self._watched = None  # what tidies up may start what it needs
            pytest.skip(_REASON)


def _function(item: pytest.Item) -> str:
    """What it is a case of."""
    return item.nodeid.partition("[")[0]
