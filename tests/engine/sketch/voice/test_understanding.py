"""What is sung alone is understood by who listens."""

import io
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.control import Uncontrolled
from engine.score import timeline
from engine.sketch.compose import compose
from engine.sketch.notes import RATE_HZ
from engine.sketch.voice import Singer
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription_request import TranscriptionRequest
from tests.engine.sketch.voice.lyrics import LYRICS

pytestmark = pytest.mark.runtime  # minutes of singing take seconds to be listened to

MEAN_SHARE, LEAST_SHARE = 0.85, 0.6  # of the words; 94 % and 82 % were measured


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def understood(sung: Sequence[str], heard: Sequence[str]) -> float:
    """The share of words that need no edit (1 - word error rate, at least 0)."""
    row = list(range(len(heard) + 1))
    for place, word in enumerate(sung, start=1):
        above, row = row, [place]
        for (left, over), other in zip(pairwise(above), heard, strict=True):
            row.append(min(row[-1] + 1, over + 1, left + (word != other)))
    return max(1 - row[-1] / len(sung), 0.0)


def test_most_words_are_understood_whatever_is_sung_and_how(singer: Singer) -> None:
    listener, shares = WhisperTranscription(threads=1), {}
    for style, lyrics in LYRICS.items():
        song = timeline(compose(style, f"[Verse]\n{lyrics}", 5, 120))
        notes = [note for note in song.notes if note.voice == "Vocal" and note.lyric]
        sung = singer.sing(notes, song.duration + 1, seed=5)
        assert words(" ".join(word.text for word in sung.words)) == words(lyrics)
        stereo = np.repeat(sung.samples[:, None], 2, axis=1)
        recording = io.BytesIO()
        encode(stereo * 0.8, RATE_HZ, AudioForm("wav16"), recording)
        recording.seek(0)
        heard = listener.transcribe(recording, TranscriptionRequest(), Uncontrolled())
        shares[style] = understood(words(lyrics), words(heard.text))
    assert np.mean(list(shares.values())) >= MEAN_SHARE, shares
    assert min(shares.values()) >= LEAST_SHARE, shares
