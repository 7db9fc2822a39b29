"""The devices that designs are measured on, as data."""

from dataclasses import dataclass, field, replace

from streamjoin.reference.wording import listed, shown
from streamjoin.synth.flow.errors import TargetError
from streamjoin.synth.flow.floorplan import RamRows

POST_ROUTE = "post-route"
ESTIMATE = "logic-delay estimate"
CONSTRAINTS = "{constraints}"


@dataclass(frozen=True)
class Target:
    """A device, and how to find out what a design costs on it.

    Attributes
    ----------
    name, device
        For the command line, and for people.
    clock
        What a clock frequency rests on: ``"post-route"``; ``"logic-delay estimate"``, which knows nothing of routing;
        or ``None``, where only the area is known.
    synthesis
        Yosys' command for the family.
    ram_label
        Where in it memories begin to be mapped to RAM.
    before_ram
        Yosys' passes before that.
    frame
        Yosys' passes that give the flat netlist what place and route wants to see, such as pads and clock buffers.
    rewrite
        Verilog for them, in the file ``rewrite.v``.
    router
        The nextpnr for the family (``ecp5`` for ``nextpnr-ecp5``) and its arguments; empty without place and route.
    crowded
        Further arguments for designs that take a large share of what the device has of anything.
    insistence
        Those arguments that make the router go on until it meets the goal.
    ram_rows
        Where it has block RAM, for a floorplan of such designs.
    goal_mhz
        The clock that place and route is asked for. It may reach more, or less.
    constraints
        A file that tells the router where the pins are; :data:`CONSTRAINTS` stands for its path in the arguments.
    luts, ffs, brams, lutrams
        Which cells count, by patterns of their types, and for how many. What a memory in look-up tables takes counts
        among ``luts`` as well.
    reads_at_once
        Whether it has RAM of any depth that shows a word in the same cycle as its address comes, without a clock edge.
    capacity
        How many of ``luts``, ``ffs`` and ``brams`` the device has; empty for a family without a certain device.
    """

    name: str
    device: str
    clock: str | None
    synthesis: str
    luts: dict[str, int]
    ffs: dict[str, int]
    brams: dict[str, int]
    lutrams: dict[str, int] = field(default_factory=dict)
    reads_at_once: bool = False
    ram_label: str = "map_ram"
    before_ram: tuple[str, ...] = ()
    rewrite: str = ""
    frame: tuple[str, ...] = ()
    router: tuple[str, ...] = ()
    crowded: tuple[str, ...] = ()
    insistence: tuple[str, ...] = ()
    ram_rows: RamRows = ()
    goal_mhz: int = 200
    constraints: str = ""
    capacity: dict[str, int] = field(default_factory=dict)

    def without_clock(self) -> "Target":
        """The same device, for its area alone: nothing is placed and routed, no clock is known."""
        return replace(self, clock=None, router=())


#: Yosys' maps for Intel's RAM know no start values; our memories need none, for a reset leaves them as they are.
_WITHOUT_START_VALUES = ("setparam -set INIT 1'bx harness_*/t:$mem_v2",)


def _pins(line: str, *pins: str) -> str:
    """A line for each port of the harness."""
    ports = ("clk", "rst", "shift_in", "fold_out")
    return "".join(line.format(port=port, pin=pin) + "\n" for port, pin in zip(ports, pins, strict=True))


def _ecp5(
    size: str, device: str, luts: int, brams: int, ram_rows: tuple[int, ...], ram_groups: tuple[int, ...]
) -> Target:
    """``ram_rows`` and ``ram_groups`` are the coordinates of block RAM, which stands in groups of four."""
    return Target(
        f"ecp5-{size}",
        f"Lattice {device}, speed grade 8",
        POST_ROUTE,
        "synth_lattice -family ecp5",
        # A block of distributed RAM takes four look-up tables, and two more carry its write port.
        luts={"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6},
        ffs={"TRELLIS_FF": 1},
        brams={"DP16KD": 1, "PDPW16KD": 1},
        lutrams={"TRELLIS_DPR16X4": 1},
        reads_at_once=True,
        router=(
            *("ecp5", f"--um5g-{size}", "--package", "CABGA381", "--speed", "8"),
            # Without timing-driven rip-up, nets of high fan-out take detours that decide the clock.
            *("--router", "router2", "--tmg-ripup", "--lpf-allow-unconstrained"),
        ),
        # The default placer scatters critical paths where there is little room: 32 cores with parallel scan, half of
        # the device, were placed for 92 MHz, which no route mends. This one takes longer and places them for 164; with
        # their block RAM in fixed places, for 190.
        crowded=("--placer", "static"),
        ram_rows=tuple(tuple(f"X{x + 2 * n}/Y{y}/EBR{n}" for x in ram_groups for n in range(4)) for y in ram_rows),
        # Rip-up goes on until all paths meet the goal, or for ever.
        insistence=("--tmg-ripup",),
        goal_mhz=170,
        capacity={"luts": luts, "ffs": luts, "brams": brams},
    )


def _ice40(size: str, device: str, family: str, package: str, luts: int, brams: int) -> Target:
    return Target(
        f"ice40-{size}",
        f"Lattice {device}",
        POST_ROUTE,
        f"synth_ice40 -device {family}",
        luts={"SB_LUT4": 1},
        ffs={"SB_DFF*": 1},
        brams={"SB_RAM40_4K*": 1},
        router=("ice40", f"--{size}", "--package", package, "--pcf-allow-unconstrained"),
        capacity={"luts": luts, "ffs": luts, "brams": brams},
    )


def _intel(name: str, device: str) -> Target:
    return Target(
        name,
        f"Intel {device}",
        None,
        f"synth_intel -family {name}",
        luts={"*_lcell_comb": 1},
        ffs={"dffeas": 1},
        brams={"altsyncram": 1},
        ram_label="map_bram",
        before_ram=_WITHOUT_START_VALUES,
    )


# Yosys ties the carry input of a chain's first cell to zero; nextpnr wants it left open.
_CARRY_START = """\
module CARRY_START(input CIN, A0, B0, C0, D0, A1, B1, C1, D1, output S0, S1, COUT);
  parameter INIT0 = "", INIT1 = "", INJECT = "";
  CCU2 #(.INIT0(INIT0), .INIT1(INIT1), .INJECT(INJECT)) _TECHMAP_REPLACE_ (
    .A0(A0), .B0(B0), .C0(C0), .D0(D0), .A1(A1), .B1(B1), .C1(C1), .D1(D1), .S0(S0), .S1(S1), .COUT(COUT)
  );
endmodule
"""

_ALL = (
    _ecp5("25k", "LFE5UM5G-25F", 24288, 56, (25, 37), (*range(4, 23, 9), *range(33, 61, 9))),
    _ecp5("45k", "LFE5UM5G-45F", 43848, 108, (10, 34, 58), (*range(4, 32, 9), *range(42, 79, 9))),
    _ecp5("85k", "LFE5UM5G-85F", 83640, 208, (22, 46, 70, 82), (*range(4, 59, 9), *range(69, 115, 9))),
    _ice40("hx8k", "iCE40HX8K", "hx", "ct256", 7680, 32),
    _ice40("up5k", "iCE40UP5K", "u", "sg48", 5280, 30),
    Target(
        "nexus-40k",
        "Lattice LIFCL-40, speed grade 9",
        POST_ROUTE,
        "synth_nexus -family lifcl",
        luts={"LUT4": 1, "CCU2": 2, "DPR16X4": 6},
        ffs={"FD1P3*": 1},
        brams={"DP16K": 1, "PDP16K": 1, "PDPSC16K": 1, "SP16K": 1},
        lutrams={"DPR16X4": 1},
        reads_at_once=True,
        rewrite=_CARRY_START,
        frame=(
            "select -set starts harness/t:CCU2 harness/r:INIT0=0xFFFF %i",
            "chtype -set CARRY_START @starts",
            "techmap -map rewrite.v harness",
        ),
        router=("nexus", "--device", "LIFCL-40-9BG400C", "--router", "router1", "--pdc", CONSTRAINTS),
        constraints=_pins("ldc_set_location -site {{{pin}}} [get_ports {port}]", "L13", "G19", "F14", "E17"),
        capacity={"luts": 32256, "ffs": 32256, "brams": 84},
    ),
    Target(
        "gowin-gw2a-18",
        "Gowin GW2A-LV18PG256C8/I7",
        POST_ROUTE,
        "synth_gowin -family gw2a -noiopads",
        luts={"LUT[1-4]": 1, "ALU": 1, "RAM16SDP4": 6},
        ffs={"DFF*": 1},
        brams={"SDPB": 1, "SDPX9B": 1, "DPB": 1, "DPX9B": 1, "SPX9": 1},
        lutrams={"RAM16SDP*": 1},
        reads_at_once=True,
        frame=("iopadmap -bits -inpad IBUF O:I -outpad OBUF I:O A:top",),
        router=(
            *("himbaechel-gowin", "--device", "GW2A-LV18PG256C8/I7", "--vopt", "family=GW2A-18"),
            *("--vopt", f"cst={CONSTRAINTS}"),
        ),
        constraints=_pins('IO_LOC "{port}" {pin};', "H11", "T10", "T3", "N16"),
        capacity={"luts": 20736, "ffs": 15552, "brams": 46},
    ),
    Target(
        "gatemate-a1",
        "Cologne Chip CCGM1A1",
        POST_ROUTE,
        "synth_gatemate -luttree -nomx8 -noiopad -noclkbuf",
        # Half a cell of the array each, but for multiplexers of four and trees of five inputs, which take a whole one.
        luts={"CC_LUT*": 1, "CC_L2T4": 1, "CC_L2T5": 2, "CC_MX2": 1, "CC_MX4": 2, "CC_ADDF": 1},
        ffs={"CC_DFF": 1},
        brams={"CC_BRAM_20K": 1, "CC_BRAM_40K": 2},
        ram_label="map_bram",
        frame=("iopadmap -bits -inpad CC_IBUF Y:I -outpad CC_OBUF A:O A:top", "clkbufmap -buf CC_BUFG O:I"),
        router=("himbaechel-gatemate", "--device", "CCGM1A1", "--vopt", "allow-unconstrained"),
        capacity={"luts": 40960, "ffs": 40960, "brams": 64},
    ),
    Target(
        "xc7",
        "Xilinx 7 series",
        ESTIMATE,
        "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf",
        luts={
            "LUT[1-6]": 1,
            "INV": 1,
            **dict.fromkeys(("RAM32M", "RAM64M", "RAM128X1D", "RAM256X1S"), 4),
            **dict.fromkeys(("RAM32X1D", "RAM64X1D", "RAM128X1S"), 2),
            **dict.fromkeys(("RAM32X1S", "RAM64X1S", "SRL*"), 1),
        },
        ffs={"FD[RSCP]E": 1},
        # In halves: a block of 36 Kbit is two of 18.
        brams={"RAMB18E1": 1, "RAMB36E1": 2},
        lutrams={"RAM32*": 1, "RAM64*": 1, "RAM128*": 1, "RAM256*": 1},
        reads_at_once=True,
        ram_label="map_memory",
    ),
    Target(
        "cyclonev",
        "Intel Cyclone V",
        None,
        "synth_intel_alm -family cyclonev -noiopad -noclkbuf",
        luts={"MISTRAL_ALUT*": 1, "MISTRAL_NOT": 1, "MISTRAL_MLAB": 1},
        ffs={"MISTRAL_FF": 1},
        brams={"MISTRAL_M10K": 1},
        lutrams={"MISTRAL_MLAB": 1},  # of up to 32 words
        ram_label="map_bram",
        before_ram=_WITHOUT_START_VALUES,
    ),
    _intel("cycloneiv", "Cyclone IV GX"),
    _intel("max10", "MAX 10"),
)
TARGETS = {target.name: target for target in _ALL}


def find(name: str) -> Target:
    """The target of this name; the error names all there are.

    ``ecp5-85k@200`` is ``ecp5-85k``, but place and route is asked for 200 MHz: another goal than the target's own.
    """
    device, at, goal = name.partition("@")
    if device not in TARGETS:
        raise TargetError(f"there is no target {shown(device)}; there are {listed(TARGETS, device)}")
    target = TARGETS[device]
    if not at:
        return target
    if not target.router:
        raise TargetError(f"{device} is not placed and routed, so {name!r} asks for nothing: leave out @{goal}")
    if not (goal.isascii() and goal.isdigit() and int(goal)):
        raise TargetError(f"{name!r} must end in a clock in whole MHz, such as {device}@{target.goal_mhz}")
    return replace(target, name=f"{device}@{int(goal)}", goal_mhz=int(goal))
