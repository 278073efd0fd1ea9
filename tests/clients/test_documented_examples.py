"""The exchanges that both vendors' documents show, sent as they stand there; each answer has the shape that is shown.

Requests and shapes lie in `examples/`, with where they come from. Requests are plain HTTP, forms in the order in which
the documents' `curl` sends their fields.
"""

import email
import json
from email.message import Message
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from tests.clients.heard import hear
from tests.clients.sse import events
from tests.clients.studio import Studio

pytestmark = pytest.mark.runtime
EXAMPLES: Final = [
    example
    for vendor in ("openai", "elevenlabs")
    for example in json.loads((Path(__file__).parent / f"examples/{vendor}.json").read_text(encoding="utf-8"))
]
NUMBERS: Final = (int, float)


def differences(answer: object, shown: object, place: str = "answer") -> list[str]:
    """Where an answer lacks what is shown, or has another type there. What is shown as null may be anything."""
    if isinstance(shown, dict):
        if not isinstance(answer, dict):
            return [f"{place} is no object"]
        missing = [f"{place}.{key} is missing" for key in shown if key not in answer]
        present = [key for key in shown if key in answer]
        return missing + [
            line for key in present for line in differences(answer[key], shown[key], f"{place}.{key}")
        ]
    if isinstance(shown, list):
        if not isinstance(answer, list):
            return [f"{place} is no list"]
        return [
            line
            for number, item in enumerate(answer)
            for line in differences(item, shown[0], f"{place}[{number}]")
        ]
    if shown is None or (_is_number(shown) and _is_number(answer)):
        return []
    return (
        [] if type(answer) is type(shown) else [f"{place} is {answer!r}, which is no {type(shown).__name__}"]
    )


def _is_number(value: object) -> bool:
    return isinstance(value, NUMBERS) and not isinstance(value, bool)


def test_differences_are_found() -> None:
    shown = {"a": 1, "b": [{"c": "x"}], "d": None, "e": True}
    assert differences({"a": 2.5, "b": [{"c": "y"}, {"c": ""}], "d": 1, "e": False, "f": 1}, shown) == []
    assert differences({"a": "2", "b": [{"c": "y"}, {}], "d": 1, "e": 1}, shown) == [
        "answer.a is '2', which is no int",
        "answer.b[1].c is missing",
        "answer.e is 1, which is no bool",
    ]
    assert differences({"a": True, "b": {}}, shown) == [
        "answer.d is missing",
        "answer.e is missing",
        "answer.a is True, which is no int",
        "answer.b is no list",
    ]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])
def test_an_example_is_answered_as_it_is_shown(
    studio: Studio, spoken_mp3: bytes, example: dict[str, Any]
) -> None:
    answer = studio.native.request(example["method"], example["path"], **_body(example, spoken_mp3))
    assert answer.status_code == example["status"], answer.text
    assert answer.headers["content-type"].partition(";")[0] == example["content_type"]
    assert answer.headers["x-request-id"]
    if "events" in example:
        _check_events(answer, example["events"])
    elif "parts" in example:
        for part, shown in zip(_parts(answer), example["parts"], strict=True):
            _check(part.get_content_type(), part.get_payload(decode=True), shown)
    else:
        _check(example["content_type"], answer.content, example)


@pytest.fixture(scope="module")
def spoken_mp3(studio: Studio) -> bytes:
    """The file that the documents call audio.mp3."""
    text = "The beach was a popular spot on a hot summer day."
    answer = studio.native.post("/v1/audio/speech", json={"model": "tts-1", "voice": "alloy", "input": text})
    assert answer.status_code == 200, answer.text
    return answer.content


def _body(example: dict[str, Any], audio: bytes) -> dict[str, Any]:
    """What the HTTP client is given of it."""
    if "form" not in example:
        return {"json": example["json"]} if "json" in example else {}
    files = [
        (name, ("audio.mp3", audio, "audio/mpeg") if value == "@audio.mp3" else (None, value.encode()))
        for name, value in example["form"]
    ]
    return {"files": files}


def _check(content_type: str, body: object, shown: dict[str, Any]) -> None:
    assert isinstance(body, bytes)
    assert content_type == shown["content_type"]
    if content_type.startswith("audio/"):
        assert hear(body).loudness > 0.001
    else:
        assert differences(json.loads(body), shown["answer"]) == []


def _check_events(answer: httpx2.Response, shown: list[dict[str, Any]]) -> None:
    *pieces, last = [json.loads(event.text) for event in events([answer.content])]
    assert pieces
    piece, end = shown
    for event in pieces:
        assert (event["type"], differences(event, piece)) == (piece["type"], [])
    assert (last["type"], differences(last, end)) == (end["type"], [])


def _parts(answer: httpx2.Response) -> list[Message]:
    """The parts of an answer, read by the standard library."""
    head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
    return [
        part for part in email.message_from_bytes(head + answer.content).walk() if not part.is_multipart()
    ]
