"""What a tuple costs in energy, as far as simulation knows: how many bits change for it.

Dynamic energy goes where nets change. The design is simulated flat, so that each net counts once; every change of a
bit counts the same, however long its wire would be, and glitches within a cycle are not seen. So the figures compare
designs of one kind with each other, and are no joules.
"""

import dataclasses
import tempfile
from pathlib import Path

import numpy as np

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.compare import compare
from streamjoin.reference.errors import DesignError
from streamjoin.reference.vectorised import window_join_array
from streamjoin.sim.run.model import Model
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.run.verilate import Library, build_library
from streamjoin.sim.tuples import numbering
from streamjoin.sim.tuples.workload import Workload
from streamjoin.sim.verilog.generate import Verilog
from streamjoin.synth.flow.flat import flatten, register_bits
from streamjoin.synth.flow.saif import read_saif

# The instance of the design in the simulation's top, and the net that is no data.
_INSTANCE, _CLOCK = "joined", "clk"


@dataclasses.dataclass(frozen=True)
class Activity:
    """Changes of bits for each tuple, with full windows and inputs that never pause.

    Attributes
    ----------
    registers
        Of registers.
    nets
        Of everything else: what operators give, and what stands in memories.
    cycles
        Clock cycles for each tuple.
    register_bits
        How many register bits the clock reaches in each of them; what the clock itself costs is not in the changes.
    """

    registers: float
    nets: float
    cycles: float
    register_bits: int

    @property
    def changes(self) -> float:
        return self.registers + self.nets


def switching_activity(
    design: Design, parameters: JoinParameters, *, tuples: int = 200, match_rate: float = 0.0, seed: int = 0
) -> Activity:
    """Simulate ``design`` and count, for ``tuples`` tuples after its windows have filled.

    Two runs are made, one longer by that many tuples: what lies between them is neither start nor drain. Keys are
    random and so are payloads; both runs are checked against the reference, DesignError if one differs.
    """
    flat = flatten(design_verilog(design, parameters))
    library = build_library(flat, waves="saif")
    registers = register_bits(flat)
    workload = Workload(
        streams=len(parameters.streams),
        seed=seed,
        match_rate=match_rate,
        predicate=parameters.predicate,
        key_width=parameters.key_width,
    )
    start = 2 * sum(parameters.windows)
    counts = []
    for length in (start, start + tuples):
        changes, cycles = _record(flat, library, parameters, workload.slice(0, length))
        of_registers = sum(count for net, count in changes.items() if net in registers)
        counts.append((of_registers, sum(changes.values()) - of_registers - changes[_CLOCK], cycles))
    in_registers, elsewhere, cycles = (np.subtract(*reversed(counts)) / tuples).tolist()
    return Activity(in_registers, elsewhere, cycles, sum(registers.values()))


def _record(flat: Verilog, library: Library, parameters: JoinParameters, arrivals: Arrivals):
    """One checked run: the changes of each net, and the cycles until the last tuple was taken."""
    fields = {name: getattr(arrivals, name) for name in parameters.layout.arrival.members if name != "payload"}
    fields["payload"] = numbering.payloads(np.arange(len(arrivals)), parameters.payload_width)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "activity.saif")
        with Model(library, flat.manifest, path) as model:
            run = model.run(fields, arrivals.stream, patience=parameters.patience)
        changes = read_saif(path, _INSTANCE)
    found = [
        numbering.numbers(run.result[f"payload_{stream.lower()}"], parameters.payload_width)
        for stream in parameters.streams
    ]
    found = np.column_stack(found)
    expected = window_join_array(arrivals, parameters.predicate, Windows(parameters.windows, parameters.spans))
    if not (difference := compare(expected, found)).exact:
        raise DesignError(f"the flat design gives another result than the reference: {difference.describe()}")
    return changes, int(run.accepted_cycle[-1])
