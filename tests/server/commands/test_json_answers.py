"""JSON that comes as a file."""

from collections.abc import Iterator

import pytest

from server.client import BadAnswer, Client, replay
from server.commands.json_answers import downloaded_json
from tests.server.client.double import Studio, studio_double


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        yield double


def test_a_part_is_read(studio: Studio) -> None:
    studio.body = b'{"seed": 7}'
    with Client(studio.address) as client:
        assert downloaded_json(client, "0" * 16, replay()) == {"seed": 7}


@pytest.mark.parametrize("body", [b"<html>", b"", b'{"seed": '])
def test_what_is_no_json_is_a_bad_answer(studio: Studio, body: bytes) -> None:
    studio.body = body
    with Client(studio.address) as client, pytest.raises(BadAnswer, match="not JSON"):
        downloaded_json(client, "0" * 16, replay())
