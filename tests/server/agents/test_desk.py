"""Each tool by its name, and what becomes of whatever goes wrong at the desk."""

import asyncio
import json
import logging

import pytest

from server.agents.arguments import INPUTS
from server.agents.errors import UnknownTool
from server.agents.guides import guide_text
from storage.entry import JSON
from tests.server.agents.office import Office

LYRICS = "Nobody may read this in a log"


def test_every_tool_that_takes_arguments_is_answered_here(office: Office) -> None:
    assert set(office.desk._tools) == set(INPUTS)


def test_a_name_that_is_none_is_an_error_of_the_protocol(office: Office) -> None:
    async def test() -> None:
        with pytest.raises(UnknownTool, match="make_coffee"):
            await office.call("make_coffee")

    office.run(test)


@pytest.mark.parametrize("tool", ["list_models", "server_status"])
def test_what_needs_no_arguments_takes_none(office: Office, tool: str) -> None:
    async def test() -> None:
        assert await office.told(tool)
        told = await office.refused(tool, all=True)
        assert (told["code"], told["field"]) == ("unknown_field", "all")
        assert await office.told(tool, all=None)  # null is the same as nothing

    office.run(test)


@pytest.mark.parametrize("topic", ["lyrics", "style", "score"])
def test_the_guides_are_read(office: Office, topic: str) -> None:
    async def test() -> None:
        answer = await office.call("writing_guide", topic=topic)
        assert answer.texts == (guide_text(topic),)
        assert answer.told == {"topic": topic, "text": guide_text(topic)}

    office.run(test)


def test_there_is_no_other_guide(office: Office) -> None:
    async def test() -> None:
        assert (await office.refused("writing_guide", topic="coffee"))["field"] == "topic"
        assert (await office.refused("writing_guide"))["field"] == "topic"

    office.run(test)


def test_everything_that_is_told_is_json(office: Office) -> None:
    async def test() -> None:
        calls: list[tuple[str, dict[str, JSON]]] = [
            ("list_models", {}),
            ("server_status", {}),
            ("writing_guide", {"topic": "style"}),
            ("plan_score", {"style": "folk", "lyrics": "[Verse]\nLa la"}),
            ("speak", {}),
            ("job_status", {"job_id": "0123456789abcdef"}),
        ]
        for tool, arguments in calls:
            answer = await office.call(tool, **arguments)
            assert json.loads(json.dumps(answer.told, allow_nan=False)) == answer.told

    office.run(test)


def test_an_unexpected_error_is_logged_without_its_words(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(LYRICS)

    async def test() -> None:
        told = await office.refused("create_song", style="folk", lyrics=LYRICS)
        assert told["code"] == "internal_error"
        assert LYRICS not in str(told)

    monkeypatch.setattr(office.work, "prepare", broken)
    office.run(test)
    assert "RuntimeError" in caplog.text
    assert "create_song" in caplog.text
    assert LYRICS not in caplog.text
    assert office.pending == 0


def test_a_refusal_is_noted_without_words_of_the_request(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        await office.refused("create_song", style="folk", lyrics=LYRICS, model=LYRICS)

    with caplog.at_level(logging.INFO):
        office.run(test)
    assert "The tool create_song was refused: unknown_model" in caplog.text
    assert LYRICS not in caplog.text
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


def test_a_call_that_is_cancelled_stays_cancelled(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        call = asyncio.create_task(office.call("job_status", job_id=job_id, wait_seconds=45))
        await asyncio.wait([call], timeout=0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    office.run(test)


def test_nothing_is_admitted_once_the_server_stops(office: Office) -> None:
    async def test() -> None:
        office.parts.book.close()
        told = await office.refused("speak", text="One.")
        assert told["code"] == "shutting_down"
        assert office.rejected == 0

    office.run(test)
