"""The prompt, and what its arguments are completed to."""

import pytest

from server.agents.prompts import UnsuitablePrompt, completions, prompt_text


def test_a_prompt_names_its_topic() -> None:
    assert "a lighthouse" in prompt_text("write_song", {"topic": "a lighthouse"})


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("write_poem", {"topic": "x"}, "write_song"),
        ("write_song", {}, "topic"),
        ("write_song", {"topic": " "}, "topic"),
        ("write_song", {"topic": "x", "key": "D"}, "'key'"),
    ],
)
def test_a_prompt_that_cannot_be_made_says_what_to_send(
    name: str, arguments: dict[str, str], told: str
) -> None:
    with pytest.raises(UnsuitablePrompt, match=told):
        prompt_text(name, arguments)


def test_genres_are_completed_by_their_beginning_first() -> None:
    assert completions("genre", "fo")[0] == "folk"
    assert "indie folk" in completions("genre", "fo")
    assert completions("topic", "fo") == ()
