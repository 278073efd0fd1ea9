"""multipart/mixed, as the standard library's parser reads it."""

import email
import io

from server.packaging import MultipartWriter


def test_each_part_is_found_by_a_parser_and_by_its_span() -> None:
    sink = io.BytesIO()
    writer = MultipartWriter(sink, "0123456789abcdef")
    with writer.part("replay", 0, "application/json", "a.json") as part:
        part.write(b'{"a": 1}')
    with writer.part("audio", 0, "audio/wav", "a.wav", 1.5) as part:
        part.write(b"RIFF\r\n--\r\n\0\xff")
    parts = writer.finish()
    body = sink.getvalue()
    message = email.message_from_bytes(f"Content-Type: {writer.content_type}\r\n\r\n".encode() + body)
    payloads = [part.get_payload(decode=True) for part in message.walk() if not part.is_multipart()]
    assert payloads == [b'{"a": 1}', b"RIFF\r\n--\r\n\0\xff"]
    assert [body[part.offset : part.offset + part.length] for part in parts] == payloads
    assert [(part.name, part.content_type, part.seconds) for part in parts] == [
        ("replay", "application/json", None),
        ("audio", "audio/wav", 1.5),
    ]


def test_a_part_that_goes_back_to_its_head_still_ends_at_its_end() -> None:
    sink = io.BytesIO()
    writer = MultipartWriter(sink, "0123456789abcdef")
    with writer.part("audio", 0, "audio/wav", "a.wav") as part:
        start = part.tell()
        part.write(b"????data")
        part.seek(start)
        part.write(b"RIFF")
    (written,) = writer.finish()
    assert sink.getvalue()[written.offset : written.offset + written.length] == b"RIFFdata"
