"""The official SDK's client, called from a test's own thread."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from typing import Any, Final, ParamSpec, TextIO, TypeVar

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ResourceLink, TextContent

from tests.agents.wire import MODERN

ERAS: Final = ("legacy", MODERN)
ENDED: Final = ("complete", "failed", "cancelled")
P = ParamSpec("P")
R = TypeVar("R")


class Agent:
    """A client that is connected, with its loop in another thread, to which every call is handed."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def do(self, call: Callable[P, Awaitable[R]], *args: P.args, **options: P.kwargs) -> R:
        """Have one of the client's own methods called."""

        async def called() -> R:
            return await call(*args, **options)

        return self._portal.call(called)

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """What a tool answers, refused or not."""
        return self.do(self.client.call_tool, tool, arguments)

    def told(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool that does not refuse tells in its structured content."""
        answer = self.call(tool, **arguments)
        assert not answer.is_error, answer
        return structured(answer)

    def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool that refuses tells; the text is the same message."""
        answer = self.call(tool, **arguments)
        assert answer.is_error, answer
        told = structured(answer)
        assert told["message"] in sentence(answer)
        return told

    def ended(self, job_id: str) -> CallToolResult:
        """What job_status answers of a job that has ended, waited for as its own sentence asks to."""
        while True:
            answer = self.call("job_status", job_id=job_id, wait_seconds=45)
            assert not answer.is_error, answer
            if structured(answer)["state"] in ENDED:
                return answer

    def made(self, tool: str, **arguments: Any) -> CallToolResult:
        """What job_status says of the job that a tool makes, once it is complete."""
        answer = self.ended(self.told(tool, **arguments)["job_id"])
        assert structured(answer)["state"] == "complete", answer
        return answer


def structured(answer: CallToolResult) -> dict[str, Any]:
    """The structured content, which is always one object here."""
    assert isinstance(answer.structured_content, dict), answer
    return dict(answer.structured_content)


def texts(answer: CallToolResult) -> list[str]:
    """The texts of an answer, in order."""
    return [part.text for part in answer.content if isinstance(part, TextContent)]


def sentence(answer: CallToolResult) -> str:
    """What an answer says first."""
    assert isinstance(answer.content[0], TextContent)
    return answer.content[0].text


def links(answer: CallToolResult) -> list[ResourceLink]:
    """The links of an answer."""
    return [part for part in answer.content if isinstance(part, ResourceLink)]


def link(answer: CallToolResult) -> ResourceLink:
    """The one link of an answer."""
    (found,) = links(answer)
    return found


@asynccontextmanager
async def over_http(url: str, mode: str, headers: Mapping[str, str]) -> AsyncIterator[Client]:
    """The client on the server's /mcp."""
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=60, trust_env=False, verify=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(command: StdioServerParameters, said: TextIO, mode: str) -> AsyncIterator[Client]:
    """The client on a process of its own, whose stderr is `said`."""
    async with Client(stdio_client(command, said), mode=mode) as client:
        yield client


@contextmanager
def calling(connection: AbstractAsyncContextManager[Client]) -> Iterator[Agent]:
    """An agent on a connection; a test's own failure is kept from the client, which would wrap it in groups."""
    with start_blocking_portal() as portal, ExitStack() as closing:
        connected = portal.wrap_async_context_manager(connection)
        client = connected.__enter__()
        closing.callback(connected.__exit__, None, None, None)
        yield Agent(portal, client)


@contextmanager
def agent(url: str, mode: str = MODERN, headers: Mapping[str, str] | None = None) -> Iterator[Agent]:
    """An agent of a server, until the block is left."""
    with calling(over_http(url, mode, headers or {})) as made:
        yield made


@contextmanager
def agent_over_stdio(command: StdioServerParameters, said: TextIO, mode: str = MODERN) -> Iterator[Agent]:
    """An agent that starts a command and speaks with it, until the block is left."""
    with calling(over_stdio(command, said, mode)) as made:
        yield made
