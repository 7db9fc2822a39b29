"""Which modules of a design are better simulated by code that all their instances share."""

import re

#: Beyond so many memories the code of a module is long, and instances beside each other crowd it out of the cache.
_MANY = 32
_MODULE = re.compile(r"^module (\S+?)\(.*?^endmodule", re.MULTILINE | re.DOTALL)
_MEMORY = re.compile(r"^  reg (?:\[\d+:0\] )?\S+ \[\d+:0\];", re.MULTILINE)
_INPUT = re.compile(r"^  input (?:\[\d+:0\] )?([A-Za-z_]\w*);", re.MULTILINE)


def sharing(verilog: str) -> str:
    """A configuration file for Verilator, empty if there is nothing to be shared.

    Verilator connects an input with whatever drives it, another signal for each instance, and so makes code for each
    instance. An input that others may write keeps a place of its own; then the code is the same, and there once. Six
    stages of a circular join with 64 lanes simulate 1.4 times as fast. Where modules are small, the copies cost more
    than they save.
    """
    lines = []
    for module in _MODULE.finditer(verilog):
        name, text = module[1], module[0]
        uses = len(re.findall(rf"^  {re.escape(name)} \S+ \(", verilog, re.MULTILINE))
        if uses > 1 and len(_MEMORY.findall(text)) >= _MANY:
            inputs = [port for port in _INPUT.findall(text) if port != "clk"]
            lines += [f'public_flat_rw -module "{name}" -var "{port}"' for port in inputs]
    return "\n".join(["`verilator_config", *lines, ""]) if lines else ""
