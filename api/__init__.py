"""streamjoin: window-based stream joins in hardware, simulated cycle by cycle and written as Verilog."""
