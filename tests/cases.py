"""Random cases for whole designs: tuples, stalls, a reset in mid-stream; each can be written down and replayed."""

import dataclasses
import json
from pathlib import Path

from hypothesis import strategies as st

from streamjoin.hdl.parameters import JoinParameters
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.model import Stalls
from streamjoin.sim.simulate import Simulation, Simulator
from tests.strategies import KEYS, arrivals


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One run of a design."""

    arrivals: Arrivals
    input_stalls: Stalls
    output_stalls: Stalls
    reset_at: int | None

    def run(self, simulator: Simulator) -> Simulation:
        return simulator.run(
            self.arrivals,
            input_stalls=self.input_stalls,
            output_stalls=self.output_stalls,
            reset_at=self.reset_at,
        )

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
        ),
    )


STALLS = st.one_of(
    st.just(Stalls()),
    st.builds(
        Stalls,
        probability=st.sampled_from((0.1, 0.5, 0.9)),
        burst=st.sampled_from((1.0, 10.0, 1000.0)),
        seed=st.integers(0, 2**16),
    ),
    st.lists(st.booleans(), min_size=1, max_size=6)
    .filter(lambda pattern: not all(pattern))
    .map(lambda pattern: Stalls(pattern=tuple(pattern))),
)


def cases(parameters: JoinParameters, max_size: int = 80) -> st.SearchStrategy[Case]:
    """Cases that fit these parameters; keys are few, so that most cases have matches, or all the same."""
    limit = 1 << parameters.key_width
    keys = tuple(key for key in (*KEYS, limit - 1, limit - 2) if key < limit)
    tuples = st.sampled_from((keys, keys[:1], keys[-1:], keys[:3])).flatmap(
        lambda some: arrivals(
            len(parameters.streams),
            max_size=max_size,
            keys=some,
            two_keys="key2" in parameters.predicate.fields,
            timed=parameters.spans is not None,
        )
    )
    return st.builds(Case, tuples, STALLS, STALLS, st.none() | st.integers(0, 200))
