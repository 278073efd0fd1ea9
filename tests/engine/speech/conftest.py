"""What is opened once: hibari's reading of words and its network."""

import pytest

from engine.speech.network import SpeechNetwork
from engine.speech.phonemes import Phonemiser


@pytest.fixture(scope="session")
def phonemiser() -> Phonemiser:
    """American English."""
    return Phonemiser()


@pytest.fixture(scope="session")
def network() -> SpeechNetwork:
    """On one thread."""
    return SpeechNetwork(threads=1)
