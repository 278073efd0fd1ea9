"""MCP over stdin and stdout, before a server elsewhere: what is listed is this release's, what is called is the server's.

Two tools reach the files of this computer, which the server cannot: `transcribe` sends a recording, `job_status` saves what
was made.
"""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import anyio
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent, Tool
from pydantic import Field

from engine.errors import InvalidRequest
from engine.request_types import Text
from server.agents.answer import ToolAnswer
from server.agents.arguments import INPUTS, RECORDING, Creating, Inputs, Writing, input_schema, read_as
from server.agents.errors import UnknownTool
from server.agents.protocol import Context, build_mcp_server, listed_tools, result_of
from server.agents.states import COMPLETE, size_of
from server.agents.tools import INSTRUCTIONS
from server.client.answers import Submission
from server.client.download import Download
from server.commands.bridge_errors import BridgeRefusal
from server.commands.bridge_files import check_place, file_at, named_in, path_in, recording_in, saving
from server.commands.file_formats import AUDIO
from server.commands.new_file import NewFile
from server.commands.studio_calls import StudioCalls
from server.errors import answer_for
from server.uploads import RECORDING_PART
from storage.entry import JSON

PENDING: Final = ("queued", "generating")
TRANSCRIBE: Final = "transcribe"
JOB_STATUS: Final = "job_status"
_FILE: Final = (
    "The whole path of a recording on this computer (~ works), of at most 64 MiB, in place of job_id: WAV, FLAC, MP3 or Ogg, "
    "and where the server can read them M4A, WebM and video."
)
_SAVE_TO: Final = (
    "Where on this computer to save the finished file: the whole path (~ works) of a new file, or of a folder, where it gets "
    "its own name. A file that is there already is left as it is, and nothing is converted: end the name as the format does."
)
_MORE: Final[Mapping[str, tuple[str, str, str]]] = {
    TRANSCRIBE: (
        "A recording on this computer is written down as well: give its path as file, in place of job_id.",
        "file",
        _FILE,
    ),
    JOB_STATUS: (
        "With save_to the finished file is also saved on this computer; saved_to then tells where.",
        "save_to",
        _SAVE_TO,
    ),
}
_NOT_YET: Final = " Nothing is saved yet: give save_to again with the call that is to save it."
_INSTRUCTIONS: Final = (
    "Files of the user's computer can be used too: give job_status a save_to and the finished file is saved there; give "
    "transcribe a file and that recording is written down."
)


class Uploading(Creating, Writing):
    """What `transcribe` takes with a recording, beside its request."""

    file: Text = Field(min_length=1, description=_FILE)


_UPLOAD: Final = Inputs(Uploading, RECORDING.request, RECORDING.fields)


class StdioBridge:
    """Answers tools by a server's; holds no state. `mark` draws names for files that are not finished."""

    def __init__(self, studio: StudioCalls, mark: Callable[[], str] = secrets.token_hex) -> None:
        self._studio = studio
        self._mark = mark

    async def call_tool(self, _: Context, name: str, arguments: Mapping[str, JSON]) -> CallToolResult:
        """What the server's tool of that name answers, or why it was not asked. Raises UnknownTool."""
        if name not in INPUTS:
            raise UnknownTool(name)
        try:
            if name == TRANSCRIBE and _names_a_file(arguments):
                return await self._uploaded(arguments)
            if name == JOB_STATUS and arguments.get("save_to") is not None:
                return await self._saved(arguments)
            return await self._studio.call(name, arguments)
        except BridgeRefusal as refusal:
            return result_of(refusal.answer())
        except InvalidRequest as error:
            told: dict[str, JSON] = {
                "code": answer_for(error).code,
                "message": str(error),
                "field": error.field,
            }
            return result_of(ToolAnswer(told, str(error), is_refused=True))

    async def _uploaded(self, arguments: Mapping[str, JSON]) -> CallToolResult:
        """The job that was begun of a recording on this computer."""
        read = read_as(_UPLOAD, TRANSCRIBE, arguments)
        own = read.own.model_dump(exclude_unset=True)
        file = own.pop("file")
        recording = await anyio.to_thread.run_sync(recording_in, "file", file)
        key = own.pop("idempotency_key", "")
        options = {name: str(value) for name, value in {**read.payload, **own}.items()}
        try:
            job = await self._studio.upload(options, key, recording)
        except BridgeRefusal as refusal:
            raise _of_a_file(refusal, file) from refusal
        return await self._begun(job)

    async def _begun(self, job: Submission) -> CallToolResult:
        """What job_status says of a job that was just begun; only that it was, where nothing more can be learnt."""
        try:
            return await self._studio.call(JOB_STATUS, {"job_id": job.id})
        except BridgeRefusal:
            told: dict[str, JSON] = {
                "job_id": job.id,
                "state": "queued",
                "queue_position": job.queue_position,
            }
            return result_of(
                ToolAnswer(
                    told,
                    f'Queued as job "{job.id}"; since then the server has not answered. Call job_status with this job_id '
                    "and wait_seconds 45 until state is complete.",
                )
            )

    async def _saved(self, arguments: Mapping[str, JSON]) -> CallToolResult:
        """The job as it is, and its file saved where it is complete."""
        save_to = arguments["save_to"]
        place = path_in("save_to", save_to)
        rest = {name: value for name, value in arguments.items() if name != "save_to"}
        try:
            check_place(place, is_folder=str(save_to).endswith("/"))
        except BridgeRefusal as refusal:
            return await self._unsaved(refusal, rest)
        result = await self._studio.call(JOB_STATUS, rest)
        told = _told(result)
        if result.is_error or told.get("state") != COMPLETE:
            return _saying(result, after=_NOT_YET) if told.get("state") in PENDING else result
        try:
            kept, link = await self._kept(result, place)
        except BridgeRefusal as refusal:
            return _saying(result, before=f"{refusal} ", told=refusal.told, is_error=True)
        return _saying_saved(result, kept, link)

    async def _unsaved(self, refusal: BridgeRefusal, arguments: Mapping[str, JSON]) -> CallToolResult:
        """Why nothing can be saved, beside the job as it is now: there is nothing to wait for. Raises BridgeRefusal."""
        at_once = {name: value for name, value in arguments.items() if name != "wait_seconds"}
        result = await self._studio.call(JOB_STATUS, at_once)
        if result.is_error:
            return result
        return _saying(result, before=f"{refusal} ", told=refusal.told, is_error=True)

    async def _kept(self, result: CallToolResult, place: Path) -> tuple[Path, ResourceLink]:
        """Where the file behind the result's link is now, and that link; a folder takes it under its own name."""
        link = next((part for part in result.content if isinstance(part, ResourceLink)), None)
        if link is None or link.size is None:
            raise BridgeRefusal(
                "no_link",
                "Nothing was saved: no tool began this job, so it has no link. Without save_to the tool tells how its "
                "result is downloaded.",
            )
        path, name = named_in(link.uri)
        place = file_at(place, name)
        with saving(place):
            file = NewFile(place, self._mark())
            try:
                await self._studio.download(path, link.size, Download(file))
                await anyio.to_thread.run_sync(file.publish)
            finally:
                file.discard()
        return place, link


def bridge_server(bridge: StdioBridge, release: str) -> Server[object]:
    """The SDK's server before a bridge."""
    server = build_mcp_server(bridge.call_tool, release, bridged_tools())
    server.instructions = f"{INSTRUCTIONS}\n\n{_INSTRUCTIONS}"
    return server


def bridged_tools() -> tuple[Tool, ...]:
    """The tools, two of them with what reaches the files of this computer."""
    return tuple(_bridged(tool) if tool.name in _MORE else tool for tool in listed_tools())


def _bridged(tool: Tool) -> Tool:
    more, name, told = _MORE[tool.name]
    schema = input_schema(tool.name)
    properties = schema["properties"]
    required = schema.pop("required", [])
    if isinstance(properties, dict) and isinstance(required, list):
        schema["properties"] = {**properties, name: {"type": "string", "minLength": 1, "description": told}}
        still: list[JSON] = [one for one in required if name != "file" or one != "job_id"]
        schema |= {"required": still} if still else {}
    annotations = tool.annotations
    if annotations is not None and name == "save_to":
        annotations = annotations.model_copy(update={"read_only_hint": False})
    return tool.model_copy(
        update={
            "description": f"{tool.description}\n\n{more}",
            "input_schema": schema,
            "annotations": annotations,
        }
    )


def _names_a_file(arguments: Mapping[str, JSON]) -> bool:
    """Whether a recording here is to be written down, else an earlier job's audio. Raises BridgeRefusal for both, or neither."""
    has_file, has_job = (arguments.get(name) is not None for name in ("file", "job_id"))
    if has_file and has_job:
        raise BridgeRefusal(
            "invalid_field",
            "transcribe takes either file or job_id, not both. Leave one out and call the tool again.",
            {"field": "file"},
        )
    if not has_file and not has_job:
        raise BridgeRefusal(
            "missing_input",
            "transcribe needs something to write down: job_id, of a finished job, or file, the path of a recording on "
            "this computer. Call the tool again with one of them.",
        )
    return has_file


def _told(result: CallToolResult) -> dict[str, JSON]:
    told = result.structured_content
    return dict(told) if isinstance(told, dict) else {}


def _saying(
    result: CallToolResult,
    before: str = "",
    after: str = "",
    told: Mapping[str, JSON] | None = None,
    *,
    is_error: bool = False,
) -> CallToolResult:
    """The same result with more in its first sentence and in what programs read."""
    content: list[ContentBlock] = list(result.content)
    if content and isinstance(content[0], TextContent):
        content[0] = TextContent(text=f"{before}{content[0].text}{after}")
    return CallToolResult(
        content=content, structured_content={**_told(result), **(told or {})}, is_error=is_error
    )


def _saying_saved(result: CallToolResult, kept: Path, link: ResourceLink) -> CallToolResult:
    """The same result with where its file is now, and that its name ends otherwise, where it does."""
    told: dict[str, JSON] = {"saved_to": str(kept)}
    before = f"Saved to {kept} ({size_of(link.size or 0)}). "
    ending = Path(link.name).suffix
    if not _is_ending(kept.suffix.lower(), ending):
        note = f"What is in {kept.name} is {link.mime_type}, whose names end in {ending}: saving converts nothing."
        notes = _told(result).get("notes")
        told["notes"] = [*(notes if isinstance(notes, list) else []), note]
        before = f"{before}{note} "
    return _saying(result, before=before, told=told)


def _is_ending(ending: str, own: str) -> bool:
    """Whether a name that ends so tells what a file is whose own name ends otherwise."""
    return ending == own or AUDIO.get(ending, ending) == AUDIO.get(own, own)


def _of_a_file(refusal: BridgeRefusal, file: str) -> BridgeRefusal:
    """The server calls the recording by its own word, and does not know which file it was."""
    if refusal.told.get("field") != RECORDING_PART.name:
        return refusal
    message = f"{file} was not taken, so nothing was done. {refusal} Then call the tool again."
    return BridgeRefusal(refusal.code, message, {**refusal.told, "field": "file"})
