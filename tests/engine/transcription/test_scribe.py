"""One window after another written down."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.control import unchecked
from engine.transcription.detection import Language
from engine.transcription.features import RATE_HZ
from engine.transcription.scribe import Scribe
from engine.transcription.spans import Span
from engine.transcription.tokens import TokenText
from engine.transcription.whisper import BEAM, Attempt, Encoded, Whisper
from engine.transcription.windows import Window, Windows
from engine.transcription_model import Segment
from engine.transcription_request import TranscriptionRequest
from tests.engine.transcription.spoken import Loudness

TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
ENGLISH = Language("en", 1.0, told=False)


class Scripted(Whisper):
    """Gives the same answer to every window, half a second a token; owner of the prompts it was sent."""

    def __init__(
        self, text: TokenText, answer: Sequence[str | float], temperature: float = 0.0, likely: float = -0.2
    ) -> None:
        self.text = text
        self.degree = temperature
        self.likely = likely
        self.prompts: list[list[int]] = []
        self.answer = [
            token
            for part in answer
            for token in (
                self.text.encode(part)
                if isinstance(part, str)
                else [self.text.first_timestamp + round(part * 50)]
            )
        ]

    def heard(self, samples: NDArray[np.float32]) -> Encoded:
        return Encoded(None, len(samples) // 160)

    def attempt(
        self, encoded: Encoded, prompt: list[int], temperature: float, no_repeat: int = 0, beam: int = BEAM
    ) -> Attempt:
        self.prompts.append(prompt)
        return Attempt(tuple(self.answer), self.degree, self.likely, 0.1)

    def pairs(self, encoded: Encoded, opening: list[int], tokens: Sequence[int]) -> list[tuple[int, int]]:
        return [(place, 25 * place) for place in range(len(tokens) + 1)]


class Stopped(Exception):
    """The caller's own error."""


class Followed(Windows):
    """Of no recording; owner of the samples that it was told to go on from, and of the windows that were dismissed."""

    def __init__(self) -> None:
        super().__init__(iter(()), Loudness())
        self.resumed: list[int] = []
        self.dismissed: list[Window] = []

    def resume(self, sample: int) -> None:
        self.resumed.append(sample)

    def dismiss(self, window: Window) -> None:
        self.dismissed.append(window)


def window(start: float, *spans: tuple[float, float], whole: bool = True) -> Window:
    """Of 10 s."""
    speech = tuple(Span(round(begin * RATE_HZ), round(end * RATE_HZ)) for begin, end in spans)
    return Window(round(start * RATE_HZ), np.zeros(10 * RATE_HZ, np.float32), speech, whole)


def written(
    whisper: Whisper, *windows: Window, language: Language = ENGLISH, **options: str
) -> list[Segment]:
    scribe = Scribe(whisper, TranscriptionRequest.model_validate(options), language)
    rest = Windows(iter(()), Loudness())
    return [segment for each in windows for segment in scribe.write(each, rest, unchecked)]


def test_words_are_heard_within_the_speech_of_the_recording(text: TokenText) -> None:
    (segment,) = written(Scripted(text, [0.0, "One two three", 2.0]), window(100, (100.2, 101.6)))
    assert [(word.text, word.start, word.end) for word in segment.words] == [
        ("One", 100.2, 100.5),
        ("two", 100.5, 101.0),
        ("three", 101.0, 101.6),
    ]
    assert (segment.start, segment.end, segment.text) == (100.2, 101.6, "One two three")
    assert segment.average_log_probability == -0.2


def test_timestamps_part_segments_and_words_go_to_theirs(text: TokenText) -> None:
    segments = written(Scripted(text, [0.0, "One two", 1.0, 1.0, "three", 2.0]), window(0, (0.0, 3.0)))
    assert [segment.text for segment in segments] == ["One two", "three"]
    assert [[word.text for word in segment.words] for segment in segments] == [["One", "two"], ["three"]]


@pytest.mark.parametrize(
    ("language", "task", "blank"),
    [("en", "transcribe", " "), ("ja", "transcribe", ""), ("ja", "translate", " ")],
)
def test_texts_are_joined_as_the_language_that_is_written_does(
    text: TokenText, language: str, task: str, blank: str
) -> None:
    whisper = Scripted(text, [0.0, "One", 1.0, 1.0, "two", 2.0])
    spoken = Language(language, 1.0, told=False)
    windows = window(0, (0.0, 3.0)), window(10, (10.0, 13.0))
    segments = written(whisper, *windows, language=spoken, task=task)
    assert [segment.blank for segment in segments] == ["", blank, blank, blank]


@pytest.mark.parametrize(("temperature", "goes_on"), [(0.4, True), (0.6, False)])
def test_a_window_goes_on_from_text_that_can_be_trusted(
    text: TokenText, temperature: float, goes_on: bool
) -> None:
    whisper = Scripted(text, [0.0, "One two", 1.0], temperature)
    written(whisper, window(0, (0.0, 1.0)), window(10, (10.0, 11.0)))
    assert whisper.prompts[0] == [whisper.text.start]
    assert (whisper.text.encode("One two")[0] in whisper.prompts[1]) is goes_on


def test_the_prompt_comes_before_every_window(text: TokenText) -> None:
    whisper = Scripted(text, [0.0, "One", 1.0], temperature=1.0)
    written(whisper, window(0, (0.0, 1.0)), window(10, (10.0, 11.0)), prompt="Kraków")
    wanted = whisper.text.encode("Kraków")
    assert [prompt[1 : 1 + len(wanted)] for prompt in whisper.prompts] == [wanted, wanted]


def test_words_end_where_the_next_window_goes_on(text: TokenText) -> None:
    answer = Scripted(text, [0.0, f"One two three four five six {TENS} hundred", 6.0, 6.0])
    (segment,) = written(answer, window(0, (0.0, 4.0), (5.0, 9.5)))
    assert segment.words[-1].text == "hundred"
    assert max(word.end for word in segment.words) == 6.0


@pytest.mark.parametrize(
    ("speech", "resumed"),
    [((5.0, 9.5), 6.0), ((5.0, 6.4), 6.0), ((5.0, 6.2), 10.0), ((5.0, 5.9), 10.0)],
)
def test_what_is_left_of_speech_comes_next_unless_it_is_hardly_any(
    text: TokenText, speech: tuple[float, float], resumed: float
) -> None:
    windows = Followed()
    scribe = Scribe(Scripted(text, [0.0, "One", 6.0, 6.0]), TranscriptionRequest(), ENGLISH)
    scribe.write(window(0, (0.0, 1.0), speech), windows, unchecked)
    assert windows.resumed == [resumed * RATE_HZ]


def test_what_is_stopped_after_the_attempt_is_not_aligned(text: TokenText) -> None:
    class Unaligned(Scripted):
        def pairs(self, encoded: Encoded, opening: list[int], tokens: Sequence[int]) -> list[tuple[int, int]]:
            raise AssertionError

    def check() -> None:
        if whisper.prompts:
            raise Stopped

    whisper = Unaligned(text, [0.0, "One", 1.0])
    scribe = Scribe(whisper, TranscriptionRequest(), ENGLISH)
    with pytest.raises(Stopped):
        scribe.write(window(0, (0.0, 1.0)), Followed(), check)


def test_nothing_said_is_no_segment(text: TokenText) -> None:
    assert written(Scripted(text, []), window(0, (0.0, 1.0))) == []


def song(*speech: tuple[float, float]) -> Window:
    """10 s that may be sung, loud from 0.2 to 9 s."""
    spoken = tuple(Span(round(begin * RATE_HZ), round(end * RATE_HZ)) for begin, end in speech)
    return replace(window(0, (0.2, 9.0)), sung=True, speech=spoken)


def times(whisper: Whisper, sung: Window) -> list[tuple[float, float]]:
    (segment,) = written(whisper, sung)
    return [(word.start, word.end) for word in segment.words]


def test_sung_words_are_heard_where_it_is_loud(text: TokenText) -> None:
    whisper = Scripted(text, [0.0, "One two three four", 2.0])
    assert times(whisper, song()) == [(0.2, 0.5), (0.5, 1.0), (1.0, 1.5), (1.5, 2.0)]
    assert times(whisper, song((1.6, 1.8)))[-1] == (1.5, 2.0)


def test_words_said_amid_music_are_heard_where_somebody_speaks(text: TokenText) -> None:
    whisper = Scripted(text, [0.0, "One two three four", 2.0])
    assert times(whisper, song((0.1, 1.9)))[-1] == (1.5, 1.9)


def test_where_nobody_sings_nothing_is_written_and_the_window_dismissed(text: TokenText) -> None:
    whisper = Scripted(text, [0.0, "Thank you.", 2.0], likely=-1.2)
    windows, sung = Followed(), song()
    scribe = Scribe(whisper, TranscriptionRequest(), ENGLISH)
    assert scribe.write(sung, windows, unchecked) == []
    assert windows.dismissed == [sung]
    assert len(whisper.prompts) == 1


@pytest.mark.parametrize(("likely", "count"), [(-0.5, 1), (-1.2, 0)])
def test_speech_amid_music_must_be_likely(text: TokenText, likely: float, count: int) -> None:
    whisper = Scripted(text, [0.0, "You", 0.5], likely=likely)
    assert len(written(whisper, replace(window(0, (0.0, 1.0)), doubted=True))) == count
    assert len(written(whisper, window(0, (0.0, 1.0)))) == 1
