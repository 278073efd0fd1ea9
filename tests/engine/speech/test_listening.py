"""What is said is understood by who listens, and heard when it is told."""

import io
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
import pytest

from engine.audio import AudioForm, Samples, encode
from engine.control import Uncontrolled
from engine.speech.network import SpeechNetwork
from engine.speech.pace import paced
from engine.speech.phonemes import Phonemiser
from engine.speech.pipeline import HibariSpeech
from engine.speech_request import SpeechRequest
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription_request import TranscriptionRequest
from engine.words import Word
from tests.engine.speech.passages import LISTENED

pytestmark = pytest.mark.runtime  # two minutes of speech take seconds to be listened to

MOST_ERRORS = 0.03
TYPICAL_SECONDS = 0.12


def letters(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def edits(said: Sequence[str], understood: Sequence[str]) -> int:
    """Words to be put in, left out or replaced to come from one to the other (Levenshtein)."""
    row = list(range(len(understood) + 1))
    for place, word in enumerate(said, start=1):
        before, row[0] = row[0], place
        for column, other in enumerate(understood, start=1):
            before, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, before + (word != other)),
            )
    return row[-1]


def starts(told: Sequence[Word], understood: Sequence[Word]) -> list[float]:
    """Seconds between the starts of words that both have."""
    ours, theirs = (["".join(letters(word.text)) for word in words] for words in (told, understood))
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    return [
        abs(told[block.a + step].start - understood[block.b + step].start)
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    ]


def test_three_hundred_words_are_understood(network: SpeechNetwork, phonemiser: Phonemiser) -> None:
    model = HibariSpeech(network, phonemiser)
    spoken = list(model.speak(SpeechRequest(text=LISTENED, seed=1), Uncontrolled()))
    samples = np.concatenate([piece.samples for piece in spoken])
    audio = io.BytesIO()
    encode(samples, model.sample_rate_hz, AudioForm("wav16"), audio)
    audio.seek(0)
    heard = WhisperTranscription().transcribe(audio, TranscriptionRequest(), Uncontrolled())
    said, understood = letters(LISTENED), letters(heard.text)
    assert len(said) > 300
    assert edits(said, understood) / len(said) <= MOST_ERRORS, heard.text
    told = [word for piece in spoken for word in piece.words]
    apart = starts(told, [word for segment in heard.segments for word in segment.words])
    assert len(apart) > 280
    assert np.median(apart) < TYPICAL_SECONDS


def test_edits_count_what_differs() -> None:
    assert edits(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]) == 2


PACES = {0.25: 0.05, 0.5: 0.03, 1.5: 0.05, 2.0: 0.1}
HURRIED = {3.0: 0.1, 4.0: 0.2}  # once it is slowed down again: nobody listens to ten words a second


def understood(samples: Samples, rate_hz: int) -> str:
    audio = io.BytesIO()
    encode(samples, rate_hz, AudioForm("wav16"), audio)
    audio.seek(0)
    return WhisperTranscription().transcribe(audio, TranscriptionRequest(), Uncontrolled()).text


@pytest.mark.parametrize(("speed", "most_errors"), [*PACES.items(), *HURRIED.items()])
def test_words_are_understood_at_every_pace(
    network: SpeechNetwork, phonemiser: Phonemiser, speed: float, most_errors: float
) -> None:
    model = HibariSpeech(network, phonemiser)
    text = "\n\n".join(LISTENED.strip().split("\n\n")[:3])
    spoken = model.speak(SpeechRequest(text=text, speed=speed, seed=1), Uncontrolled())
    samples = np.concatenate([piece.samples for piece in spoken])
    if speed in HURRIED:
        samples = paced(samples[:, 0], 1 / np.sqrt(speed)).sound[:, None]
    said = letters(text)
    assert len(said) > 100
    heard = understood(samples, model.sample_rate_hz)
    assert edits(said, letters(heard)) / len(said) <= most_errors, heard
