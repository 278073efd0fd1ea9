"""What is opened once: hibari's reading of words and its network; and installed files that are not what they were."""

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

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
    return SpeechNetwork()


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Puts a file in place of an installed one, by its path, that differs in its last byte."""
    installed = metadata.distribution

    def put(changed: str) -> None:
        class Distribution:
            def __init__(self, name: str) -> None:
                self._real = installed(name)

            def locate_file(self, path: str) -> Path:
                real = Path(str(self._real.locate_file(path)))
                if path != changed:
                    return real
                octets = bytearray(real.read_bytes())
                octets[-1] ^= 1
                other = tmp_path / real.name
                other.write_bytes(octets)
                return other

        monkeypatch.setattr(metadata, "distribution", Distribution)

    return put
