"""What a netlist does, as one number that no name inside it has part in: equal numbers, equal behaviour.

The emitted Verilog is flattened and read as a graph. Its nodes are bits where bits are independent of each other
(registers, multiplexers, bitwise logic: how they are grouped into words does not count), and otherwise cells, such as
an adder, with a node for each bit that they give; of a memory, what it keeps is a node, and each read port is. A node
has a label (kind, parameters, start value; for an input its port and bit) and an ordered list of the nodes that it
reads. All bits that nothing drives have one label.

Nodes are told apart until that changes nothing any more: at first by their labels, then in each round by what they
read. The classes that remain are a bisimulation: two nodes of one class have the same label, and what they read is, in
the same order, of the same classes. That is checked for every node, so it does not rest on hashes. Nodes of one class
hence carry the same value in every cycle, whatever comes in. Then the classes are numbered in the order in which they
are found from the output ports back, and the list of them, each with its label and the numbers of what it reads, is the
normal form of the netlist: that of two netlists is the same exactly if their ports are, and a bisimulation between the
two joins the bits that drive each output. So they behave the same from the same start; memories without start contents
count as having the same. ``behaviour`` is the SHA-256 of the normal form, cut to 128 bits.

``structure`` covers, besides, how many nodes each class has, the labels of nodes that reach no output, and how many
bits and cells carry each mark for synthesis (``dont_merge``, ``ramstyle``, ...): equal, nothing was added, doubled or
left out. Of two operands the order counts: ``a & b`` and ``b & a`` differ here.
"""

import hashlib
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyosys import libyosys

# Processes become multiplexers and registers, hierarchy goes, memories become cells; nothing is optimised but constants
# within an expression, and what drives nothing.
_PASSES = (
    "hierarchy -check -top {top}",
    "proc -norom",
    "setattr -mod -unset keep_hierarchy *",
    "flatten",
    "memory_collect",
    "opt_clean",
    "delete t:$scopeinfo",
)
# Names, and what Yosys notes for itself; other attributes are marks.
_NO_MARKS = {"src", "init", "hdlname", "full_case", "parallel_case", "unused_bits", "top", "keep_hierarchy"}
_NAMES = {"MEMID"}
_CONSTANTS = ("0", "1", "x", "z")
_UNDRIVEN = "undriven"
_LOGIC = {"$not": "A", "$and": "AB", "$or": "AB", "$xor": "AB", "$xnor": "AB"}
# What keeps its output from cycle to cycle, by the beginnings of its kinds: where rounds begin and end.
_KEEPING = ("$dff", "$adff", "$sdff", "$aldff", "$dlatch", "$sr")
# Whether a round told more nodes apart is looked at so often.
_ROUNDS = 8


@dataclass(frozen=True)
class Fingerprint:
    """Of one netlist; ``counts`` are nodes by kind, and bits and cells by mark."""

    behaviour: str
    structure: str
    counts: dict[str, int]


def fingerprint(verilog: str, top: str) -> Fingerprint:
    """The fingerprint of the module ``top``; the text holds all others that it needs."""
    graph = _Graph(_flat(verilog, top))
    classes = _Classes.of(graph)
    roots = np.array([node for port in graph.outputs.values() for node in port], int)
    order = classes.found_from(roots)
    rank = np.full(len(classes.first), -1)
    rank[order] = np.arange(len(order))

    kinds = [graph.labels[label] for label in graph.label[classes.first[order]]]
    reads = [rank[read] for read in (classes.read_by(order), classes.of_node[roots])]
    behaviour = _digest(graph.ports, kinds, graph.fan_in[classes.first[order]], *reads)

    reaching = rank[classes.of_node] >= 0
    others = Counter(graph.labels[label] for label in graph.label[~reaching & graph.in_a_cell])
    sizes = np.bincount(rank[classes.of_node[reaching]], minlength=len(order))
    structure = _digest(behaviour, sizes, sorted(others.items()), sorted(graph.marks.items()))
    return Fingerprint(behaviour, structure, dict(sorted((graph.kinds + graph.marks).items())))


def _digest(*parts: object) -> str:
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.astype("<i8").tobytes() if isinstance(part, np.ndarray) else json.dumps(part).encode())
        sha.update(b"\n")
    return sha.hexdigest()[:32]


def _flat(verilog: str, top: str) -> dict:
    """The design as one module, in the form of Yosys' JSON."""
    with tempfile.TemporaryDirectory() as folder:
        source, flat = Path(folder, "design.v"), Path(folder, "flat.json")
        source.write_text(verilog)
        design = libyosys.Design()
        for command in (f'read_verilog "{source}"', *_PASSES, f'write_json "{flat}"'):
            design.run_pass(f"tee -q {command.format(top=top)}")
        return json.loads(flat.read_text())["modules"][top]


class _Graph:
    """The nodes of a flat module.

    Attributes
    ----------
    labels : the distinct labels
    label, fan_in, keeping, in_a_cell : for each node the index of its label, how many nodes it reads, whether it keeps
        anything from cycle to cycle, and whether it is more than an input or a constant
    reads : the nodes that are read by the first node, then those by the second, and so on
    begin : where in it each node's begin
    ports : name, direction and width of each port
    outputs : for each output port the nodes that drive it
    kinds, marks : how many nodes of each kind there are, and how many bits and cells with each mark
    """

    def __init__(self, module: dict):
        self.labels: list[str] = []
        self.kinds: Counter[str] = Counter()
        self._label_of: dict[str, int] = {}
        self._label: list[int] = []
        self._keeping: list[bool] = []
        self._reads: list[list] = []
        self._node_of: dict[int | str, int] = {}
        self._start = _start_values(module)

        for bit in (*_CONSTANTS, _UNDRIVEN):
            self._node_of[bit] = self._add(bit)
        ports = sorted(module["ports"].items())
        for name, port in ports:
            if port["direction"] == "inout":
                raise ValueError(f"port {name} goes both ways: give each direction a port of its own")
            if port["direction"] == "input":
                for number, bit in enumerate(port["bits"]):
                    self._node_of[bit] = self._add(f"input {name} {number}")
        self._outside = len(self._label)
        for cell in module["cells"].values():
            self._add_cell(cell)

        undriven = self._node_of[_UNDRIVEN]
        self.label = np.array(self._label)
        self.keeping = np.array(self._keeping)
        self.in_a_cell = np.arange(len(self.label)) >= self._outside
        self.fan_in = np.fromiter(map(len, self._reads), int, len(self._reads))
        self.reads = np.array([self._node_of.get(bit, undriven) for bits in self._reads for bit in bits], int)
        self.begin = np.cumsum(self.fan_in) - self.fan_in
        self.ports = [(name, port["direction"], len(port["bits"])) for name, port in ports]
        self.outputs = {
            name: [self._node_of.get(bit, undriven) for bit in port["bits"]]
            for name, port in ports
            if port["direction"] == "output"
        }
        self.marks = _marks(module)

    def _add(self, label: str, reads: Iterable = (), *, keeping: bool = False) -> int:
        """A new node; it reads bits, by their numbers in the module."""
        self._label.append(self._label_of.setdefault(label, len(self._label_of)))
        if len(self._label_of) > len(self.labels):
            self.labels.append(label)
        self._reads.append(list(reads))
        self._keeping.append(keeping)
        return len(self._label) - 1

    def _add_cell(self, cell: dict) -> None:
        kind, wires = cell["type"], cell["connections"]
        given = {name: value for name, value in cell["parameters"].items() if name not in _NAMES}
        bits = list(_bits(kind, given, wires))
        self.kinds[kind] += len(bits) or 1
        outputs = [port for port, direction in cell["port_directions"].items() if direction == "output"]
        if bits:
            keeping, settings = kind == "$dff", given.get("CLK_POLARITY", "")
            for bit, reads in zip(wires[outputs[0]], bits, strict=True):
                label = f"{kind} {settings} {self._start.get(bit, 'x')}" if keeping else kind
                self._node_of[bit] = self._add(label, reads, keeping=keeping)
        elif kind == "$mem_v2":
            self._add_memory(given, wires)
        else:
            inputs = {port: bits for port, bits in wires.items() if port not in outputs}
            whole = self._add_whole(kind, given, inputs, keeping=kind.startswith(_KEEPING))
            for port in outputs:
                self._add_outputs(f"{kind} {port}", whole, wires[port])

    def _add_memory(self, given: dict[str, str], wires: dict[str, list]) -> None:
        """What is kept is a node, and each read port is: their order does not count."""
        shared = {name: value for name, value in given.items() if not name.startswith("RD_")}
        kept = self._add_whole("$mem_v2", shared, {p: w for p, w in wires.items() if p.startswith("WR_")}, keeping=True)
        ports = int(given["RD_PORTS"], 2)
        for n in range(ports):
            own = {name: _share(value[::-1], n, ports) for name, value in given.items() if name not in shared}
            del own["RD_PORTS"]
            inputs = {port: _share(bits, n, ports) for port, bits in wires.items() if port.startswith("RD_")}
            data = inputs.pop("RD_DATA")
            clocked = own["RD_CLK_ENABLE"] == "1"
            read = self._add_whole("$mem_v2 read", own, {"": [kept], **inputs}, keeping=clocked)
            self._add_outputs("$mem_v2 data", read, data)

    def _add_whole(self, kind: str, given: dict[str, str], inputs: dict[str, list], *, keeping: bool) -> str:
        """A node that reads all bits of these ports; what it goes by where others read it."""
        name = f"whole {len(self._reads)}"  # no wire of the module is called so
        ports = sorted(inputs)
        sizes = [(port, len(inputs[port])) for port in ports]
        label = f"{kind} {json.dumps([given, sizes], sort_keys=True)}"
        self._node_of[name] = self._add(label, (bit for port in ports for bit in inputs[port]), keeping=keeping)
        return name

    def _add_outputs(self, kind: str, whole: str, bits: list) -> None:
        for number, bit in enumerate(bits):
            self._node_of[bit] = self._add(f"{kind} {number} {self._start.get(bit, 'x')}", [whole])


def _share(whole: list | str, number: int, ports: int) -> list | str:
    """What one of several ports has of what is said for all of them, one after the other."""
    size = len(whole) // ports
    return whole[number * size : (number + 1) * size]


def _bits(kind: str, given: dict[str, str], wires: dict[str, list]) -> Iterator[Iterable]:
    """For each output bit of a cell what it reads, if each depends on its own bits alone; otherwise nothing."""
    if kind in _LOGIC:
        width = len(wires["Y"])
        signed = all(int(given[f"{port}_SIGNED"], 2) for port in _LOGIC[kind])
        yield from zip(*(_extended(wires[port], width, signed) for port in _LOGIC[kind]), strict=True)
    elif kind == "$mux":
        yield from ((a, b, *wires["S"]) for a, b in zip(wires["A"], wires["B"], strict=True))
    elif kind == "$pmux":
        width = len(wires["A"])
        yield from ((a, *wires["B"][n::width], *wires["S"]) for n, a in enumerate(wires["A"]))
    elif kind == "$dff":
        yield from ((d, *wires["CLK"]) for d in wires["D"])


def _extended(bits: list, width: int, signed: bool) -> list:
    return (bits + [bits[-1] if signed else "0"] * width)[:width]


def _start_values(module: dict) -> dict[int, str]:
    """The start value of each bit that has one."""
    start = {}
    for net in module["netnames"].values():
        value = net["attributes"].get("init", "")
        start |= {bit: digit for bit, digit in zip(net["bits"], reversed(value), strict=False) if digit in "01"}
    return start


def _marks(module: dict) -> Counter[str]:
    """How many bits, and how many cells, carry each attribute; a bit of several names counts once."""
    bits = defaultdict(set)
    for net in module["netnames"].values():
        for mark in net["attributes"].keys() - _NO_MARKS:
            bits[f"{mark}={net['attributes'][mark]}"].update(net["bits"])
    marks = Counter({mark: len(marked) for mark, marked in bits.items()})
    for cell in module["cells"].values():
        marks.update(f"{mark}={cell['attributes'][mark]}" for mark in cell["attributes"].keys() - _NO_MARKS)
    return Counter({mark.replace("=" + "0" * 31, "="): number for mark, number in marks.items()})


@dataclass(frozen=True)
class _Classes:
    """The coarsest bisimulation of a graph: the class of each node, and the first node of each class."""

    graph: _Graph
    of_node: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, graph: _Graph) -> "_Classes":
        colour = _refined(graph)
        _, first, of_node = np.unique(colour, return_index=True, return_inverse=True)
        classes = cls(graph, of_node, first)
        alike = first[of_node]  # for each node the one that stands for its class
        same = np.array_equal(graph.label, graph.label[alike]) and np.array_equal(graph.fan_in, graph.fan_in[alike])
        if not same or not np.array_equal(of_node[graph.reads], classes.read_by(of_node)):
            raise RuntimeError("two nodes of a class differ, so hashes collided: choose other constants in _mix")
        return classes

    def read_by(self, classes: np.ndarray) -> np.ndarray:
        """The classes that these read, one after the other."""
        return self.of_node[self.graph.reads[_spans(self.graph.begin, self.graph.fan_in, self.first[classes])]]

    def found_from(self, roots: np.ndarray) -> np.ndarray:
        """The classes that nodes depend on, theirs first, in the order in which they are met."""
        known = np.zeros(len(self.first), bool)
        found, ahead = [], self.of_node[roots]
        while len(ahead):
            _, once = np.unique(ahead, return_index=True)
            ahead = ahead[np.sort(once)]
            ahead = ahead[~known[ahead]]
            known[ahead] = True
            found.append(ahead)
            ahead = self.read_by(ahead)
        return np.concatenate(found) if found else np.zeros(0, int)


def _spans(begin: np.ndarray, length: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The indices of some of the spans that a list is made of, one span after the other."""
    counts = length[chosen]
    return np.repeat(begin[chosen] - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())


class _Step:
    """Colours of some nodes from those of what they read: all of them read something."""

    def __init__(self, graph: _Graph, nodes: np.ndarray):
        counts = graph.fan_in[nodes]
        self.nodes, self.reads = nodes, graph.reads[_spans(graph.begin, graph.fan_in, nodes)]
        self.begin = np.cumsum(counts) - counts
        # Odd factors, one for each place in the list: what is read counts in its order.
        place = np.arange(len(self.reads)) - np.repeat(self.begin, counts)
        self.factor = _mix(place) | np.uint64(1)
        self.label = _mix(graph.label[nodes])

    def apply(self, colour: np.ndarray) -> None:
        read = np.add.reduceat(colour[self.reads] * self.factor, self.begin)
        colour[self.nodes] = _mix(read + self.label)


def _refined(graph: _Graph) -> np.ndarray:
    """A colour for each node: the same for two nodes exactly if no number of rounds tells them apart.

    In a round, colours go from what is kept through all logic, level by level, and then into what is kept. A round
    never forgets a difference, so once the number of colours of what is kept has not grown, it never will.
    """
    levels, kept = _levels(graph)
    colour = _mix(graph.label)
    logic, keep = [_Step(graph, nodes) for nodes in levels], _Step(graph, kept)
    told_apart, before = 1, 0
    while told_apart > before:
        for _ in range(_ROUNDS):
            for step in logic:
                step.apply(colour)
            if len(kept):
                keep.apply(colour)
        told_apart, before = len(np.unique(colour[kept])), told_apart
    for step in logic:
        step.apply(colour)
    return colour


def _levels(graph: _Graph) -> tuple[list[np.ndarray], np.ndarray]:
    """Nodes of logic, such that each level reads earlier ones alone; and all that keeps anything or reads itself."""
    number = len(graph.label)
    readers = np.repeat(np.arange(number), graph.fan_in)
    order = np.argsort(graph.reads, kind="stable")
    read_by, uses = readers[order], np.bincount(graph.reads, minlength=number)
    begin = np.cumsum(uses) - uses
    known = graph.keeping | (graph.fan_in == 0)
    waits_for = np.bincount(readers[~known[graph.reads]], minlength=number)
    levels, level = [], np.flatnonzero(~known & (waits_for == 0))
    while len(level):
        levels.append(level)
        known[level] = True
        ahead = read_by[_spans(begin, uses, level)]
        np.subtract.at(waits_for, ahead, 1)
        level = np.unique(ahead)
        level = level[(waits_for[level] == 0) & ~known[level]]
    return levels, np.flatnonzero(~known | graph.keeping)


def _mix(numbers: np.ndarray) -> np.ndarray:
    """64 bits that all depend on all bits of a number: the finaliser of splitmix64."""
    x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
