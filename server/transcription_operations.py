"""Work for a model that listens: a recording into its text, its words' times, and subtitles."""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
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
TEXT_TYPE: Final = "text/plain; charset=utf-8"
TRANSCRIPT_PART: Final = "transcript"
_OPERATION: Final = "transcribe"

Length = Callable[[BinaryIO], float | None]
"""Seconds that a recording says it lasts, None where it does not say; raises InvalidRequest('audio') for none."""


def told_seconds(recording: BinaryIO) -> float | None:
    """The length that a recording's header tells. Raises InvalidRequest('audio') where it cannot be read."""
    with listening(recording) as stream:
        told = stream.seconds
    return told if told is not None and told >= 0 else None


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A transcript as one file: its form, one of json, srt, vtt and txt, and its name."""

    form: str
    filename: str


class TranscriptionOperations:
    """Checks what is to be written down and says what work it means."""

    def __init__(self, catalogue: Catalogue, length: Length = told_seconds) -> None:
        self._catalogue = catalogue
        self._length = length

    def check(self, asked: TranscriptionRequest) -> None:
        """Raise UnknownModel or InvalidRequest for what no model here does; needs no recording."""
        self._catalogue.transcription(asked.model).check(asked)

    def transcribe(
        self,
        asked: TranscriptionRequest,
        audio: io.BytesIO,
        least_seconds: float = 0.0,
        alone: TranscriptFile | None = None,
    ) -> Prepared:
        """A recording into a transcript, in all its forms or as one file alone.

        Raises UnknownModel, InvalidRequest, also where the recording says that it is shorter.
        """
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
        if alone is not None:
            fields |= {"alone": asdict(alone)}
        return Prepared(
            operation=_OPERATION,
            model=model.id,
            stages=_stages(model, asked, seconds, size),
            digest=digest_of(_OPERATION, fields),
            work=lambda making: _write_transcript(model, asked, audio, making, alone),
            rates_id=model.rates_id,
            input_bytes=size,
            followed="" if alone else LINES_TYPE,
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
    model: TranscriptionModel,
    asked: TranscriptionRequest,
    audio: BinaryIO,
    making: Making,
    alone: TranscriptFile | None,
) -> Packed:
    """Each segment as a line of JSON as soon as it is found, and after the last the transcript in all its forms.

    Or the one form alone that is asked for.
    """

    def heard(segment: Segment) -> None:
        if alone is None:
            making.sink.write(f"{segment_answer(segment).model_dump_json()}\n".encode())
            making.offer()

    start = making.sink.tell()
    with making.stopwatch.pipeline():
        transcript = model.transcribe(audio, asked, making.control, heard)
    metrics = {"audio_seconds": round(transcript.seconds, 3)}
    if alone is not None:
        part = _written(transcript, making, alone.form, alone.filename)
        return Packed(part.content_type, (part,), transcript.notes, metrics=metrics)
    end, stem = making.sink.tell(), making.job_id
    lines = Part(SEGMENTS_PART, 0, LINES_TYPE, start, end - start, transcript.seconds, f"{stem}.ndjson")
    whole = tuple(_written(transcript, making, form, f"{stem}.{form}") for form in ("json", "srt", "vtt"))
    return Packed(JSON_TYPE, (lines, *whole), transcript.notes, metrics=metrics)


def _written(transcript: Transcript, making: Making, form: str, filename: str) -> Part:
    """The transcript in one of its forms, written behind what is there."""
    name, kind, spell = _FORMS[form]
    start, raw = making.sink.tell(), spell(transcript).encode()
    making.sink.write(raw)
    return Part(name, 0, kind, start, len(raw), transcript.seconds, filename)


def _as_json(transcript: Transcript) -> str:
    return json.dumps(transcript_as_json(transcript), ensure_ascii=False)


# Of each form, which is also the ending of its file: the part's name, its content type, and how it is spelled.
_FORMS: Final[Mapping[str, tuple[str, str, Callable[[Transcript], str]]]] = {
    "json": (TRANSCRIPT_PART, JSON_TYPE, _as_json),
    "srt": ("srt", SRT_TYPE, lambda transcript: as_srt(transcript.segments)),
    "vtt": ("vtt", VTT_TYPE, lambda transcript: as_vtt(transcript.segments)),
    "txt": (TRANSCRIPT_PART, TEXT_TYPE, lambda transcript: f"{transcript.text}\n"),
}
