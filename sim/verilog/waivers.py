"""Verilator's warnings that are about the habits of people, not about faults in generated Verilog, with reasons."""

#: Kind, what the message must say, and why it does not matter.
WAIVED = (
    ("DECLFILENAME", "", "a design is one file, whatever its modules are called"),
    ("PROCASSINIT", "", "registers have the start value that an FPGA gives them, besides their reset"),
    ("UNUSEDSIGNAL", "", "a carry, or an output of a part, that nobody needs; synthesis removes it"),
    (
        "CASEINCOMPLETE",
        "",
        "every block gives its outputs a value before the case; a latch would be reported by itself",
    ),
    ("INITIALDLY", "", "the trigger of combinational blocks must change after they have begun to wait"),
    ("UNOPTFLAT", "", "some bits of a vector depend on others; a net that depends on itself is found by Yosys"),
    ("WIDTHEXPAND", "Operator ", "a narrow operand is extended by its own sign or zeros, which is meant"),
    ("WIDTHTRUNC", "Logical operator LOGNOT", "'!' of a vector asks whether it is zero"),
    ("WIDTHTRUNC", "SHIFTR generates", "a bit picked by an index is the last bit of a shifted vector"),
)

# Releases from before 2023 know fewer kinds, and refuse a pragma for one that they do not know.
_KNOWN_TO_ALL = {
    "UNUSEDSIGNAL": "UNUSED",
    "WIDTHEXPAND": "WIDTH",
    "WIDTHTRUNC": "WIDTH",
    "PROCASSINIT": None,  # said with all warnings on only
}

BEGIN, END = "/* verilator lint_save */\n", "/* verilator lint_restore */\n"


def pragmas() -> str:
    """What the head of a file says so that Verilator, of any release, is content with it; to be followed by ``END``."""
    kinds = dict.fromkeys(_KNOWN_TO_ALL.get(kind, kind) for kind, _, _ in WAIVED)
    return BEGIN + "".join(f"/* verilator lint_off {kind} */\n" for kind in kinds if kind)


def without_pragmas(verilog: str) -> str:
    """The same lines, those with pragmas empty: so that all is said, and found by its number."""
    return verilog.replace(pragmas(), "\n" * pragmas().count("\n")).replace(END, "\n")
