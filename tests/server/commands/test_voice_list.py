"""Voices among what models tell of themselves."""

import pytest
from pydantic import JsonValue

from server.commands.voice_list import voices_in


def test_voices_of_all_models_are_listed_once_and_in_order() -> None:
    models: JsonValue = [
        {"id": "sketch"},
        {"id": "hibari", "voices": [{"id": "heart", "language": "en-us", "bytes": 3}, "plain"]},
        {"id": "kokoro", "voices": [{"id": "heart"}, {"name": "nameless"}]},
    ]
    assert voices_in(models) == [("heart", "en-us"), ("plain", "")]


@pytest.mark.parametrize("models", [None, {}, [None], [{"voices": "one"}]])
def test_a_server_that_tells_of_none_has_none(models: JsonValue) -> None:
    assert voices_in(models) == []
