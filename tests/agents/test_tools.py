"""Every tool, by the SDK's client of each era, on the models that come along."""

import json
from typing import Any, Final

import jsonschema_rs
import pysubs2
import pytest
from mcp import MCPError
from mcp_types import PromptReference, TextContent, TextResourceContents

from engine.score import parse
from tests.agents.agent import Agent, link, links, sentence, structured, texts
from tests.clients.heard import hear
from tests.clients.studio import Studio
from tests.clients.texts import TEXT, is_understood

pytestmark = pytest.mark.runtime
CREATING: Final = ("create_song", "plan_score", "preview_score", "speak", "transcribe")
TOOLS: Final = (*CREATING, "job_status", "cancel_job", "list_models", "server_status", "writing_guide")
LYRICS: Final = "[Verse]\nThe river runs below the hill\nThe mill is old the wheel is still\n"
SONG: Final = {"style": "folk, 96 BPM, acoustic guitar", "lyrics": LYRICS, "duration": 20}
FORMATS: Final = {"mp3": "audio/mpeg", "opus": "audio/ogg", "flac": "audio/flac", "wav16": "audio/wav"}


def download(studio: Studio, url: str) -> bytes:
    """What lies behind a link."""
    answer = studio.native.get(url)
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.fixture(scope="module")
def spoken(caller: Agent) -> str:
    """The id of a job that has said TEXT."""
    return str(structured(caller.made("speak", text=TEXT))["job_id"])


def test_tools_are_described_for_one_who_knows_nothing(caller: Agent) -> None:
    tools = {tool.name: tool for tool in caller.do(caller.client.list_tools).tools}
    assert set(tools) == set(TOOLS)
    for name, tool in tools.items():
        assert tool.title
        assert tool.description
        assert len(tool.description) > 60
        assert tool.output_schema is None
        assert tool.annotations
        schema = tool.input_schema
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        jsonschema_rs.validator_for(schema)
        assert "$ref" not in json.dumps(schema)
        assert all(field.get("description") for field in schema["properties"].values()), name
    assert {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint} == {
        "job_status",
        "list_models",
        "server_status",
        "writing_guide",
    }
    assert all("job_status" in str(tools[name].description) for name in CREATING)


def test_the_guides_are_resources(caller: Agent) -> None:
    listed = caller.do(caller.client.list_resources).resources
    uris = {str(one.uri) for one in listed}
    assert uris == {
        "yue2://guide/lyrics",
        "yue2://guide/style-vocabulary",
        "yue2://guide/score-dialect",
    }
    assert caller.do(caller.client.list_resource_templates).resource_templates == []
    for one in listed:
        assert one.description
        assert one.mime_type == "text/markdown"
        (content,) = caller.do(caller.client.read_resource, str(one.uri)).contents
        assert isinstance(content, TextResourceContents)
        assert (content.uri, content.mime_type) == (one.uri, one.mime_type)
        assert len(content.text) > 500


@pytest.mark.parametrize(
    ("topic", "uri"),
    [
        ("lyrics", "yue2://guide/lyrics"),
        ("style", "yue2://guide/style-vocabulary"),
        ("score", "yue2://guide/score-dialect"),
    ],
)
def test_the_guides_are_a_tool_as_well(caller: Agent, topic: str, uri: str) -> None:
    (content,) = caller.do(caller.client.read_resource, uri).contents
    assert isinstance(content, TextResourceContents)
    assert content.text in "\n".join(texts(caller.call("writing_guide", topic=topic)))


def test_the_prompt_teaches_to_write_a_song(caller: Agent) -> None:
    (listed,) = caller.do(caller.client.list_prompts).prompts
    assert listed.name == "write_song"
    assert {one.name: bool(one.required) for one in listed.arguments or []} == {
        "topic": True,
        "mood": False,
        "genre": False,
    }
    told = caller.do(
        caller.client.get_prompt, "write_song", {"topic": "a lighthouse", "mood": "calm", "genre": "folk"}
    )
    words = "\n".join(one.content.text for one in told.messages if isinstance(one.content, TextContent))
    assert "a lighthouse" in words
    assert "create_song" in words
    assert "[Verse]" in words
    completed = caller.do(
        caller.client.complete,
        PromptReference(type="ref/prompt", name="write_song"),
        {"name": "genre", "value": "fo"},
    )
    assert "folk" in completed.completion.values


@pytest.mark.parametrize(
    "call",
    [
        lambda agent: agent.do(agent.client.call_tool, "make_coffee", {}),
        lambda agent: agent.do(agent.client.read_resource, "yue2://guide/coffee"),
        lambda agent: agent.do(agent.client.get_prompt, "make_coffee"),
    ],
    ids=["tool", "resource", "prompt"],
)
def test_what_there_is_not_is_an_error_of_the_protocol(caller: Agent, call: Any) -> None:
    with pytest.raises(MCPError) as told:
        call(caller)
    assert told.value.code == -32602


def test_a_song_is_made(caller: Agent, studio: Studio) -> None:
    answer = caller.made("create_song", **SONG, title="By the Old Mill")
    told = structured(answer)
    assert link(answer).name == "by-the-old-mill.mp3"
    heard = hear(download(studio, link(answer).uri))
    assert heard.codec.startswith("mp3")
    assert heard.seconds == pytest.approx(told["seconds"], abs=0.2)
    assert 3 < heard.seconds <= 21
    assert heard.loudness > 0.01
    assert any("seed" in note for note in told["notes"])


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_is_what_it_says(caller: Agent, studio: Studio, form: str) -> None:
    answer = caller.made("speak", text="One two three.", output_format=form)
    assert link(answer).mime_type == FORMATS[form]
    assert hear(download(studio, link(answer).uri)).loudness > 0.01


def test_a_score_is_planned_read_and_played(caller: Agent, studio: Studio) -> None:
    planned = caller.made("plan_score", style="folk, 96 BPM", lyrics=LYRICS)
    score = download(studio, link(planned).uri).decode()
    assert score in texts(planned)
    assert structured(planned)["text"] == score
    assert link(planned).mime_type == "text/vnd.abc"
    assert parse(score)
    played = caller.made("preview_score", abc=score, bars=2, output_format="wav16")
    assert hear(download(studio, link(played).uri)).loudness > 0.001
    sung = caller.told("create_song", abc=score, style="folk")
    assert caller.told("cancel_job", job_id=sung["job_id"])["job_id"] == sung["job_id"]
    caller.ended(sung["job_id"])


def test_what_was_said_is_written_down(caller: Agent, spoken: str) -> None:
    answer = caller.made("transcribe", job_id=spoken)
    assert is_understood(structured(answer)["text"])
    assert is_understood(texts(answer)[1])
    assert link(answer).name == "transcript.txt"


def test_what_was_said_is_written_down_as_json(caller: Agent, studio: Studio, spoken: str) -> None:
    answer = caller.made("transcribe", job_id=spoken, format="json")
    assert link(answer).mime_type == "application/json"
    assert is_understood(json.loads(download(studio, link(answer).uri))["text"])


@pytest.mark.parametrize("form", ["srt", "vtt"])
def test_what_was_said_is_written_down_as_subtitles(
    caller: Agent, studio: Studio, spoken: str, form: str
) -> None:
    answer = caller.made("transcribe", job_id=spoken, format=form)
    subtitles = pysubs2.SSAFile.from_string(download(studio, link(answer).uri).decode(), format_=form)
    assert is_understood(" ".join(line.plaintext for line in subtitles))


def test_a_native_job_is_written_down_too(caller: Agent, studio: Studio) -> None:
    job_id = studio.speak(TEXT)
    assert studio.finish(job_id)["status"] == "done"
    assert is_understood(structured(caller.made("transcribe", job_id=job_id))["text"])


def test_a_recording_is_uploaded(caller: Agent, studio: Studio, spoken: str) -> None:
    """What `yue2-studio mcp` does with a local file."""
    audio = download(studio, link(caller.ended(spoken)).uri)
    answer = studio.native.post("/mcp/transcribe", params={"format": "srt", "title": "Mine"}, content=audio)
    assert answer.status_code == 202, answer.text
    ended = caller.ended(answer.json()["id"])
    assert link(ended).name == "mine.srt"


def test_models_and_voices_are_listed(caller: Agent) -> None:
    told = caller.told("list_models")
    kinds = {one["kind"] for one in told["models"]}
    assert {"song", "speech", "transcription"} <= kinds
    voices = next(one["voices"] for one in told["models"] if one["kind"] == "speech")
    assert caller.made("speak", text="Hello.", voice=voices[0]["id"])


def test_the_server_tells_how_busy_it_is(caller: Agent) -> None:
    told = caller.told("server_status")
    assert told["queue"]["limit"] == 16
    assert told["agents"]["limit"] == 8
    assert told["agents"]["limit_files"] == 128


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "field"),
    [
        ("create_song", {"lyric": "la"}, "unknown_field", "lyric"),
        ("create_song", {**SONG, "duration": -3}, "invalid_field", "duration"),
        ("create_song", {**SONG, "duration": "long"}, "invalid_field", "duration"),
        ("create_song", {**SONG, "output_format": "midi"}, "invalid_field", "output_format"),
        ("create_song", {**SONG, "model": "caruso"}, "unknown_model", None),
        ("create_song", {**SONG, "title": "x" * 81}, "invalid_field", "title"),
        ("create_song", {**SONG, "idempotency_key": "a b"}, "invalid_field", "idempotency_key"),
        ("speak", {}, "missing_input", None),
        ("speak", {"text": "Hello.", "voice": "caruso"}, "invalid_field", "voice"),
        ("preview_score", {"abc": "no score"}, "invalid_score", None),
        ("transcribe", {}, None, "job_id"),
        ("transcribe", {"job_id": "0123456789abcdef"}, "unknown_job", None),
        ("transcribe", {"job_id": "0123456789abcdef", "format": "docx"}, "invalid_field", "format"),
        ("job_status", {"job_id": "0123456789abcdef"}, "unknown_job", None),
        ("job_status", {"job_id": "../../etc/passwd"}, "unknown_job", None),
        ("cancel_job", {"job_id": "0123456789abcdef"}, "unknown_job", None),
        ("list_models", {"all": True}, "unknown_field", "all"),
        ("writing_guide", {"topic": "coffee"}, "invalid_field", "topic"),
    ],
)
def test_what_is_wrong_is_told_with_its_code(
    caller: Agent, studio: Studio, tool: str, arguments: dict[str, Any], code: str | None, field: str | None
) -> None:
    before = studio.jobs
    told = caller.refused(tool, **arguments)
    assert code is None or told["code"] == code
    assert field is None or told["field"] == field
    assert studio.jobs == before


def test_a_score_is_refused_at_its_place(caller: Agent) -> None:
    told = caller.refused("preview_score", abc="X:1\nM:4/4\nL:1/4\nK:C\nCDEF|G^|")
    assert (told["code"], told["line"], told["column"]) == ("invalid_score", 5, 7)


def test_what_is_not_done_cannot_be_written_down(caller: Agent) -> None:
    job_id = caller.told("create_song", **{**SONG, "duration": 240, "lyrics": LYRICS * 6})["job_id"]
    assert caller.refused("transcribe", job_id=job_id)["code"] == "not_ready"
    caller.told("cancel_job", job_id=job_id)
    assert structured(caller.ended(job_id))["state"] == "cancelled"
    assert caller.refused("transcribe", job_id=job_id)["code"] == "not_ready"


def test_a_transcript_has_no_audio_to_write_down(caller: Agent, spoken: str) -> None:
    job_id = structured(caller.made("transcribe", job_id=spoken))["job_id"]
    told = caller.refused("transcribe", job_id=job_id)
    assert (told["code"], told["field"]) == ("invalid_field", "job_id")


def test_the_same_key_is_the_same_job(caller: Agent) -> None:
    key = f"tools-{caller.client.protocol_version}"
    first = caller.call("speak", text="Once.", idempotency_key=key)
    again = caller.call("speak", text="Once.", idempotency_key=key)
    assert structured(again)["job_id"] == structured(first)["job_id"]
    assert structured(again)["replayed"] is True
    assert structured(first).get("replayed") is not True
    assert link(caller.ended(structured(first)["job_id"]))
    done = caller.call("speak", text="Once.", idempotency_key=key)
    assert structured(done)["state"] == "complete"
    assert links(done)
    assert sentence(done)
