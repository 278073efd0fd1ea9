"""One sampler for all tests of the sketch: its caches make the later ones quick."""

import pytest

from engine.sketch.sampler import Sampler
from engine.sketch.waves import WavePool


@pytest.fixture(scope="session")
def sampler() -> Sampler:
    return Sampler()


@pytest.fixture(scope="session")
def pool(sampler: Sampler) -> WavePool:
    """The sampler's own waves, so that what one test has decoded and measured another need not."""
    return sampler._pool
