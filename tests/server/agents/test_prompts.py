"""The prompt, and what its arguments are completed to."""

import pytest

from engine.sketch.genres import GENRES
from engine.sketch.style import read_style
from server.agents.errors import UnsuitablePrompt
from server.agents.prompts import MOST_COMPLETIONS, PROMPTS, completions, prompt_text
from server.limits import MAX_WAIT_SECONDS
from tests.server.agents.examples import unknown_names

EVERYTHING = {"topic": "a lighthouse", "mood": "wistful", "genre": "sea shanty"}


def test_a_prompt_tells_what_the_person_filled_in() -> None:
    text = prompt_text("write_song", EVERYTHING)
    assert all(word in text for word in EVERYTHING.values())


def test_what_was_left_out_is_not_asked_for() -> None:
    text = prompt_text("write_song", {"topic": " a lighthouse ", "mood": ""})
    assert text.startswith("Write a song about this and have it made: a lighthouse\n")
    assert "feel" not in text
    assert "genre is" not in text


def test_the_steps_name_tools_and_arguments_that_there_are() -> None:
    text = prompt_text("write_song", {"topic": "rain"})
    assert unknown_names(text) == set()
    assert f"wait_seconds {MAX_WAIT_SECONDS:g}" in text
    assert all(f"topic {topic}" in text for topic in ("lyrics", "style"))


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


def test_the_arguments_listed_are_those_that_are_taken() -> None:
    (card,) = PROMPTS
    assert [(argument.name, argument.required) for argument in card.arguments] == [
        ("topic", True),
        ("mood", False),
        ("genre", False),
    ]


def test_genres_are_completed_by_their_beginning_first() -> None:
    assert completions("genre", "fo")[0] == "folk"
    assert "indie folk" in completions("genre", "FO")
    assert completions("topic", "fo") == ()
    assert completions("mood", "wist") == ("wistful",)


def test_an_empty_word_is_completed_by_what_is_known_best() -> None:
    found = completions("genre", "")
    assert found[: len(GENRES)] == tuple(genre.name for genre in GENRES)
    assert len(found) <= MOST_COMPLETIONS


@pytest.mark.parametrize("genre", [genre.name for genre in GENRES])
def test_a_genre_that_is_offered_is_one_that_is_understood(genre: str) -> None:
    assert read_style(genre).genre.name == genre


def test_what_is_told_back_of_a_long_name_is_short() -> None:
    for name, arguments in (("n" * 500_000, {}), ("write_song", {"a" * 500_000: "x"})):
        with pytest.raises(UnsuitablePrompt) as raised:
            prompt_text(name, arguments)
        assert len(str(raised.value)) < 300
