"""One network and one reader for all tests of the singer, and one song that several of them listen to."""

import pytest

from engine.sketch.voice import Singer, Sung, SungNetwork
from engine.speech.phonemes import Phonemiser
from tests.engine.sketch.voice.songs import SECONDS, SONG


@pytest.fixture(scope="session")
def network() -> SungNetwork:
    return SungNetwork()


@pytest.fixture(scope="session")
def phonemiser() -> Phonemiser:
    return Phonemiser()


@pytest.fixture(scope="session")
def singer(network: SungNetwork, phonemiser: Phonemiser) -> Singer:
    return Singer(network, phonemiser)


@pytest.fixture(scope="session")
def sung(singer: Singer) -> Sung:
    return singer.sing(SONG, SECONDS, seed=1)
