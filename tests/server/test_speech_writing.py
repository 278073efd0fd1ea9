"""Speech into a sink."""

import io
from itertools import pairwise

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


def test_a_long_sentence_can_be_heard_before_all_of_it_is_encoded() -> None:
    sink, lengths = io.BytesIO(), list[int]()
    spoken = [Spoken(np.full((30_000, 1), 0.25, np.float32), ())]
    write_speech(spoken, 24_000, FORM, sink, written=lambda: lengths.append(len(sink.getvalue())))
    assert [later - earlier for earlier, later in pairwise(lengths)] == [12_000 * 4, 6_000 * 4]


@pytest.mark.parametrize(
    ("codec", "seconds", "times"),
    [("wav16", 0.1, 0), ("mp3", 5.0, 0), ("flac", 5.5, 11), ("opus", 0.6, 2), ("pcm", 0.1, 1)],
)
def test_a_short_sentence_that_is_all_is_told_of_by_its_end_where_the_head_tells_its_length(
    codec: str, seconds: float, times: int
) -> None:
    told = list[None]()
    whole = [Spoken(np.zeros((round(24_000 * seconds), 1), np.float32), (), is_whole=True)]
    form = AudioForm(codec)
    voiced = write_speech(whole, 24_000, form, io.BytesIO(), written=lambda: told.append(None))
    assert (voiced.seconds, len(told)) == (seconds, times)


def test_it_ends_where_it_is_checked() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_speech(SENTENCES, 24_000, FORM, io.BytesIO(), stop)
