"""Speech as server-sent events: their exact text, and that no byte is lost between them."""

import base64
import json

from hypothesis import given
from hypothesis import strategies as st

from server.compatible.speech_events import EVENT_BYTES, Deltas, done, event_of

BEGINNING, END = b'data: {"type":"speech.audio.delta","audio":"', b'"}\n\n'


def encoded(event: bytes) -> str:
    assert event.startswith(BEGINNING)
    assert event.endswith(END)
    fields = json.loads(event.removeprefix(b"data: "))
    assert fields.keys() == {"type", "audio"}
    return str(fields["audio"])


def test_a_delta_is_written_exactly_so() -> None:
    deltas = Deltas()
    assert [*deltas.of(b"abcdef")] == [b'data: {"type":"speech.audio.delta","audio":"YWJjZGVm"}\n\n']
    assert deltas.rest() == b""


def test_the_end_tells_characters_and_seconds_as_tokens() -> None:
    assert done(40, 2.5) == (
        b'data: {"type":"speech.audio.done","usage":{"input_tokens":40,"output_tokens":62,"total_tokens":102}}\n\n'
    )


def test_any_event_is_one_line_of_compact_json() -> None:
    assert event_of({"type": "error", "error": {"message": "é\n"}}) == (
        'data: {"type":"error","error":{"message":"é\\n"}}\n\n'.encode()
    )


@given(st.lists(st.binary(max_size=100) | st.just(bytes(range(251)) * 400)))
def test_the_events_hold_every_byte_once_and_in_order(slices: list[bytes]) -> None:
    deltas, texts = Deltas(), list[str]()
    for audio in slices:
        texts += map(encoded, deltas.of(memoryview(audio)))
    texts += [encoded(event) for event in [deltas.rest()] if event]
    decoded = [base64.b64decode(text, validate=True) for text in texts]
    assert b"".join(decoded) == b"".join(slices)
    assert all(0 < len(audio) <= EVENT_BYTES < 32 * 1024 for audio in decoded)
    assert all(len(audio) % 6 == 0 for audio in decoded[:-1])
    assert base64.b64decode("".join(texts), validate=True) == b"".join(slices)
    assert deltas.rest() == b""
