"""streamjoin: window-based stream joins in hardware, simulated cycle by cycle and written as Verilog.

>>> import streamjoin as sj
>>> join = sj.join("handshake", cores=8, window=64, predicate="band:3")
>>> run = join.simulate("tuples.csv")
>>> run.exact, run.results, run.latencies, run.summary()
>>> join.verilog(name="myjoin").write("myjoin.v")

What ``__all__`` names is kept stable; all else may move.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamjoin.configured import Join, designs, join
    from streamjoin.hdl.base.parameters import ParameterError
    from streamjoin.run import Run
    from streamjoin.support.files import InputError

    __version__: str

__all__ = ["InputError", "Join", "ParameterError", "Run", "__version__", "designs", "join"]

# This package is imported by everything below it, by workers and by ``streamjoin --version``: it loads nothing by
# itself. Each name is fetched from its module by whoever uses it first.
_HOMES = {
    "InputError": "support.files",
    "Join": "configured",
    "ParameterError": "hdl.base.parameters",
    "Run": "run",
    "designs": "configured",
    "join": "configured",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = import_module("importlib.metadata").version("streamjoin")
    elif name in _HOMES:
        value = getattr(import_module(f"streamjoin.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'streamjoin' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
