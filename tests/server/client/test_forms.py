"""Forms as a server reads them."""

import json
from email import message_from_bytes
from email.message import Message

from server.client.forms import form


def parts_of(content_type: str, content: bytes) -> list[Message]:
    """Read by a reader of mail, whose format it is."""
    read = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + content)
    assert read.is_multipart()
    return [part for part in read.walk() if not part.is_multipart()]


def test_a_form_has_the_request_and_the_file_byte_for_byte() -> None:
    file = bytes(range(256)) + b"\r\n--"
    sent = form({"language": "en", "prompt": "Grüße"}, "audio", 'a"b\n.wav', file, "x1y2")
    request, audio = parts_of(sent.content_type, sent.content)
    assert request.get_param("name", header="content-disposition") == "request"
    assert json.loads(bytes(request.get_payload(decode=True))) == {"language": "en", "prompt": "Grüße"}
    assert audio.get_param("name", header="content-disposition") == "audio"
    assert audio.get_filename() == "a%22b%0A.wav"
    assert audio.get_payload(decode=True) == file


def test_the_same_form_is_the_same_bytes() -> None:
    assert form({}, "audio", "a.wav", b"1", "x") == form({}, "audio", "a.wav", b"1", "x")


def test_names_and_words_that_are_not_utf_8_can_be_sent() -> None:
    undecoded = b"\xff".decode(errors="surrogateescape")
    sent = form({"prompt": undecoded}, "audio", f"{undecoded}.wav", b"1", "x")
    request, _ = parts_of(sent.content_type, sent.content)
    assert json.loads(bytes(request.get_payload(decode=True))) == {"prompt": undecoded}
    assert b'filename="\xff.wav"' in sent.content
