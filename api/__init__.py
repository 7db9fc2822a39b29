"""streamjoin: window-based stream joins in hardware, simulated cycle by cycle and written as Verilog."""

from importlib.metadata import version
__version__ = "0.1.0"
