"""Transcripts in OpenAI's shapes: `json`, `text`, `verbose_json`, and server-sent events while one is made.

Shapes: `Transcription`, `TranscriptionVerbose`, `TranscriptionSegment`, `TranscriptTextDeltaEvent` and
`TranscriptTextDoneEvent` of openai/openai-openapi.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from math import ceil
from typing import Final

from engine.transcription.languages import NAMES
from engine.transcription_model import SegmentAnswer, TranscriptAnswer
from engine.words import WordAnswer
from server.compatible.speech_events import event_of
from server.compatible.transcription import TranscriptionCall
from storage.entry import JSON

TEXT_TYPE: Final = "text/plain; charset=utf-8"
INPUT_TOKENS_PER_SECOND: Final = 50  # positions of Whisper's encoder
_SEEKS_PER_SECOND: Final = 100


def as_text(transcript: TranscriptAnswer) -> str:
    """The text alone, a line."""
    return transcript.text + "\n"


def as_json(transcript: TranscriptAnswer, call: TranscriptionCall) -> dict[str, JSON]:
    """The text, and how long the recording was; of a translation the text alone."""
    if call.task == "translate":
        return {"text": transcript.text}
    return {"text": transcript.text, **_languages(transcript, call), "usage": _duration(transcript)}


def as_verbose_json(transcript: TranscriptAnswer, call: TranscriptionCall) -> dict[str, JSON]:
    """The text with the segments, the words or both, as the call's granularities say."""
    asked = call.timestamp_granularities or ("segment",)
    spoken = NAMES.get(transcript.language, transcript.language)
    told: dict[str, JSON] = {
        "task": call.task,
        "language": "english" if call.task == "translate" else spoken,
        "duration": transcript.seconds,
        "text": transcript.text,
    }
    if "segment" in asked:
        told["segments"] = [_segment(number, segment) for number, segment in enumerate(transcript.segments)]
    if "word" in asked:
        told["words"] = [_word(word) for word in transcript.words]
    return told | {"usage": _duration(transcript)}


def delta(segment: SegmentAnswer) -> bytes:
    """The event of a segment; the deltas of all segments make up the text."""
    return event_of({"type": "transcript.text.delta", "delta": segment.blank + segment.text})


def done(transcript: TranscriptAnswer, call: TranscriptionCall) -> bytes:
    """The last event: the whole text and what it took, 50 tokens in a second of audio, and those of the text out."""
    given = ceil(transcript.seconds * INPUT_TOKENS_PER_SECOND)
    made = sum(len(segment.tokens) for segment in transcript.segments)
    usage: JSON = {
        "type": "tokens",
        "input_tokens": given,
        "input_token_details": {"audio_tokens": given, "text_tokens": 0},
        "output_tokens": made,
        "total_tokens": given + made,
    }
    text: dict[str, JSON] = {"type": "transcript.text.done", "text": transcript.text}
    return event_of({**text, **_languages(transcript, call), "usage": usage})


async def segments_in(
    slices: AsyncGenerator[bytes | memoryview, None],
) -> AsyncGenerator[SegmentAnswer, None]:
    """The segments of a body of lines of JSON, each as soon as its line has ended. Closes the slices."""
    waiting = b""
    async with aclosing(slices):
        async for piece in slices:
            *whole, waiting = (waiting + bytes(piece)).split(b"\n")
            for line in whole:
                yield SegmentAnswer.model_validate_json(line)


def _languages(transcript: TranscriptAnswer, call: TranscriptionCall) -> dict[str, JSON]:
    """What is spoken, for whoever said what may be: none where nobody was heard whose language could be."""
    if not call.names_languages:
        return {}
    return {"languages": [{"code": transcript.language}] if transcript.language_probability else []}


def _duration(transcript: TranscriptAnswer) -> JSON:
    return {"type": "duration", "seconds": transcript.seconds}


def _segment(number: int, segment: SegmentAnswer) -> JSON:
    tokens: list[JSON] = list(segment.tokens)
    return {
        "id": number,
        "seek": round(segment.start * _SEEKS_PER_SECOND),
        "start": segment.start,
        "end": segment.end,
        "text": segment.blank + segment.text,
        "tokens": tokens,
        "temperature": segment.temperature,
        "avg_logprob": segment.average_log_probability,
        "compression_ratio": segment.compression_ratio,
        "no_speech_prob": segment.no_speech_probability,
    }


def _word(word: WordAnswer) -> JSON:
    return {"word": word.word, "start": word.start, "end": word.end}
