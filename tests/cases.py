"""Random cases for whole designs, as Hypothesis draws them."""

import dataclasses
from random import Random

from hypothesis import strategies as st

from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.sim.run.random_cases import Case, random_case


def cases(parameters: JoinParameters, max_size: int = 80) -> st.SearchStrategy[Case]:
    """Cases that fit these parameters, half of them as long as they may be.

    Each is drawn as a whole from a number: drawn tuple by tuple, two of three would be copies of others with a change
    or two. They shrink to their first tuples; :meth:`Case.shrunk` leaves out others as well.
    """

    def cut(size: int, seed: int) -> Case:
        case = random_case(Random(seed), parameters, max_size)
        return dataclasses.replace(case, arrivals=case.arrivals[:size])

    return st.builds(cut, st.sampled_from([*range(max_size), *[max_size] * max_size]), st.integers(0, 2**32 - 1))
