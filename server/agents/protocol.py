"""MCP: what the SDK's server lists and calls, and what tools answer in the protocol's words."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ContentBlock,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from server.agents.answer import ToolAnswer
from server.agents.arguments import input_schema
from server.agents.errors import UnknownTool
from server.agents.guides import GUIDE_TYPE, GUIDES, guide_text
from server.agents.prompts import PROMPTS, UnsuitablePrompt, completions, prompt_text
from server.agents.refusals import Kept
from server.agents.tools import INSTRUCTIONS, TOOLS
from server.agents.visit import Visit
from server.jobs.containment import outline
from storage.entry import JSON

SERVER_NAME: Final = "yue2-studio"
WEBSITE: Final = "YuE2 Studio"
_HOUR_MS: Final = 3_600_000
_FIXED: Final = CacheHint(ttl_ms=_HOUR_MS, scope="public")  # lists and guides change with the release alone

Context = ServerRequestContext[object, object]
_log: Final = logging.getLogger(__name__)

CallTool = Callable[[Context, str, Mapping[str, JSON]], Awaitable[CallToolResult]]
"""Calls the tool of that name; raises UnknownTool."""


class Desk(Protocol):
    """What answers the tools."""

    async def call(self, name: str, arguments: Mapping[str, JSON], visit: Visit) -> ToolAnswer:
        """One tool's answer or refusal. Raises UnknownTool."""


def build_mcp_server(call_tool: CallTool, release: str, tools: Sequence[Tool]) -> Server[object]:
    """The SDK's server over these tools; guides and prompts are the same whoever calls the tools."""
    handlers = _Answers(call_tool, tools)
    server = Server[object](
        SERVER_NAME,
        version=release,
        title=WEBSITE,
        instructions=INSTRUCTIONS,
        cache_hints={
            "tools/list": _FIXED,
            "resources/list": _FIXED,
            "resources/templates/list": _FIXED,
            "resources/read": _FIXED,
            "prompts/list": _FIXED,
            "server/discover": _FIXED,
        },
        get_tool_input_schema=_unmirrored,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
    )
    server.middleware[:] = [_explained]  # in place of a span for each message, which nobody here collects
    return server


async def _explained(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Answers what a message's handler fails with: params that are not as they should be, or an error of ours.

    Its words would be logged and sent, which may be those of a request.
    """
    with Kept() as kept:
        return await call_next(ctx)
    error = kept.error
    if isinstance(error, ValidationError):
        wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step)[:80] for step in wrong["loc"])
        raise MCPError(
            INVALID_PARAMS, f"{place or 'params'} is not as {ctx.method[:80]} has it: {wrong['msg']}."
        )
    if error is None or isinstance(error, MCPError):
        raise error or TypeError("A message that raised nothing was answered.")
    _log.error("A message of an agent's failed: %s", outline(error))
    raise MCPError(INTERNAL_ERROR, "Something went wrong inside the server; its log says what.")


def _unmirrored(tool: str) -> None:
    """No argument of any tool is told in a header too (`x-mcp-header`), so the SDK need not look for one in each call."""


def calling(desk: Desk, visit_of: Callable[[Context], Visit]) -> CallTool:
    """Has the desk answer; what to retry after is left with the visit."""

    async def call_tool(context: Context, name: str, arguments: Mapping[str, JSON]) -> CallToolResult:
        visit = visit_of(context)
        visit.let_others()
        answer = await desk.call(name, arguments, visit)
        visit.retry_after_seconds = answer.retry_after_seconds
        return result_of(answer)

    return call_tool


def result_of(answer: ToolAnswer) -> CallToolResult:
    """A tool's answer in the protocol's words: text first, then links, and the same for programs."""
    content: list[ContentBlock] = [TextContent(text=answer.sentence)]
    content += [TextContent(text=text) for text in answer.texts]
    content += [
        ResourceLink(
            name=link.name,
            uri=link.url,
            mime_type=link.mime_type,
            size=link.size_bytes,
            description=link.description,
        )
        for link in answer.links
    ]
    return CallToolResult(content=content, structured_content=dict(answer.told), is_error=answer.is_refused)


def listed_tools() -> tuple[Tool, ...]:
    """The tools as they are listed, always in the same order."""
    return tuple(
        Tool(
            name=card.name,
            title=card.title,
            description=card.description,
            input_schema=input_schema(card.name),
            annotations=ToolAnnotations(
                title=card.title,
                read_only_hint=card.read_only,
                destructive_hint=card.destructive,
                idempotent_hint=card.idempotent,
                open_world_hint=card.open_world,
            ),
        )
        for card in TOOLS
    )


class _Answers:
    """Answers the protocol's requests; holds nothing that changes."""

    def __init__(self, call_tool: CallTool, tools: Sequence[Tool]) -> None:
        self._call_tool = call_tool
        self._tools = list(tools)
        self._guides = {guide.uri: guide_text(guide.topic) for guide in GUIDES}
        self._resources = [
            Resource(
                name=guide.name,
                title=guide.title,
                uri=guide.uri,
                description=guide.description,
                mime_type=GUIDE_TYPE,
                size=len(self._guides[guide.uri].encode()),
            )
            for guide in GUIDES
        ]

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        _check_first(params)
        return ListToolsResult(tools=self._tools)

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        try:
            return await self._call_tool(context, params.name, params.arguments or {})
        except UnknownTool as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None

    async def list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        _check_first(params)
        return ListResourcesResult(resources=self._resources)

    async def list_resource_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        _check_first(params)
        return ListResourceTemplatesResult(resource_templates=[])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        text = self._guides.get(params.uri)
        if text is None:
            known = ", ".join(self._guides)
            raise MCPError(INVALID_PARAMS, f"There is no resource {params.uri[:200]!r}; there are {known}.")
        contents = TextResourceContents(uri=params.uri, mime_type=GUIDE_TYPE, text=text)
        return ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        _check_first(params)
        return ListPromptsResult(
            prompts=[
                Prompt(
                    name=card.name,
                    title=card.title,
                    description=card.description,
                    arguments=[
                        PromptArgument(
                            name=argument.name, description=argument.description, required=argument.required
                        )
                        for argument in card.arguments
                    ],
                )
                for card in PROMPTS
            ]
        )

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        try:
            text = prompt_text(params.name, params.arguments or {})
        except UnsuitablePrompt as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        card = next(card for card in PROMPTS if card.name == params.name)
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=card.description, messages=[message])

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        values = list(completions(params.argument.name, params.argument.value))
        return CompleteResult(completion=Completion(values=values, total=len(values), has_more=False))


def _check_first(params: PaginatedRequestParams | None) -> None:
    """Raise MCPError where a list is to go on: each is whole, so that nobody was given a place to go on from."""
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "There is no such cursor; leave it out: the whole list is one answer.")
