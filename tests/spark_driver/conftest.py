"""One Spark session for all tests in this process: it takes longer to start than most tests take."""

import pytest

from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import Simulator
from streamjoin.spark_driver.data_source import TupleSource
from streamjoin.spark_driver.session import spark_session
from tests.quick_spark import QUICK


@pytest.fixture(scope="session")
def spark():
    with spark_session("local[2]", QUICK) as session:
        session.dataSource.register(TupleSource)
        yield session


@pytest.fixture(scope="session")
def small():
    """A small simulator."""
    design = find("handshake")
    return Simulator.build(design, design.parameters(cores=2, window_r=8, window_s=4))
