"""Random cases for whole designs: tuples, stalls, a reset in mid-stream; each can be written down and replayed.

:func:`hold_to_reference` is what the tests of a design call, wherever the design comes from.
"""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.errors import DesignError
from streamjoin.sim.benches import spread
from streamjoin.sim.run.model import Contents, Stalls
from streamjoin.sim.run.simulate import Simulation, Simulator


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One run of a design."""

    arrivals: Arrivals
    input_stalls: Stalls
    output_stalls: Stalls
    reset_at: int | None
    contents: Contents = "zeros"
    reset_cycles: int = 4

    def run(self, simulator: Simulator) -> Simulation:
        return simulator.run(
            self.arrivals,
            input_stalls=self.input_stalls,
            output_stalls=self.output_stalls,
            reset_at=self.reset_at,
            reset_cycles=self.reset_cycles,
            contents=self.contents,
        )

    def check(self, simulator: Simulator) -> Simulation:
        """Run it, and raise DesignError unless the results are exactly the reference's."""
        simulation = self.run(simulator)
        if not simulation.known_difference.design_is_right:
            raise DesignError(simulation.known_difference.describe())
        return simulation

    def failure(self, simulator: Simulator) -> str | None:
        """What is wrong with its outcome; ``None``: nothing is."""
        try:
            self.check(simulator)
        except Exception as error:  # a design can break its promises in many ways
            return str(error) or type(error).__name__
        return None

    def shrunk(self, fails: Callable[["Case"], bool]) -> "Case":
        """The same with as few tuples as can be found by leaving some out, and still failing."""
        case, length = self, len(self.arrivals) // 2
        while length:
            for first in reversed(range(0, len(case.arrivals), length)):
                rows = np.delete(np.arange(len(case.arrivals)), slice(first, first + length))
                smaller = dataclasses.replace(case, arrivals=case.arrivals[rows])
                case = smaller if fails(smaller) else case
            length //= 2
        return case

    def dump(self, path: Path, design: str, parameters: dict) -> None:
        """Write the case down; :func:`load` reads it back."""
        columns = {field.name: getattr(self.arrivals, field.name) for field in dataclasses.fields(Arrivals)}
        case = {
            "design": design,
            "parameters": parameters,
            "arrivals": {name: column.tolist() for name, column in columns.items() if column is not None},
            "input_stalls": dataclasses.asdict(self.input_stalls),
            "output_stalls": dataclasses.asdict(self.output_stalls),
            "reset_at": self.reset_at,
            "contents": self.contents,
            "reset_cycles": self.reset_cycles,
        }
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(case, indent=2) + "\n")


def load(path: Path) -> tuple[str, dict, Case]:
    """Design, parameters and case from a file that :meth:`Case.dump` wrote."""
    given = json.loads(path.read_text())
    return (
        given["design"],
        given["parameters"],
        Case(
            Arrivals(**given["arrivals"]),
            Stalls(**given["input_stalls"]),
            Stalls(**given["output_stalls"]),
            given["reset_at"],
            given["contents"],
            given["reset_cycles"],
        ),
    )


def hold_to_reference(simulator: Simulator, *, cases: int = 100, first: int = 0, size: int = 80) -> int:
    """Run random cases, of so many tuples each, and compare each with the reference; how many results came in all.

    Cases have numbers, and ``first`` is that of the first. DesignError names the one that is wrong, and says what is
    wrong with the fewest tuples of it that could be found.
    """
    results = 0
    for number in range(first, first + cases):
        case = random_case(Random(number), simulator.parameters, size)
        try:
            results += len(case.check(simulator).numbers)
        except Exception as error:
            fewest = case.shrunk(lambda smaller: smaller.failure(simulator) is not None)
            said = f"random case {number}, cut to {len(fewest.arrivals)} tuples: {fewest.failure(simulator)}"
            raise DesignError(said) from error
    return results


def random_case(random: Random, parameters: JoinParameters, size: int) -> Case:
    """A case of so many tuples."""
    tuples = random_arrivals(random, parameters, size)
    reset_at = random.choice((None, random.randrange(200)))
    contents = random.choice(("zeros", "ones", random.getrandbits(30)))
    reset_cycles = random.choice((1, 1, 2, 4, 9))
    return Case(tuples, random_stalls(random), random_stalls(random), reset_at, contents, reset_cycles)


def random_arrivals(random: Random, parameters: JoinParameters, size: int) -> Arrivals:
    """Tuples in bursts, or one by one, of all streams or of some more than others; keys and times are spread."""
    lengths = random.choice(((1,), (1, 1, 1, 2, 5, 16)))
    shares = [random.choice((1, 1, 1, 5)) for _ in parameters.streams]
    stream: list[int] = []
    while len(stream) < size:
        stream += random.choices(range(len(shares)), shares) * random.choice(lengths)
    keys = spread.keys(random, parameters.key_width, parameters.predicate)
    steps = random.choices(random.choice(((0, 0, 1, 1, 2, 9), (0, 0, 0, 1))), k=size)
    return Arrivals(
        stream=stream[:size],
        key=random.choices(keys, k=size),
        key2=random.choices(keys, k=size) if "key2" in parameters.predicate.fields else None,
        time=spread.times(random, steps, parameters.time_width) if parameters.spans is not None else None,
    )


def random_stalls(random: Random) -> Stalls:
    """None, random ones in bursts of any length, or a pattern."""
    pattern = [random.random() < 0.5 for _ in range(random.randint(0, 5))]
    at_random = Stalls(random.choice((0.1, 0.5, 0.9)), random.choice((1.0, 10.0, 1000.0)), seed=random.getrandbits(16))
    return random.choice((Stalls(), at_random, Stalls(pattern=(*pattern, False))))
