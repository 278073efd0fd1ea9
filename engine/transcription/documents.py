"""A transcript as JSON, as SubRip (.srt) and as WebVTT (w3.org/TR/webvtt1)."""

from pydantic import JsonValue

from engine.transcription.cues import cues
from engine.transcription_model import Segment, Transcript
from engine.words import words_as_json

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def as_json(transcript: Transcript) -> dict[str, JsonValue]:
    """All that is known; times in seconds, to the millisecond."""
    return {
        "text": transcript.text,
        "language": transcript.language,
        "language_probability": round(transcript.language_probability, 4),
        "duration": round(transcript.seconds, 3),
        "segments": [_segment(number, segment) for number, segment in enumerate(transcript.segments)],
        "words": words_as_json(word for segment in transcript.segments for word in segment.words),
        "notes": list(transcript.notes),
    }


def _segment(number: int, segment: Segment) -> JsonValue:
    return {
        "id": number,
        "start": round(segment.start, 3),
        "end": round(segment.end, 3),
        "text": segment.text,
        "words": words_as_json(segment.words),
        "tokens": list(segment.tokens),
        "temperature": segment.temperature,
        "avg_logprob": round(segment.average_log_probability, 4),
        "compression_ratio": round(segment.compression_ratio, 4),
        "no_speech_prob": round(segment.no_speech_probability, 6),
    }


def as_srt(transcript: Transcript) -> str:
    """Numbered cues with a comma before the milliseconds; empty where nothing is said."""
    blocks = [
        "\n".join([str(number), f"{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}", *cue.lines])
        for number, cue in enumerate(cues(transcript), start=1)
    ]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def as_vtt(transcript: Transcript) -> str:
    """Cues under the format's name, with a point before the milliseconds; & < > are escaped."""
    blocks = ["WEBVTT"]
    for cue in cues(transcript):
        times = f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}"
        blocks.append("\n".join([times, *(line.translate(_ESCAPES) for line in cue.lines)]))
    return "\n\n".join(blocks) + "\n"


def _clock(seconds: float, point: str) -> str:
    """00:00:00,000."""
    minutes, milliseconds = divmod(round(seconds * 1_000), 60_000)
    hours, minutes = divmod(minutes, 60)
    whole, rest = divmod(milliseconds, 1_000)
    return f"{hours:02}:{minutes:02}:{whole:02}{point}{rest:03}"
