"""The tools' cards: what an agent is told before its first call."""

from collections.abc import Callable

import pytest

from engine.request import read_sketch, read_song
from engine.score import parse, validate
from engine.sketch.compose import left_out
from engine.speech_request import read_speech
from engine.transcription_request import read_transcription
from server.agents.arguments import INPUTS, input_schema, read_arguments
from server.agents.guides import GUIDES
from server.agents.tools import INSTRUCTIONS, TOOLS, ToolCard
from server.errors import ANSWERS
from server.limits import AGENT_JOBS, MAX_WAIT_SECONDS
from tests.server.agents.examples import CODES, calls, unknown_names

MOST_CHARACTERS = 1_200
CREATING = ("create_song", "plan_score", "preview_score", "speak", "transcribe")
READERS: dict[str, Callable[[object], object]] = {
    "create_song": read_song,
    "plan_score": read_song,
    "preview_score": read_sketch,
    "speak": read_speech,
    "transcribe": read_transcription,
}
named = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def card(name: str) -> ToolCard:
    return next(tool for tool in TOOLS if tool.name == name)


def test_every_tool_that_takes_arguments_is_listed_once_and_in_order() -> None:
    assert [tool.name for tool in TOOLS] == list(INPUTS)


@named
def test_a_description_is_short_and_complete_sentences(tool: ToolCard) -> None:
    assert 200 < len(tool.description) <= MOST_CHARACTERS
    assert tool.description.endswith((".", "…"))
    assert "  " not in tool.description
    assert tool.title


@named
def test_a_description_names_only_what_there_is(tool: ToolCard) -> None:
    assert unknown_names(tool.description) == set()


@named
def test_every_example_is_a_call_that_is_understood(tool: ToolCard) -> None:
    examples = calls(tool.description)
    assert len(examples) == (1 if input_schema(tool.name)["properties"] else 0)
    for example in examples:
        asked = read_arguments(tool.name, example)
        if tool.name in READERS:
            READERS[tool.name](dict(asked.payload))


@pytest.mark.parametrize("name", ["create_song", "plan_score"])
def test_the_songs_of_the_examples_are_sung_whole(name: str) -> None:
    (example,) = calls(card(name).description)
    asked = read_song({field: example[field] for field in ("style", "lyrics")})
    missing, lines, _ = left_out(asked.style, asked.lyrics, asked.duration)
    assert missing == 0
    assert lines >= 2


def test_the_score_of_the_example_is_in_the_dialect() -> None:
    (example,) = calls(card("preview_score").description)
    score = parse(str(example["abc"]))
    validate(score)
    assert score.bar_count == example["bars"]


@pytest.mark.parametrize("name", CREATING)
def test_what_makes_something_tells_how_to_get_it(name: str) -> None:
    description = card(name).description
    assert "job_id" in description
    assert f"wait_seconds {MAX_WAIT_SECONDS:g}" in description
    assert "complete" in description


@pytest.mark.parametrize("name", ["create_song", "preview_score", "speak", "transcribe"])
def test_how_long_a_link_lasts_is_told(name: str) -> None:
    assert "one hour" in card(name).description


def test_hints_say_what_changes_nothing_and_what_takes_away() -> None:
    looking = {"job_status", "list_models", "server_status", "writing_guide"}
    assert {tool.name for tool in TOOLS if tool.read_only} == looking
    assert {tool.name for tool in TOOLS if tool.destructive} == {"cancel_job"}
    assert {tool.name for tool in TOOLS if tool.idempotent} == looking | {"cancel_job"}
    assert not any(tool.open_world for tool in TOOLS)


def test_the_instructions_name_only_what_there_is_and_the_real_numbers() -> None:
    assert unknown_names(INSTRUCTIONS) == set()
    assert f"wait_seconds {MAX_WAIT_SECONDS:g}" in INSTRUCTIONS
    assert {8: "eight"}[AGENT_JOBS] in INSTRUCTIONS


def test_the_codes_that_are_named_are_answered() -> None:
    codes = {answer.code for answer in ANSWERS.values()}
    assert codes >= CODES


def test_the_guides_are_named_by_their_addresses() -> None:
    assert all(guide.uri in card("writing_guide").description for guide in GUIDES)


def test_how_a_song_and_a_file_are_written_down_is_told() -> None:
    assert "lyrics as prompt" in card("transcribe").description
    assert "POST /mcp/transcribe" in card("transcribe").description


def test_intro_and_ending_count_in_the_length_that_is_told() -> None:
    assert "about 5 seconds a line, plus some 10" in card("create_song").description
