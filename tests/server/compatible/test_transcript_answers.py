"""Transcripts as OpenAI's own package reads them."""

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest
from openai.types.audio import (
    Transcription,
    TranscriptionTextDeltaEvent,
    TranscriptionTextDoneEvent,
    TranscriptionVerbose,
    TranslationVerbose,
)
from pydantic import BaseModel

from engine.transcription_model import (
    Segment,
    SegmentAnswer,
    Transcript,
    TranscriptAnswer,
    transcript_as_json,
)
from engine.words import Word
from server.compatible.transcript_answers import (
    as_json,
    as_text,
    as_verbose_json,
    delta,
    done,
    segments_in,
)
from server.compatible.transcription import TranscriptionCall

SEGMENTS = (
    Segment(0.5, 1.25, "Well, one.", (Word("Well,", 0.5, 0.75), Word("one.", 1.0, 1.25)), (7, 8), 0.2, -0.25, 1.5, 0.125),
    Segment(31.0, 32.0, "Zwölf!", (Word("Zwölf!", 31.0, 32.0),), (9,), 0.0, -0.5, 1.0, 0.0, " "),
)  # fmt: skip


def answer(*segments: Segment, probability: float = 0.75) -> TranscriptAnswer:
    text = "".join(segment.blank + segment.text for segment in segments)
    transcript = Transcript(text, "de", probability, 33.333, segments)
    return TranscriptAnswer.model_validate(transcript_as_json(transcript))


SAID = answer(*SEGMENTS)
PLAIN = TranscriptionCall()


def fields(kind: type[BaseModel], value: object) -> dict[str, object]:
    """The value as the package's type reads it, which must know all of it."""
    read = kind.model_validate(value, strict=True)
    assert not read.model_extra
    return read.model_dump(exclude_unset=True)


def data(raw: bytes) -> dict[str, object]:
    assert raw.startswith(b"data: ")
    assert raw.endswith(b"\n\n")
    assert raw.count(b"\n") == 2
    return dict(json.loads(raw.removeprefix(b"data: ")))


def test_json_is_the_text_and_how_long_it_took() -> None:
    told = {"text": "Well, one. Zwölf!", "usage": {"type": "duration", "seconds": 33.333}}
    assert as_json(SAID, PLAIN) == fields(Transcription, as_json(SAID, PLAIN)) == told
    assert as_json(SAID, TranscriptionCall(task="translate")) == {"text": "Well, one. Zwölf!"}
    assert as_text(SAID) == "Well, one. Zwölf!\n"


@pytest.mark.parametrize(("probability", "languages"), [(0.75, [{"code": "de"}]), (0.0, [])])
def test_the_language_is_told_to_whoever_named_some(
    probability: float, languages: list[dict[str, str]]
) -> None:
    said = answer(*SEGMENTS, probability=probability)
    for call in (TranscriptionCall(languages=("de", "en")), TranscriptionCall(language="de")):
        assert fields(Transcription, as_json(said, call))["languages"] == languages
        assert fields(TranscriptionTextDoneEvent, data(done(said, call)))["languages"] == languages


def test_verbose_json_has_all_ten_keys_of_a_segment() -> None:
    told = as_verbose_json(SAID, PLAIN)
    typed = {
        name: value for name, value in told.items() if name != "task"
    }  # Whisper's own, which no type has
    assert (fields(TranscriptionVerbose, typed), told["task"]) == (typed, "transcribe")
    assert (told["language"], told["duration"]) == ("german", 33.333)
    assert told["segments"] == [
        {
            "id": 0,
            "seek": 50,
            "start": 0.5,
            "end": 1.25,
            "text": "Well, one.",
            "tokens": [7, 8],
            "temperature": 0.2,
            "avg_logprob": -0.25,
            "compression_ratio": 1.5,
            "no_speech_prob": 0.125,
        },
        {
            "id": 1,
            "seek": 3100,
            "start": 31.0,
            "end": 32.0,
            "text": " Zwölf!",
            "tokens": [9],
            "temperature": 0.0,
            "avg_logprob": -0.5,
            "compression_ratio": 1.0,
            "no_speech_prob": 0.0,
        },
    ]
    assert told["usage"] == {"type": "duration", "seconds": 33.333}


@pytest.mark.parametrize(
    ("granularities", "present", "absent"),
    [
        ((), {"segments"}, {"words"}),
        (("segment",), {"segments"}, {"words"}),
        (("word",), {"words"}, {"segments"}),
        (("word", "segment"), {"words", "segments"}, set()),
    ],
)
def test_granularities_choose_segments_and_words(
    granularities: tuple[str, ...], present: set[str], absent: set[str]
) -> None:
    call = TranscriptionCall(response_format="verbose_json", timestamp_granularities=granularities)
    told = as_verbose_json(SAID, call)
    assert present <= told.keys()
    assert not absent & told.keys()
    if "words" in present:
        words = [("Well,", 0.5, 0.75), ("one.", 1.0, 1.25), ("Zwölf!", 31.0, 32.0)]
        assert told["words"] == [{"word": word, "start": start, "end": end} for word, start, end in words]


def test_a_translation_is_english() -> None:
    told = as_verbose_json(SAID, TranscriptionCall(task="translate", response_format="verbose_json"))
    read = TranslationVerbose.model_validate(told)
    assert (told["task"], read.language, read.text) == ("translate", "english", "Well, one. Zwölf!")
    assert read.segments is not None
    assert len(read.segments) == 2


def test_deltas_make_up_the_text_of_the_last_event() -> None:
    deltas = [data(delta(segment)) for segment in SAID.segments]
    assert [fields(TranscriptionTextDeltaEvent, told) for told in deltas] == deltas
    last = data(done(SAID, PLAIN))
    assert "".join(str(told["delta"]) for told in deltas) == last["text"] == SAID.text
    usage = {
        "type": "tokens",
        "input_tokens": 1667,
        "input_token_details": {"audio_tokens": 1667, "text_tokens": 0},
        "output_tokens": 3,
        "total_tokens": 1670,
    }
    assert fields(TranscriptionTextDoneEvent, last) == last
    assert last["usage"] == usage


@pytest.mark.parametrize("size", [1, 5, 10_000])
def test_segments_are_read_from_lines_however_they_are_cut(size: int) -> None:
    body = b"".join(segment.model_dump_json().encode() + b"\n" for segment in SAID.segments)

    async def slices() -> AsyncGenerator[bytes | memoryview, None]:
        for start in range(0, len(body), size):
            yield memoryview(body)[start : start + size]

    async def read() -> list[SegmentAnswer]:
        return [segment async for segment in segments_in(slices())]

    assert asyncio.run(read()) == SAID.segments
