"""One sampler for all tests of the sketch: its caches make the later ones quick."""

import pytest

from engine.sketch.sampler import Sampler


@pytest.fixture(scope="session")
def sampler() -> Sampler:
    return Sampler()
