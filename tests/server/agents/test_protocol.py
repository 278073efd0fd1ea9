"""The SDK's server over a desk of the test's own, in this process: what it lists, calls and answers in each era."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import pytest
from mcp import Client, MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CacheableResult,
    PromptReference,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from server.agents.answer import Link, ToolAnswer
from server.agents.arguments import input_schema
from server.agents.errors import UnknownTool
from server.agents.guides import GUIDES, guide_text
from server.agents.prompts import PROMPTS, completions, prompt_text
from server.agents.protocol import SERVER_NAME, build_mcp_server, calling, listed_tools, result_of
from server.agents.tools import INSTRUCTIONS, TOOLS
from server.agents.visit import Visit
from storage.entry import JSON

R = TypeVar("R")
SONG: Final = Link("http://studio.test/artifacts/abc/ferry.mp3", "ferry.mp3", "audio/mpeg", 1234, "The song.")
DONE: Final = ToolAnswer({"state": "complete"}, "It is done.", (SONG,), ("X:1\nK:C\nC", "more"))
FULL: Final = ToolAnswer({"code": "queue_full"}, "The queue is full.", is_refused=True, retry_after_seconds=5)
SECRET: Final = "xylophonically"
ERAS: Final = ("legacy", "auto")
each_era = pytest.mark.parametrize("era", ERAS)


class Desk:
    """Gives the same answer to whoever calls; `fails` fails, `nobody` is no tool. Owner of the calls it was told of."""

    def __init__(self, answer: ToolAnswer = DONE) -> None:
        self.answer = answer
        self.calls: list[tuple[str, Mapping[str, JSON]]] = []

    async def call(self, name: str, arguments: Mapping[str, JSON], visit: Visit) -> ToolAnswer:
        self.calls.append((name, arguments))
        if name == "nobody":
            raise UnknownTool(name)
        if name == "fails":
            raise RuntimeError(SECRET)
        return self.answer


def visited(
    use: Callable[[Client], Awaitable[R]], era: str = ERAS[0], desk: Desk | None = None
) -> tuple[R, Visit]:
    """What a client makes of the server, and the visit that all its calls are."""

    async def run() -> tuple[R, Visit]:
        visit = Visit("ann", "http://studio.test", asyncio.Event())
        server = build_mcp_server(calling(desk or Desk(), lambda _: visit), "1.2.3", listed_tools())
        async with Client(server, mode=era) as client:
            return await use(client), visit

    return asyncio.run(run())


def refusal(use: Callable[[Client], Awaitable[object]], era: str) -> MCPError:
    """The protocol's error that a client is told."""

    async def run(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await use(client)
        return caught.value

    return visited(run, era)[0]


def test_an_answer_is_text_first_then_links_and_the_same_for_programs() -> None:
    result = result_of(DONE)
    assert result.structured_content == {"state": "complete"}
    assert result.is_error is False
    assert [type(block) for block in result.content] == [TextContent] * 3 + [ResourceLink]
    assert [block.text for block in result.content if isinstance(block, TextContent)] == [
        "It is done.",
        "X:1\nK:C\nC",
        "more",
    ]
    assert result.content[3] == ResourceLink(
        name="ferry.mp3",
        uri="http://studio.test/artifacts/abc/ferry.mp3",
        mime_type="audio/mpeg",
        size=1234,
        description="The song.",
    )


def test_a_refusal_is_an_answer_with_its_mark() -> None:
    result = result_of(FULL)
    assert (result.is_error, result.structured_content) == (True, {"code": "queue_full"})
    assert result.content == [TextContent(text="The queue is full.")]


@each_era
def test_a_call_reaches_the_desk_and_its_answer_the_caller(era: str) -> None:
    desk = Desk()

    async def call(client: Client) -> object:
        await client.call_tool("list_models")
        return await client.call_tool("speak", {"text": "Good morning", "seed": 3})

    answered, visit = visited(call, era, desk)
    expected = result_of(DONE)
    assert answered == expected.model_copy(update={"meta": getattr(answered, "meta", None)})
    assert desk.calls == [("list_models", {}), ("speak", {"text": "Good morning", "seed": 3})]
    assert visit.retry_after_seconds is None


@each_era
def test_when_to_call_again_is_left_with_the_visit(era: str) -> None:
    answered, visit = visited(lambda client: client.call_tool("speak", {"text": "a"}), era, Desk(FULL))
    assert (answered.is_error, visit.retry_after_seconds) == (True, 5)


@each_era
def test_tools_are_listed_as_their_cards_have_them(era: str) -> None:
    async def both(client: Client) -> object:
        return [(await client.list_tools()).tools for _ in range(2)]

    lists, _ = visited(both, era)
    assert lists == [list(listed_tools())] * 2
    for tool, card in zip(listed_tools(), TOOLS, strict=True):
        assert (tool.name, tool.title, tool.description) == (card.name, card.title, card.description)
        assert tool.input_schema == input_schema(card.name)
        assert tool.output_schema is None  # since refusals would have to be of it too
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is card.read_only
        assert tool.annotations.destructive_hint is card.destructive
        assert tool.annotations.idempotent_hint is card.idempotent
        assert tool.annotations.open_world_hint is card.open_world


@each_era
def test_who_answers_is_told_with_what_an_agent_should_know_first(era: str) -> None:
    async def told(client: Client) -> tuple[str, str | None, str | None]:
        assert client.server_info is not None
        return client.server_info.name, client.server_info.version, client.instructions

    assert visited(told, era)[0] == (SERVER_NAME, "1.2.3", INSTRUCTIONS)


@each_era
def test_guides_are_resources(era: str) -> None:
    async def read(client: Client) -> dict[str, str]:
        assert (await client.list_resource_templates()).resource_templates == []
        texts = {}
        for resource in (await client.list_resources()).resources:
            [contents] = (await client.read_resource(resource.uri)).contents
            assert isinstance(contents, TextResourceContents)
            assert (contents.uri, contents.mime_type) == (resource.uri, "text/markdown")
            assert resource.size == len(contents.text.encode())
            texts[resource.uri] = contents.text
        return texts

    assert visited(read, era)[0] == {guide.uri: guide_text(guide.topic) for guide in GUIDES}


@each_era
def test_prompts_are_filled_in_and_completed(era: str) -> None:
    [card] = PROMPTS

    async def use(client: Client) -> tuple[object, object]:
        [prompt] = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.title, prompt.description) == (card.name, card.title, card.description)
        assert [(a.name, a.description, a.required) for a in prompt.arguments or []] == [
            (argument.name, argument.description, argument.required) for argument in card.arguments
        ]
        filled = await client.get_prompt(card.name, {"topic": "the last ferry", "genre": "folk"})
        [message] = filled.messages
        completed = await client.complete(PromptReference(name=card.name), {"name": "genre", "value": "fo"})
        return message.content, completed.completion.values

    content, values = visited(use, era)[0]
    assert content == TextContent(text=prompt_text(card.name, {"topic": "the last ferry", "genre": "folk"}))
    assert values == list(completions("genre", "fo"))
    assert "folk" in completions("genre", "fo")


@each_era
@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda client: client.call_tool("nobody"), "'nobody'"),
        (lambda client: client.read_resource("yue2://guide/coffee"), "yue2://guide/lyrics"),
        (lambda client: client.get_prompt("write_poem"), "write_poem"),
        (lambda client: client.get_prompt("write_song", {}), "topic"),
        (lambda client: client.list_tools(cursor="2"), "leave it out"),
        (lambda client: client.list_resources(cursor="2"), "leave it out"),
        (lambda client: client.list_resource_templates(cursor="2"), "leave it out"),
        (lambda client: client.list_prompts(cursor="2"), "leave it out"),
    ],
    ids=["tool", "resource", "prompt", "argument", "tools", "resources", "templates", "prompts"],
)
def test_what_there_is_not_is_an_error_of_the_protocol(
    era: str, use: Callable[[Client], Awaitable[object]], said: str
) -> None:
    error = refusal(use, era)
    assert error.error.code == INVALID_PARAMS
    assert said in error.error.message


@each_era
def test_a_fault_of_ours_is_told_and_logged_without_its_words(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        error = refusal(lambda client: client.call_tool("fails"), era)
    assert error.error.code == INTERNAL_ERROR
    assert "log" in error.error.message
    assert SECRET not in error.error.message + caplog.text
    assert "RuntimeError at" in caplog.text


def test_lists_and_guides_may_be_kept_for_an_hour() -> None:
    async def hints(client: Client) -> list[tuple[int | None, str | None]]:
        kept: list[CacheableResult] = [
            await client.list_tools(),
            await client.list_resources(),
            await client.list_resource_templates(),
            await client.list_prompts(),
            await client.read_resource(GUIDES[0].uri),
        ]
        return [(result.ttl_ms, result.cache_scope) for result in kept]

    assert visited(hints, ERAS[1])[0] == [(3_600_000, "public")] * 5


def test_no_argument_is_told_in_a_header_too() -> None:
    """So that the SDK is spared looking for one in each call."""
    assert "x-mcp-header" not in str([tool.input_schema for tool in listed_tools()])
