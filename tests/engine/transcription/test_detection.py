"""Models of many languages: which one is spoken, and what they are asked for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.control import Uncontrolled
from engine.transcription import device, pipeline
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription.tokens import TokenText
from engine.transcription.whisper import BEAM, Attempt, Encoded, Whisper
from engine.transcription_model import Transcript
from engine.transcription_request import TranscriptionRequest
from tests.engine.transcription.folders import folder
from tests.engine.transcription.spoken import Loud, Recording, speech_by_turns, wav


class Polyglot(Whisper):
    """Hears the languages it is told to, window by window; owner of the prompts it was sent."""

    def __init__(self, text: TokenText, heard: Sequence[dict[str, float]]) -> None:
        self.text = text
        self.told = list(heard)
        self.prompts: list[list[int]] = []
        self.likely = -0.2

    def begin(self) -> None:
        pass

    def heard(self, samples: NDArray[np.float32]) -> Encoded:
        return Encoded(None, len(samples) // 160)

    def languages(self, encoded: Encoded) -> dict[str, float]:
        return self.told.pop(0)

    def attempt(
        self, encoded: Encoded, prompt: list[int], temperature: float, no_repeat: int = 0, beam: int = BEAM
    ) -> Attempt:
        self.prompts.append(prompt)
        return Attempt(tuple(self.text.encode("Ja.")), 0.0, self.likely, 0.1)

    def pairs(self, encoded: Encoded, opening: list[int], tokens: Sequence[int]) -> list[tuple[int, int]]:
        return [(0, 0)]


class Listen(Protocol):
    """Has a model write down a recording."""

    def __call__(self, whisper: Polyglot, sound: Recording, **options: str) -> Transcript: ...


@pytest.fixture
def listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Listen:
    model = WhisperTranscription(folder(tmp_path / "base"), device="cpu")
    monkeypatch.setattr(pipeline, "SpeechDetector", Loud)

    def run(whisper: Polyglot, sound: Recording, **options: str) -> Transcript:
        monkeypatch.setattr(device, "Whisper", lambda *arguments: whisper)
        return model.transcribe(sound.file(), TranscriptionRequest.model_validate(options), Uncontrolled())

    return run


def opening(text: TokenText, language: str, task: str = "transcribe") -> list[int]:
    return [text.start, text.special(f"<|{language}|>"), text.special(f"<|{task}|>")]


def test_a_language_that_is_sure_needs_one_window(listen: Listen, text: TokenText) -> None:
    whisper = Polyglot(text, [{"de": 0.9, "en": 0.1}])
    transcript = listen(whisper, speech_by_turns(3))
    assert (transcript.language, transcript.language_probability) == ("de", 0.9)
    assert [prompt[-3:] for prompt in whisper.prompts] == [opening(text, "de")] * 3


def test_else_the_mean_of_three_windows_decides(listen: Listen, text: TokenText) -> None:
    windows = [{"en": 0.6, "de": 0.4}, {"en": 0.1, "de": 0.5}, {"en": 0.2, "de": 0.6}]
    transcript = listen(Polyglot(text, windows), speech_by_turns(3))
    assert transcript.language == "de"
    assert transcript.language_probability == pytest.approx(0.5)


def test_no_more_than_three_windows_are_asked(listen: Listen, text: TokenText) -> None:
    whisper = Polyglot(text, [{"en": 0.4, "de": 0.6}] * 4)
    assert listen(whisper, speech_by_turns(4)).language == "de"
    assert len(whisper.told) == 1


def test_a_language_that_is_told_is_not_looked_for(listen: Listen, text: TokenText) -> None:
    whisper = Polyglot(text, [])
    assert listen(whisper, speech_by_turns(3), language="German", task="translate").language == "de"
    assert whisper.prompts[0] == opening(text, "de", "translate")


def test_silence_has_no_language(listen: Listen, text: TokenText) -> None:
    transcript = listen(Polyglot(text, []), Recording(wav(np.zeros(16_000, np.float32)), (), ()))
    assert (transcript.text, transcript.language_probability) == ("", 0.0)


def test_music_has_no_language(listen: Listen, text: TokenText) -> None:
    whisper = Polyglot(text, [{"la": 0.9}])
    whisper.likely = -1.3
    transcript = listen(whisper, Recording(wav(np.full(160_000, 0.2, np.float32)), (), ()))
    assert (transcript.text, transcript.language, transcript.language_probability) == ("", "en", 0.0)


def test_a_model_of_many_languages_describes_itself(tmp_path: Path) -> None:
    told = WhisperTranscription(folder(tmp_path / "base"), device="cpu").describe()
    assert told["id"] == "whisper-base"
    assert told["languages"] == ["en", "de"]
    assert told["language_names"] == {"en": "english", "de": "german"}
    assert told["tasks"] == ["transcribe", "translate"]
