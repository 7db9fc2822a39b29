"""What the soak draws can be built."""

import dataclasses
import random

import pytest

from streamjoin.hdl.registry import DESIGNS, find
from tests.soak import LOSSY, draw_parameters


@pytest.mark.parametrize("design", DESIGNS)
def test_every_parameter_is_drawn_and_every_draw_is_accepted(design):
    kind = find(design).parameters_type
    draws = [kind.parse(draw_parameters(design, random.Random(number))) for number in range(200)]
    for name in {field.name for field in dataclasses.fields(kind)} - {*LOSSY}:
        assert len({getattr(draw, name) for draw in draws}) > 1, f"{name} is always the same"
