"""A file looked at here and there, and the tags in it."""

import io
import struct

import pytest

from engine.audio.octets import Octets

ID3_1 = b"TAG" + bytes(125)
ID3_2 = b"ID3\x04\x00\x00" + bytes([0, 0, 2, 5]) + bytes(261)
ID3_FOOTED = b"ID3\x04\x00\x10" + bytes([0, 0, 0, 7]) + bytes(7 + 10)
APE = b"APETAGEX" + struct.pack("<IIII8x", 2000, 40, 1, 1 << 31 | 1 << 29) + bytes(8) + b"APETAGEX" + struct.pack("<IIII8x", 2000, 40, 1, 1 << 31)  # fmt: skip


@pytest.mark.parametrize("tag", [ID3_1, ID3_2, ID3_FOOTED, APE, ID3_2 + APE + ID3_1])
def test_tags_are_passed(tag: bytes) -> None:
    octets = Octets(io.BytesIO(b"sound" + tag + b"more"))
    assert octets.behind_tags(5) == 5 + len(tag)
    assert octets.behind_tags(0) == 0


def test_numbers_and_pieces_are_found_wherever_they_lie() -> None:
    content = bytes(place % 251 for place in range(900_000))
    octets = Octets(io.BytesIO(content))
    for place in (0, 262_142, 3, 524_287, 899_996):
        assert octets.number(place) == int.from_bytes(content[place : place + 4], "big")
    assert octets.number(899_997) == 0
    assert octets.some(899_990, 100) == content[899_990:]
    assert octets.size == 900_000


def test_each_place_that_matches_is_told_once() -> None:
    places = [0, 5, 65_534, 65_535, 65_540, 131_071, 299_997]
    content = bytearray(300_000)
    for place in places:
        content[place : place + 2] = b"\xff\xfb"
    octets = Octets(io.BytesIO(content))
    assert list(octets.matches(rb"\xff\xfb", 0)) == [place for place in places if place != 65_534]
    assert list(octets.matches(rb"\xff\xfb", 65_535)) == [65_535, 65_540, 131_071, 299_997]
