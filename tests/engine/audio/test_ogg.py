"""Ogg pages: checksum and serial number."""

import struct

from engine.audio.ogg import PageRewriter, checksum


def slow_checksum(page: bytes) -> int:
    """The checksum bit by bit, as RFC 3533 describes it."""
    register = 0
    for octet in page:
        register ^= octet << 24
        for _ in range(8):
            register = ((register << 1) ^ (0x04C11DB7 if register & 0x80000000 else 0)) & 0xFFFFFFFF
    return register


def page(serial: int, body: bytes) -> bytes:
    head = b"OggS\0\2" + bytes(8) + struct.pack("<II", serial, 7)
    tail = bytes([1, len(body)]) + body
    return head + struct.pack("<I", slow_checksum(head + bytes(4) + tail)) + tail


def test_the_checksum_is_that_of_the_specification() -> None:
    for body in (b"", b"a", b"OggS and more", bytes(range(256))):
        assert checksum(body) == slow_checksum(body)


def test_pages_that_differ_in_their_serial_alone_become_equal_however_they_are_cut() -> None:
    first = page(1, b"one") + page(1, b"three")
    second = page(2, b"one") + page(2, b"three")
    rewriter = PageRewriter()
    pieces = b"".join(rewriter.feed(second[at : at + 5]) for at in range(0, len(second), 5))
    assert PageRewriter().feed(first) == pieces
    assert len(pieces) == len(first)
