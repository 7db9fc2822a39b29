"""Hypothesis profiles: ``ci`` gives the same cases every time, ``soak`` new ones; STREAMJOIN_PROFILE chooses."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, print_blob=True)
settings.register_profile(
    "soak",
    deadline=None,
    max_examples=1000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("STREAMJOIN_PROFILE", "ci"))
