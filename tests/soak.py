"""``make soak``: new parameter sets and new cases for as long as one lets it.

Each round draws a design and its parameters, builds it, and lets Hypothesis look for a case in which the result is
not exactly the reference's. What it finds, it shrinks and writes to soak-failures; `--replay FILE` runs it again.
"""

import argparse
import dataclasses
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from tqdm import tqdm

from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.hdl.registry import DESIGNS, find
from streamjoin.sim.run.random_cases import load
from streamjoin.sim.run.simulate import Simulator
from tests.cases import cases
from tests.strategies import SPECS, SPECS2

FAILURES = Path("soak-failures")


#: Draws after which a design that has refused all of them is given up.
ATTEMPTS = 1000


def drawn(design: str, rng: random.Random) -> JoinParameters:
    """Parameters that the design accepts; those of this package do so at once."""
    for _ in range(ATTEMPTS):
        try:
            return find(design).parameters(**draw_parameters(design, rng))
        except ParameterError as error:
            refusal = error
    raise refusal


def draw_parameters(design: str, rng: random.Random) -> dict:
    """Parameters of which all values are likely, and which go together."""
    kind = find(design).parameters_type
    drawn = {field.name: _draw(field, rng) for field in kind.fields() if field.name != "predicate"}
    return kind.reconciled(drawn | {"predicate": rng.choice(SPECS + SPECS2)})


def _draw(field: dataclasses.Field, rng: random.Random) -> object:
    """A choice, or one of the samples; what has neither is of a design from outside that leaves it to us."""
    some = field.metadata.get("choices") or field.metadata.get("samples")
    if not some:
        return _unknown(field)(rng)
    value = rng.choice(some)
    return rng.choice(value) if isinstance(value, range) else value


def _unknown(field: dataclasses.Field) -> Callable[[random.Random], object]:
    """How to draw what a design from outside calls as it likes: a small number, now and then none where that may be."""
    if field.type is int:
        return lambda rng: rng.choice((1, 2, rng.randint(1, 16)))
    if field.type == int | None:
        return lambda rng: rng.choice((None, 1, rng.randint(2, 16)))
    return lambda _: field.default


def soak_round(number: int, designs: list[str], examples: int) -> Path | None:
    """One of the designs and many cases; the path of the failing case if there is one."""
    rng = random.Random(number)
    design = rng.choice(designs)
    parameters = drawn(design, rng)
    simulator = Simulator.build(find(design), parameters)
    failing = None

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(parameters, max_size=300))
    def exact(case):
        nonlocal failing
        try:
            case.check(simulator)
        except Exception:
            failing = case
            raise

    try:
        exact()
    except Exception as error:
        if failing is None:
            raise
        path = FAILURES / f"{find(design).name}-{number}.json"
        smaller = failing.shrunk(lambda case: case.failure(simulator) is not None)
        smaller.dump(path, design, parameters.as_dict())
        print(f"\nround {number}, {design}: {error}\n  written to {path}", file=sys.stderr)
        return path
    return None


def replay(path: Path) -> int:
    """Run a failing case again; the status says whether it still fails."""
    design, parameters, case = load(path)
    simulator = Simulator.build(find(design), find(design).parameters(**parameters))
    failure = case.failure(simulator)
    print(failure or "exact")
    return 1 if failure else 0


def named(design: str) -> str:
    """A design's name, or ``module:NAME``, as an argument."""
    try:
        find(design)
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return design


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--first", type=int, default=int(time.time()), help="number of the first round (default: now)")
    parser.add_argument("--designs", nargs="+", type=named, default=list(DESIGNS), help="which (default: all built-in)")
    parser.add_argument("--rounds", type=int, help="how many rounds (default: without end)")
    parser.add_argument("--examples", type=int, default=200, help="cases a round")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run a case that was written down")
    arguments = parser.parse_args()
    if arguments.replay:
        return replay(arguments.replay)
    with tempfile.TemporaryDirectory() as folder:  # a model for each round would fill the user's own cache
        os.environ["STREAMJOIN_CACHE"] = folder
        return soak(arguments.first, arguments.rounds, arguments.designs, arguments.examples)


def soak(first: int, rounds: int | None, designs: list[str], examples: int) -> int:
    """Round after round until the last or until interrupted; the status says whether all were exact."""
    numbers = itertools.count(first)
    if rounds is not None:
        numbers = itertools.islice(numbers, rounds)
    done = failures = 0
    try:
        with tqdm(numbers, total=rounds, unit=" rounds", disable=None) as bar:
            for number in bar:
                failures += soak_round(number, designs, examples) is not None
                done += 1
                bar.set_postfix(failures=failures)
    except KeyboardInterrupt:
        pass
    print(f"{failures} of {done} rounds failed, from number {first} on")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
