"""What a vendor's project lacks as Amaranth writes it: builds that fail when timing is missed, and equal treatment of
both Verilog files."""

import re
from collections.abc import Callable

from streamjoin.synth.board.tools import Plan

_LOCATED = re.compile(r'^ *set_property LOC \S+ \[get_ports "(.*)"\]$', re.MULTILINE)
_VIVADO_SLACK = """\
foreach path [get_timing_paths -delay_type min_max -slack_lesser_than 0] {{
    puts "ERROR: timing was missed by [get_property SLACK $path] ns: see {name}_timing.rpt"
    exit 1
}}
"""
_QUARTUS_SLACK = """
if grep '^Slack *: *-' {name}.sta.summary; then
    echo "Error: timing was missed: see {name}.sta.rpt"
    exit 1
fi
"""
_QUARTUS_SLACK_IN_WINDOWS = """
findstr /R /C:"^Slack *: *-" {name}.sta.summary
if %ERRORLEVEL% == 0 (echo Error: timing was missed: see {name}.sta.rpt & exit /b 1)
exit /b 0
"""


def finish(plan: Plan, toolchain: str, name: str, design: str) -> None:
    """Complete the project ``name``, whose top stands in ``name.v`` and the rest in the file ``design``."""
    if toolchain in _FINISH:
        _FINISH[toolchain](plan.files, name, design)


def _finish_vivado(files: dict[str, str], name: str, _: str) -> None:
    constraints, script = f"{name}.xdc", f"{name}.tcl"
    # A clock begins where it enters the chip: on a net, Vivado would leave out the way from there.
    for port in _LOCATED.findall(files[constraints]):
        files[constraints] = files[constraints].replace(f'[get_nets "{port}"]', f'[get_ports "{port}"]')
    before, write, after = files[script].partition("write_bitstream ")
    files[script] = before + _VIVADO_SLACK.format(name=name) + write + after


def _finish_quartus(files: dict[str, str], name: str, design: str) -> None:
    silenced = f"{name}.srf"
    # Warnings of machine-made Verilog that Amaranth silences in its own file: ours is made by the same machine.
    files[silenced] += "\n" + files[silenced].replace(f'"{name}.v"', f'"{design}"')
    files[f"build_{name}.sh"] += _QUARTUS_SLACK.format(name=name)
    files[f"build_{name}.bat"] += _QUARTUS_SLACK_IN_WINDOWS.format(name=name)


_FINISH: dict[str, Callable[[dict[str, str], str, str], None]] = {
    "Vivado": _finish_vivado,
    "Quartus": _finish_quartus,
}
