"""Tools as an agent sees them through the bridge, in both eras, before a server that is a double."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, ResourceLink, TextContent

from server.agents.protocol import listed_tools
from server.commands.stdio_bridge import StdioBridge, bridge_server, bridged_tools
from server.commands.studio_calls import StudioCalls
from tests.server.commands.mcp_double import (
    CUT,
    JOB_ID,
    LINK_PATH,
    Raw,
    Studio,
    mcp_double,
    refusal,
    result,
)

FILE: Final = bytes(range(256)) * 40
ERAS: Final = ("legacy", "2026-07-28")
STATUS: Final[Mapping[str, Any]] = {"job_id": JOB_ID, "wait_seconds": 45}


@pytest.fixture
def studio() -> Iterator[Studio]:
    with mcp_double() as double:
        yield double


async def at_once(seconds: float) -> None:
    """No wait."""


def bridge_to(address: str, patience_seconds: float = 5.0) -> StudioCalls:
    return StudioCalls(address, "", "1.2.3", sleep=at_once, patience_seconds=patience_seconds)


def called(studio: Studio, tool: str, mode: str = ERAS[1], **arguments: Any) -> CallToolResult:
    """What a call through the bridge answers."""

    async def calling() -> CallToolResult:
        async with bridge_to(studio.address) as calls:
            server = bridge_server(StdioBridge(calls, lambda: "mark"), "1.2.3")
            async with Client(server, mode=mode) as client:
                return await client.call_tool(tool, arguments)

    return asyncio.run(calling())


def told(answer: CallToolResult, *, is_error: bool = False) -> dict[str, Any]:
    assert answer.is_error is is_error, answer
    assert isinstance(answer.structured_content, dict)
    return dict(answer.structured_content)


def said(answer: CallToolResult) -> str:
    assert isinstance(answer.content[0], TextContent)
    return answer.content[0].text


def arguments(studio: Studio, index: int = -1) -> dict[str, Any]:
    """What the server's tool was called with."""
    return dict(studio.seen[index].params["arguments"])


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("mode", ERAS)
def test_lists_need_no_server(mode: str) -> None:
    with mcp_double() as gone:
        address = gone.address

    async def listed() -> tuple[list[str], str | None, list[str], str]:
        async with (
            bridge_to(address) as calls,
            Client(bridge_server(StdioBridge(calls), "1"), mode=mode) as one,
        ):
            names = [tool.name for tool in (await one.list_tools()).tools]
            guides = [guide.uri for guide in (await one.list_resources()).resources]
            prompt = await one.get_prompt("write_song", {"topic": "a ferry"})
            assert isinstance(prompt.messages[0].content, TextContent)
            return names, one.instructions, guides, prompt.messages[0].content.text

    names, instructions, guides, prompt = asyncio.run(listed())
    assert names == [tool.name for tool in listed_tools()]
    assert guides[0] == "yue2://guide/lyrics"
    assert "a ferry" in prompt
    if mode == "legacy":
        assert "save_to" in (instructions or "")


def test_two_tools_take_files_and_the_rest_are_the_servers() -> None:
    own = {tool.name: tool for tool in bridged_tools()}
    for tool in listed_tools():
        if tool.name not in ("transcribe", "job_status"):
            assert own[tool.name] == tool
    transcribe, job_status = own["transcribe"].input_schema, own["job_status"].input_schema
    assert "required" not in transcribe
    assert job_status["required"] == ["job_id"]
    for word in ("64 MiB", "whole path", "M4A"):
        assert word in transcribe["properties"]["file"]["description"]
    assert "whole path" in job_status["properties"]["save_to"]["description"]
    for schema in (transcribe, job_status):
        jsonschema_rs.meta.validate(schema)
        assert not {"$ref", "$defs", "anyOf", "oneOf"} & set(json.dumps(schema).split('"'))
    assert jsonschema_rs.is_valid(transcribe, {"file": "/tmp/a.wav", "language": "en"})
    assert jsonschema_rs.is_valid(job_status, {**STATUS, "save_to": "/tmp"})
    for name, word in (("transcribe", "file"), ("job_status", "save_to")):
        assert word in (own[name].description or "")
    annotations = own["job_status"].annotations
    assert annotations is not None
    assert annotations.read_only_hint is False


@pytest.mark.parametrize("mode", ERAS)
def test_a_call_is_passed_on_as_it_is(studio: Studio, mode: str) -> None:
    studio.results.append(result("Queued.", {"job_id": JOB_ID, "state": "queued"}))
    answer = called(studio, "speak", mode, text="Grüße", seed=None, nonsense=1)
    assert arguments(studio) == {"text": "Grüße", "seed": None, "nonsense": 1}
    assert (said(answer), told(answer)) == ("Queued.", {"job_id": JOB_ID, "state": "queued"})


@pytest.mark.parametrize("mode", ERAS)
def test_a_refusal_is_passed_on(studio: Studio, mode: str) -> None:
    full = {"code": "queue_full", "message": "Full.", "retry_after_seconds": 5, "limit": 8}
    studio.results.append(result("Full.", full, is_error=True))
    assert told(called(studio, "create_song", mode, style="folk"), is_error=True) == full


@pytest.mark.parametrize("mode", ERAS)
def test_an_unknown_tool_is_the_protocols_error_and_asks_nobody(studio: Studio, mode: str) -> None:
    async def told_of() -> str:
        calls = bridge_to(studio.address)
        async with calls, Client(bridge_server(StdioBridge(calls), "1"), mode=mode) as one:
            with pytest.raises(MCPError) as error:
                await one.call_tool("sing", {})
            return error.value.message

    assert "no tool 'sing'" in asyncio.run(told_of())
    assert studio.seen == []


def test_an_absent_server_is_a_refusal() -> None:
    with mcp_double() as gone:
        pass
    answer = called(gone, "server_status")
    assert told(answer, is_error=True)["code"] == "unreachable"
    assert "`./task start`" in said(answer)


def test_calls_are_served_side_by_side(studio: Studio) -> None:
    studio.results.append(result("Waiting.", {}))
    studio.hold = threading.Event()

    async def both() -> bool:
        async with bridge_to(studio.address) as calls, Client(bridge_server(StdioBridge(calls), "1")) as one:
            waiting = asyncio.create_task(one.call_tool("job_status", dict(STATUS)))
            await asyncio.to_thread(studio.held.wait, 20)
            hold, studio.hold = studio.hold, None
            await one.call_tool("server_status")
            was_waiting = not waiting.done()
            assert hold is not None
            hold.set()
            await waiting
            return was_waiting

    assert asyncio.run(both())


@pytest.mark.parametrize("mode", ERAS)
def test_a_recording_is_sent_and_its_job_told(studio: Studio, tmp_path: Path, mode: str) -> None:
    file = tmp_path / "Gespräch.wav"
    file.write_bytes(b"RIFF")
    studio.results.append(result("It waits.", {"job_id": JOB_ID, "state": "queued"}))
    answer = called(
        studio,
        "transcribe",
        mode,
        file=str(file),
        format="srt",
        language="de",
        title=None,
        idempotency_key="k",
    )
    upload, status = studio.seen
    assert (upload.path, upload.body) == ("/mcp/transcribe", b"RIFF")
    assert upload.query == {"format": "srt", "language": "de"}
    assert upload.headers["idempotency-key"] == "k"
    assert (status.params["name"], arguments(studio)) == ("job_status", {"job_id": JOB_ID})
    assert (said(answer), told(answer)["state"]) == ("It waits.", "queued")


def test_a_recording_that_was_sent_is_told_although_the_server_went(studio: Studio, tmp_path: Path) -> None:
    file = tmp_path / "talk.wav"
    file.write_bytes(b"RIFF")
    taken = json.dumps({"id": JOB_ID, "status": "queued", "queue_position": 3}).encode()
    studio.planned.extend([Raw(202, taken), Raw(CUT)])
    answer = called(studio, "transcribe", file=str(file))
    assert told(answer) == {"job_id": JOB_ID, "state": "queued", "queue_position": 3}
    assert "job_status" in said(answer)


def test_a_refused_recording_is_told_of_the_argument(studio: Studio, tmp_path: Path) -> None:
    file = tmp_path / "talk.txt"
    file.write_bytes(b"no sound")
    studio.planned.append(refusal(400, "invalid_field", field="audio"))
    refused = told(called(studio, "transcribe", file=str(file)), is_error=True)
    assert (refused["code"], refused["field"]) == ("invalid_field", "file")
    assert refused["message"].startswith(f"{file} was not taken")
    assert "Refused for invalid_field." in refused["message"]
    assert refused["message"].endswith("call the tool again.")


def test_an_earlier_jobs_audio_is_the_servers_to_find(studio: Studio) -> None:
    studio.results.append(result("Queued.", {}))
    called(studio, "transcribe", job_id=JOB_ID, file=None)
    assert arguments(studio)["job_id"] == JOB_ID


@pytest.mark.parametrize(
    ("sent", "code", "words"),
    [
        ({}, "missing_input", "job_id"),
        ({"file": None, "job_id": None}, "missing_input", "file"),
        ({"file": "/nowhere.wav", "job_id": JOB_ID}, "invalid_field", "not both"),
        ({"file": "/nowhere.wav"}, "invalid_field", "/nowhere.wav"),
        ({"file": "/"}, "invalid_field", "folder"),
        ({"file": ""}, "invalid_field", "file"),
        ({"file": 7}, "invalid_field", "file"),
        ({"file": "talk.wav"}, "invalid_field", "whole path"),
        ({"file": "/nowhere.wav", "lang": "en"}, "unknown_field", "language"),
        ({"file": "/nowhere.wav", "format": "doc"}, "invalid_field", "format"),
    ],
)
def test_a_transcription_of_nothing_is_told(
    studio: Studio, sent: dict[str, Any], code: str, words: str
) -> None:
    answer = called(studio, "transcribe", **sent)
    refused = told(answer, is_error=True)
    assert refused["code"] == code
    assert words in refused["message"]
    assert refused["message"] == said(answer)
    assert studio.seen == []


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("name", ["", "mine.mp3"])
def test_a_finished_file_is_saved(studio: Studio, tmp_path: Path, mode: str, name: str) -> None:
    studio.complete(FILE)
    answer = called(studio, "job_status", mode, **STATUS, save_to=str(tmp_path / name))
    path = tmp_path / (name or "harbour-lamps.mp3")
    assert arguments(studio, 0) == STATUS
    assert path.read_bytes() == FILE
    assert list(tmp_path.iterdir()) == [path]
    assert told(answer)["saved_to"] == str(path)
    assert said(answer) == f"Saved to {path} (10 KiB). It is complete."
    assert isinstance(answer.content[1], ResourceLink)


@pytest.mark.parametrize(("name", "is_told"), [("mine.flac", True), ("mine", True), ("mine.MP3", False)])
def test_a_name_that_ends_otherwise_than_the_format_is_told(
    studio: Studio, tmp_path: Path, name: str, is_told: bool
) -> None:
    studio.complete(FILE)
    answer = called(studio, "job_status", **STATUS, save_to=str(tmp_path / name))
    assert (tmp_path / name).read_bytes() == FILE
    notes = told(answer).get("notes", [])
    assert len(notes) == is_told
    for note in notes:
        assert f"{name} is audio/mpeg, whose names end in .mp3" in note
        assert note in said(answer)


def test_ogg_is_the_ending_of_opus_too(studio: Studio, tmp_path: Path) -> None:
    studio.complete(FILE, name="harbour-lamps.opus")
    answer = called(studio, "job_status", **STATUS, save_to=str(tmp_path / "mine.ogg"))
    assert "notes" not in told(answer)


def test_it_is_saved_from_the_server_that_was_named_alone(studio: Studio, tmp_path: Path) -> None:
    studio.complete(FILE, f"https://songs.example/studio{LINK_PATH}")
    called(studio, "job_status", **STATUS, save_to=str(tmp_path))
    assert studio.seen[1].path == LINK_PATH
    assert (tmp_path / "harbour-lamps.mp3").read_bytes() == FILE


@pytest.mark.parametrize(
    "url", ["https://songs.example/song.mp3", "file:///etc/passwd", "http://a/artifacts/x/..%2Fb"]
)
def test_no_other_link_is_followed(studio: Studio, tmp_path: Path, url: str) -> None:
    studio.complete(FILE, url)
    refused = told(called(studio, "job_status", **STATUS, save_to=str(tmp_path)), is_error=True)
    assert refused["code"] == "wrong_service"
    assert (len(studio.seen), list(tmp_path.iterdir())) == (1, [])


def test_what_is_there_stays_and_nobody_waits_for_it(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "mine.mp3"
    path.write_bytes(b"old")
    (tmp_path / "harbour-lamps.mp3").write_bytes(b"older")
    studio.complete(FILE)
    for place, asked in ((path, {"job_id": JOB_ID}), (tmp_path, STATUS)):
        answer = called(studio, "job_status", **STATUS, save_to=str(place))
        assert arguments(studio) == asked
        refused = told(answer, is_error=True)
        assert (refused["code"], refused["state"]) == ("file_exists", "complete")
        assert refused["url"].endswith(LINK_PATH)
        assert said(answer) == f"{refused['message']} It is complete."
        assert isinstance(answer.content[1], ResourceLink)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {
        "mine.mp3": b"old",
        "harbour-lamps.mp3": b"older",
    }


def test_a_folder_that_is_to_be_is_not_made(studio: Studio, tmp_path: Path) -> None:
    studio.results.append(result("It waits.", {"job_id": JOB_ID, "state": "queued"}))
    for place in (f"{tmp_path}/new/", f"{tmp_path}/new/song.mp3"):
        refused = told(called(studio, "job_status", **STATUS, save_to=place), is_error=True)
        assert (refused["code"], refused["state"]) == ("no_such_folder", "queued")
    assert [arguments(studio, index) for index in (0, 1)] == [{"job_id": JOB_ID}] * 2
    assert names_in(tmp_path) == []


def test_a_job_that_there_is_not_is_told_before_the_place(studio: Studio) -> None:
    studio.results.append(result("Unknown.", {"code": "unknown_job"}, is_error=True))
    answer = called(studio, "job_status", **STATUS, save_to="/dev/null")
    assert (told(answer, is_error=True)["code"], said(answer)) == ("unknown_job", "Unknown.")


def test_a_place_that_is_not_a_whole_path_is_told_at_once(studio: Studio) -> None:
    refused = told(called(studio, "job_status", **STATUS, save_to="songs/a.mp3"), is_error=True)
    assert (refused["code"], refused["field"]) == ("invalid_field", "save_to")
    assert "~/Music/a.mp3" in refused["message"]
    assert studio.seen == []


@pytest.mark.parametrize("state", ["queued", "generating"])
def test_what_is_not_finished_is_not_saved_and_that_is_said(
    studio: Studio, tmp_path: Path, state: str
) -> None:
    studio.results.append(result("It waits.", {"job_id": JOB_ID, "state": state}))
    answer = called(studio, "job_status", **STATUS, save_to=str(tmp_path))
    assert told(answer) == {"job_id": JOB_ID, "state": state}
    assert said(answer).startswith("It waits. ")
    assert "save_to again" in said(answer)


@pytest.mark.parametrize(
    ("answer", "is_error"), [({"state": "failed", "code": "x"}, False), ({"code": "unknown_job"}, True)]
)
def test_what_never_will_be_is_told_alone(
    studio: Studio, tmp_path: Path, answer: dict[str, Any], is_error: bool
) -> None:
    studio.results.append(result("It failed.", answer, is_error=is_error))
    got = called(studio, "job_status", **STATUS, save_to=str(tmp_path))
    assert (said(got), told(got, is_error=is_error)) == ("It failed.", answer)


def test_a_job_without_a_link_is_told(studio: Studio, tmp_path: Path) -> None:
    studio.results.append(result("It is complete.", {"job_id": JOB_ID, "state": "complete"}))
    refused = told(called(studio, "job_status", **STATUS, save_to=str(tmp_path)), is_error=True)
    assert refused["code"] == "no_link"


def test_a_broken_download_goes_on(studio: Studio, tmp_path: Path) -> None:
    studio.complete(FILE)
    studio.cuts.append(1000)
    called(studio, "job_status", **STATUS, save_to=str(tmp_path))
    assert (tmp_path / "harbour-lamps.mp3").read_bytes() == FILE


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Denied")])
def test_a_download_that_cannot_be_written_leaves_nothing(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def fail(file: object, chunk: bytes) -> None:
        raise error

    monkeypatch.setattr("server.commands.new_file.NewFile.write", fail)
    studio.complete(FILE)
    refused = told(called(studio, "job_status", **STATUS, save_to=str(tmp_path)), is_error=True)
    assert refused["code"] == ("disk_full" if error.errno == 28 else "not_saved")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_came_meanwhile_stays(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.mp3"
    link = os.link

    def late(source: Path, target: Path) -> None:
        path.write_bytes(b"another's")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    studio.complete(FILE)
    refused = told(called(studio, "job_status", **STATUS, save_to=str(path)), is_error=True)
    assert refused["code"] == "file_exists"
    assert path.read_bytes() == b"another's"
    assert list(tmp_path.iterdir()) == [path]


def test_a_call_that_is_given_up_leaves_nothing(studio: Studio, tmp_path: Path) -> None:
    studio.complete(FILE)
    studio.cuts.append(1000)
    begun = asyncio.Event()

    async def never(seconds: float) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def given_up() -> list[str]:
        async with StudioCalls(studio.address, "", "1", sleep=never) as calls:
            async with Client(bridge_server(StdioBridge(calls), "1"), mode="legacy") as one:
                asked = {**STATUS, "save_to": str(tmp_path)}
                waiting = asyncio.create_task(one.call_tool("job_status", asked))
                await asyncio.wait_for(begun.wait(), 20)
                assert len(names_in(tmp_path)) == 1
                waiting.cancel()
                await asyncio.wait([waiting])
            return names_in(tmp_path)

    assert asyncio.run(given_up()) == []
