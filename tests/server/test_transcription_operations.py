"""Recordings on their way to text."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.audio.reading import AudioStream
from engine.catalogue import Catalogue
from engine.control import Uncontrolled
from engine.errors import InvalidRequest, UnknownModel
from engine.transcription_request import MOST_SECONDS, TranscriptionRequest
from server.transcription_operations import (
    GUESSED_BYTES_A_SECOND,
    TranscriptionOperations,
    told_seconds,
)
from server.work import Making, Packed, Prepared, Stopwatch
from tests.server.sound_doubles import TranscriptionDouble

PLAIN = TranscriptionRequest()


@pytest.fixture(scope="module")
def operations() -> TranscriptionOperations:
    return TranscriptionOperations(Catalogue(transcription=[TranscriptionDouble()]))


def recording(seconds: float = 0.5, format: str = "flac") -> io.BytesIO:
    sink = io.BytesIO()
    encode(np.full((round(seconds * 16_000), 1), 0.1, np.float32), 16_000, AudioForm(format, 64), sink)
    return sink


def telling(seconds: float | None) -> TranscriptionOperations:
    return TranscriptionOperations(Catalogue(transcription=[TranscriptionDouble()]), lambda audio: seconds)


def made(prepared: Prepared) -> tuple[dict[str, bytes], Packed]:
    sink, stopwatch = io.BytesIO(), Stopwatch()
    packed = prepared.work(Making("0" * 16, sink, Uncontrolled(), stopwatch))
    assert stopwatch.pipeline_seconds > 0
    body = sink.getvalue()
    return {part.name: body[part.offset : part.offset + part.length] for part in packed.parts}, packed


def test_a_transcript_is_json_and_after_it_subtitles(operations: TranscriptionOperations) -> None:
    audio = recording()
    size = len(audio.getvalue())
    parts, packed = made(operations.transcribe(PLAIN, audio))
    told = json.loads(parts["transcript"])
    assert (told["text"], told["language"], told["seconds"]) == (f"bytes: {size}", "en", 1.0)
    assert told["words"] == told["segments"][0]["words"]
    assert parts["srt"].decode() == f"1\n00:00:00,000 --> 00:00:01,000\nbytes: {size}\n\n"
    assert parts["vtt"].decode() == f"WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nbytes: {size}\n\n"
    assert packed.content_type == "application/json"
    assert [part.content_type for part in packed.parts] == [
        "application/x-ndjson",
        "application/json",
        "application/x-subrip",
        "text/vtt; charset=utf-8",
    ]
    assert [part.filename[16:] for part in packed.parts] == [".ndjson", ".json", ".srt", ".vtt"]
    assert packed.notes == ("The language was guessed.",)
    assert packed.metrics == {"audio_seconds": 1.0}


def test_segments_are_offered_one_by_one_before_the_transcript() -> None:
    offered: list[bytes] = []
    prepared = telling(60.0).transcribe(PLAIN, recording())
    sink = io.BytesIO()
    packed = prepared.work(
        Making("0" * 16, sink, Uncontrolled(), Stopwatch(), lambda: offered.append(sink.getvalue()))
    )
    lines, transcript = packed.parts[:2]
    body = sink.getvalue()
    assert offered == [body[: lines.length]]
    told = json.loads(body[transcript.offset : transcript.offset + transcript.length])
    assert [json.loads(line) for line in offered[-1].splitlines()] == told["segments"]
    assert (prepared.followed, lines.content_type) == ("application/x-ndjson",) * 2
    assert (lines.name, lines.offset, transcript.offset) == ("segments", 0, lines.length)


def test_a_recording_may_have_to_last_so_long() -> None:
    with pytest.raises(InvalidRequest, match=r"shorter than 0\.1 seconds; send more of it") as caught:
        telling(0.09).transcribe(PLAIN, recording(), least_seconds=0.1)
    assert caught.value.field == "audio"
    for told in (0.1, None):
        assert telling(told).transcribe(PLAIN, recording(), least_seconds=0.1).operation == "transcribe"


def test_the_length_is_the_one_that_the_file_tells(operations: TranscriptionOperations) -> None:
    prepared = operations.transcribe(PLAIN, recording(0.5))
    assert [(stage.phase, stage.units, stage.source) for stage in prepared.stages] == [
        ("listening", 0.5, "score")
    ]
    assert (prepared.operation, prepared.model, prepared.rates_id) == ("transcribe", "heard", "heard cpu")


def test_a_length_that_is_not_told_is_guessed_from_the_size() -> None:
    prepared = telling(None).transcribe(PLAIN, io.BytesIO(bytes(2 * GUESSED_BYTES_A_SECOND)))
    assert [(stage.units, stage.source) for stage in prepared.stages] == [(2.0, "budget")]


@pytest.mark.parametrize("seconds", [MOST_SECONDS + 1, 1e300, float("inf")])
def test_a_recording_longer_than_a_day_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidRequest, match="longer than 24 hours; send it in shorter parts") as caught:
        telling(seconds).transcribe(PLAIN, recording())
    assert caught.value.field == "audio"
    assert telling(float(MOST_SECONDS)).transcribe(PLAIN, recording()).stages[0].units == MOST_SECONDS


def test_what_is_no_recording_is_refused() -> None:
    assert told_seconds(recording(0.25)) == pytest.approx(0.25, abs=0.01)
    with pytest.raises(InvalidRequest) as caught:
        told_seconds(io.BytesIO(b"no audio at all"))
    assert caught.value.field == "audio"


@pytest.mark.parametrize(("told", "seconds"), [(None, None), (-0.04, None), (0.0, 0.0), (2.5, 2.5)])
def test_a_length_below_nothing_is_none_that_is_told(
    monkeypatch: pytest.MonkeyPatch, told: float | None, seconds: float | None
) -> None:
    """FFmpeg gives such a one for files whose clock begins late."""

    @contextmanager
    def opened(recording: BinaryIO) -> Iterator[AudioStream]:
        yield AudioStream(told, iter(()))

    monkeypatch.setattr("server.transcription_operations.listening", opened)
    assert told_seconds(recording()) == seconds


def test_the_options_and_the_recording_have_their_digest(operations: TranscriptionOperations) -> None:
    requests = [PLAIN, TranscriptionRequest(model="heard"), TranscriptionRequest(language="de")]
    digests = [operations.transcribe(asked, recording()).digest for asked in requests]
    digests.append(operations.transcribe(PLAIN, recording(0.75)).digest)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_what_no_model_can_do_is_refused_without_a_recording(operations: TranscriptionOperations) -> None:
    operations.check(PLAIN)
    with pytest.raises(InvalidRequest, match="language must be one of"):
        operations.check(TranscriptionRequest(language="xx"))
    with pytest.raises(InvalidRequest, match="'sketch' is not one that writes down speech"):
        operations.check(TranscriptionRequest(model="sketch"))
    with pytest.raises(UnknownModel):
        TranscriptionOperations(Catalogue()).check(PLAIN)


def test_the_recording_counts_as_kept_until_its_job_has_ended(operations: TranscriptionOperations) -> None:
    audio = recording()
    assert operations.transcribe(PLAIN, audio).input_bytes == len(audio.getvalue())
