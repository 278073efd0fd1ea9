"""Speech as OpenAI's server-sent events: audio in base64 as it is made, then what it came to.

Shapes: `SpeechAudioDeltaEvent` and `SpeechAudioDoneEvent` of openai/openai-openapi.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Final

from storage.entry import JSON

# A client may decode each event for itself into samples of 16 bits, or join the texts of base64 before it decodes:
# events of whole groups of six bytes allow both.
GROUP_BYTES: Final = 6
EVENT_BYTES: Final = 32 * 1024 // GROUP_BYTES * GROUP_BYTES
OUTPUT_TOKENS_PER_SECOND: Final = 25


class Deltas:
    """Cuts audio into `speech.audio.delta` events of at most 32 KiB; owner of the few bytes that wait for the next."""

    def __init__(self) -> None:
        self._waiting = b""

    def of(self, audio: bytes | memoryview) -> Iterator[bytes]:
        """The events of these bytes but for fewer than six at their end, which go with the next ones."""
        held = self._waiting + bytes(audio)
        whole = len(held) - len(held) % GROUP_BYTES
        self._waiting = held[whole:]
        return (_delta(held[at : min(at + EVENT_BYTES, whole)]) for at in range(0, whole, EVENT_BYTES))

    def rest(self) -> bytes:
        """The event of the bytes that still wait; empty where there are none."""
        held, self._waiting = self._waiting, b""
        return _delta(held) if held else b""


def done(characters: int, seconds: float) -> bytes:
    """The last event, `speech.audio.done`: a token in is a character of the text, 25 tokens out a second of audio."""
    given, made = characters, round(seconds * OUTPUT_TOKENS_PER_SECOND)
    usage: JSON = {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}
    return event_of({"type": "speech.audio.done", "usage": usage})


def event_of(fields: Mapping[str, JSON]) -> bytes:
    """The text of one event, in UTF-8."""
    return f"data: {json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def _delta(audio: bytes) -> bytes:
    # Written by hand: base64 needs no escaping, and a reader of JSON would go through all of it once more.
    return b'data: {"type":"speech.audio.delta","audio":"' + base64.b64encode(audio) + b'"}\n\n'
