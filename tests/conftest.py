"""Profiles, of which STREAMJOIN_PROFILE chooses one.

``ci`` gives the same random cases every time, ``quick`` fewer of them and the quick tier of tests, ``soak`` new ones.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.quick_tier import QuickTier

_PROFILE = os.environ.get("STREAMJOIN_PROFILE", "ci")

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, print_blob=True)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=8)
settings.register_profile(
    "soak",
    deadline=None,
    max_examples=1000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(_PROFILE)


def pytest_configure(config: pytest.Config) -> None:
    if _PROFILE == "quick":
        config.pluginmanager.register(QuickTier())
