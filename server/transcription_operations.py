"""Work for a model that listens: a recording into its text, its words' times, and subtitles."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO, Final

from engine.audio.reading import listening, too_long
from engine.catalogue import Catalogue
from engine.errors import InvalidRequest
from engine.subtitles import SRT_TYPE, VTT_TYPE, as_srt, as_vtt
from engine.transcription_model import (
    Segment,
    Transcript,
    TranscriptionModel,
    segment_answer,
    transcript_as_json,
)
from engine.transcription_request import MOST_SECONDS, TranscriptionRequest
from server.jobs.rates import Stage
from server.work import Making, Packed, Prepared, digest_of, sha256_of, stages_of
from storage.entry import Part

GUESSED_BYTES_A_SECOND: Final = 16_000  # of a file that tells no length: 128 kbit/s
JSON_TYPE: Final = "application/json"
LINES_TYPE: Final = "application/x-ndjson"
SEGMENTS_PART: Final = "segments"
TRANSCRIPT_PART: Final = "transcript"
_OPERATION: Final = "transcribe"

Length = Callable[[BinaryIO], float | None]
"""Seconds that a recording says it lasts, None where it does not say; raises InvalidRequest('audio') for none."""


def told_seconds(recording: BinaryIO) -> float | None:
    """The length that a recording's header tells. Raises InvalidRequest('audio') where it cannot be read."""
    with listening(recording) as stream:
        told = stream.seconds
    return told if told is not None and told >= 0 else None


class TranscriptionOperations:
    """Checks what is to be written down and says what work it means."""

    def __init__(self, catalogue: Catalogue, length: Length = told_seconds) -> None:
        self._catalogue = catalogue
        self._length = length

    def check(self, asked: TranscriptionRequest) -> None:
        """Raise UnknownModel or InvalidRequest for what no model here does; needs no recording."""
        self._catalogue.transcription(asked.model).check(asked)

    def transcribe(
        self, asked: TranscriptionRequest, audio: io.BytesIO, least_seconds: float = 0.0
    ) -> Prepared:
        """A recording into a transcript. Raises UnknownModel, InvalidRequest, also where it says that it is shorter."""
        model = self._catalogue.transcription(asked.model)
        model.check(asked)
        size, seconds = audio.getbuffer().nbytes, self._length(audio)
        if seconds is not None and seconds > MOST_SECONDS:
            raise too_long("audio", MOST_SECONDS)
        if seconds is not None and seconds < least_seconds:
            raise InvalidRequest(
                "audio", f"The audio is shorter than {least_seconds:g} seconds; send more of it."
            )
        fields = asked.model_dump() | {"model": model.id, "audio": sha256_of(audio.getbuffer())}
        return Prepared(
            operation=_OPERATION,
            model=model.id,
            stages=_stages(model, asked, seconds, size),
            digest=digest_of(_OPERATION, fields),
            work=lambda making: _write_transcript(model, asked, audio, making),
            rates_id=model.rates_id,
            input_bytes=size,
            followed=LINES_TYPE,
        )


def _stages(
    model: TranscriptionModel, asked: TranscriptionRequest, seconds: float | None, size: int
) -> tuple[Stage, ...]:
    """The model's phases; where the length is only guessed, that it is a bound and no measure to learn from."""
    if seconds is not None:
        return stages_of(model.stages(asked, seconds))
    guessed = min(size / GUESSED_BYTES_A_SECOND, MOST_SECONDS)
    return stages_of(replace(stage, source="budget") for stage in model.stages(asked, guessed))


def _write_transcript(
    model: TranscriptionModel, asked: TranscriptionRequest, audio: BinaryIO, making: Making
) -> Packed:
    """Each segment as a line of JSON as soon as it is found, and after the last the transcript in all its forms."""

    def heard(segment: Segment) -> None:
        making.sink.write(f"{segment_answer(segment).model_dump_json()}\n".encode())
        making.offer()

    start = making.sink.tell()
    with making.stopwatch.pipeline():
        transcript = model.transcribe(audio, asked, making.control, heard)
    end = making.sink.tell()
    lines = Part(
        SEGMENTS_PART, 0, LINES_TYPE, start, end - start, transcript.seconds, f"{making.job_id}.ndjson"
    )
    metrics = {"audio_seconds": round(transcript.seconds, 3)}
    return Packed(JSON_TYPE, (lines, *_written(transcript, making)), transcript.notes, metrics=metrics)


def _written(transcript: Transcript, making: Making) -> Iterator[Part]:
    """The transcript in each of its forms, one after another."""
    forms = (
        (TRANSCRIPT_PART, "json", JSON_TYPE, json.dumps(transcript_as_json(transcript), ensure_ascii=False)),
        ("srt", "srt", SRT_TYPE, as_srt(transcript.segments)),
        ("vtt", "vtt", VTT_TYPE, as_vtt(transcript.segments)),
    )
    start = making.sink.tell()
    for name, suffix, kind, text in forms:
        raw = text.encode()
        making.sink.write(raw)
        yield Part(name, 0, kind, start, len(raw), transcript.seconds, f"{making.job_id}.{suffix}")
        start += len(raw)
