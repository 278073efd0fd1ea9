"""One song for all that is measured of songs."""

import pytest

from bench.sound.singing import Track, tracked
from bench.sound.songs import Song, Studio


@pytest.fixture(scope="session")
def song() -> Song:
    """Two verses and two choruses of a rock song."""
    return Studio().song("rock", 0)


@pytest.fixture(scope="session")
def track(song: Song) -> Track:
    return tracked(song)
