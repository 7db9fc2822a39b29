"""Parameters of merging trees and control trees."""

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.lib.merger import LEAST_QUEUE


def check_trees(*, merger_queue: int, fan: int) -> None:
    """ParameterError where no merging tree, or no control tree, can be made of these."""
    if merger_queue < LEAST_QUEUE:
        raise ParameterError(f"merger_queue must be at least {LEAST_QUEUE}, not {merger_queue}")
    if fan < 2:
        raise ParameterError(f"fan must be at least 2, not {fan}")
