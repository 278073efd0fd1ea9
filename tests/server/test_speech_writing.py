"""Speech into a sink."""

import io

import numpy as np
import pytest

from engine.audio import AudioForm, decode
from engine.speech_model import Spoken
from engine.words import Word
from server.speech_writing import write_speech

FORM = AudioForm("wav32")
SENTENCES = [
    Spoken(np.full((2400, 1), 0.25, np.float32), (Word("One", 0.0, 0.1),)),
    Spoken(np.full((4800, 1), 0.5, np.float32), (Word("Two", 0.1, 0.3),)),
]


def test_sentences_follow_each_other_and_each_is_told_once_it_is_there() -> None:
    sink, lengths = io.BytesIO(), list[int]()
    voiced = write_speech(SENTENCES, 24_000, FORM, sink, written=lambda: lengths.append(len(sink.getvalue())))
    samples, rate = decode(io.BytesIO(sink.getvalue()))
    assert (rate, voiced.seconds, [word.text for word in voiced.words]) == (24_000, 0.3, ["One", "Two"])
    assert samples[:, 0].tolist() == [0.25] * 2400 + [0.5] * 4800
    assert lengths[1] - lengths[0] == 4800 * 4


def test_it_ends_where_it_is_checked() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_speech(SENTENCES, 24_000, FORM, io.BytesIO(), stop)
