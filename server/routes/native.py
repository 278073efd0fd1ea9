"""The native API: `/synth`, `/plan`, `/sketch` and what becomes of a job."""

import json
from collections.abc import AsyncGenerator, Callable, Set
from contextlib import ExitStack
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.errors import InvalidRequest
from engine.request import read_sketch, read_song
from server.admission import Prepare
from server.awaiting import FINISHED, until_ended
from server.bodies import parse_object
from server.calls.attendance import Attendance
from server.following import FollowResponse
from server.job_book import JobBook
from server.limits import MAX_BODY_BYTES, MAX_WAIT_SECONDS, Limits
from server.operations import Operations
from server.pinned_files import opened
from server.query import check_query
from server.responses import (
    EventStream,
    ResultResponse,
    followed_part,
    json_response,
    main_part,
    until_gone,
)
from server.submission import Submissions
from server.uploads import LATENTS_PART, REQUEST_PART, is_form, read_form
from server.watch import Watch
from server.work import Prepared
from storage.entry import Entry, Part
from storage.errors import EntryExpired, UnknownEntry

# What a query may name, and the parts that are meant: by their number, but subtitles by their format.
_PARTS = {
    "track": ("audio", "score"),
    "replay": ("replay",),
    "latents": ("latents",),
    "subtitles": ("srt", "vtt"),
}
READ_OPTIONS = ("id", "wait", "result", "follow", *_PARTS)


class NativeRoutes:
    """Handlers of the native API over the parts that decide."""

    def __init__(
        self,
        operations: Operations,
        submissions: Submissions,
        book: JobBook,
        watch: Watch,
        limits: Limits,
        attendance: Attendance,
    ) -> None:
        self._operations = operations
        self._submissions = submissions
        self._book = book
        self._watch = watch
        self._limits = limits
        self._attendance = attendance

    def routes(self) -> list[Route]:
        """The routes to mount at the root."""
        return [
            Route("/synth", self.synth, methods=["POST"]),
            Route("/plan", self.plan, methods=["POST"]),
            Route("/sketch", self.sketch, methods=["POST"]),
            Route("/job", self.job, methods=["GET", "POST", "DELETE"]),
            Route("/job/events", self.events, methods=["GET"]),
        ]

    async def synth(self, request: Request) -> Response:
        """Songs from style and lyrics, or from a score; a form brings the latents that only have to be decoded."""
        if not is_form(request):
            return await self._submissions.submit_json(request, read_song, self._operations.synth)

        async def read(held: ExitStack) -> Prepare:
            check_query(request)
            held.enter_context(self._limits.uploads.slot())
            parts = await read_form(request, [REQUEST_PART, LATENTS_PART])

            def prepare() -> Prepared:
                asked = read_song(parse_object(parts["request"].getvalue()))
                return self._operations.synth(asked, parts["latents"])

            return prepare

        return await self._submissions.submit(request, MAX_BODY_BYTES, read, is_upload=True)

    async def plan(self, request: Request) -> Response:
        """A score from style and lyrics."""
        return await self._submissions.submit_json(request, read_song, self._operations.plan)

    async def sketch(self, request: Request) -> Response:
        """An audio preview of a score."""
        return await self._submissions.submit_json(request, read_sketch, self._operations.sketch)

    async def job(self, request: Request) -> Response:
        """A job by its id: read, cancel, delete."""
        self._use(request)
        deeds = {"POST": self.change, "DELETE": self.remove}
        return await deeds.get(request.method, self.read)(request)

    def _use(self, request: Request) -> None:
        """Whoever asks for a job keeps it, also where the client of its synchronous call has gone."""
        job_id, owner = request.query_params.get("id", ""), request.state.owner
        if self._book.is_live(job_id, owner):
            self._attendance.use(job_id)

    async def read(self, request: Request) -> Response:
        """A job's state, waiting for its end where asked, or its result."""
        check_query(request, *READ_OPTIONS)
        job_id, owner = _job_id(request), request.state.owner
        query = request.query_params
        if "follow" in query:
            return await self._follow(request, job_id, owner)
        if {"result", *_PARTS} & query.keys():
            return await self._result(request, job_id, owner)
        seconds = _wait_seconds(query.get("wait"))
        if seconds and request.method != "HEAD":
            gone = partial(until_gone, request.receive)
            waited = until_ended(job_id, owner, seconds, gone, self._book, self._watch, self._limits)
            return json_response(await waited)
        return json_response(self._book.describe(job_id, owner))

    async def _result(self, request: Request, job_id: str, owner: str) -> Response:
        return await self._stored(request, job_id, owner, lambda entry: _asked_part(request, entry))

    async def _stored(
        self, request: Request, job_id: str, owner: str, chosen: Callable[[Entry], Part | None]
    ) -> Response:
        """The part of a stored result that is chosen, or all of it."""
        part = chosen(self._book.stored(job_id, owner))
        lease = await opened(lambda: self._book.lease(job_id, owner), self._limits)
        return ResultResponse(lease, part, request, self._limits)

    async def _follow(self, request: Request, job_id: str, owner: str) -> Response:
        """What can be followed of a job while it is made, as it was then where all is there already."""
        _check_follow(request)
        content_type = self._book.followed(job_id, owner)
        if not content_type:
            raise InvalidRequest(
                "follow",
                "This job's result cannot be followed while it is made; wait for its end and ask for the result.",
            )
        if self._book.describe(job_id, owner)["status"] == "done":
            return await self._stored(request, job_id, owner, followed_part)
        return FollowResponse(request, job_id, content_type, self._book, self._watch, self._limits)

    async def change(self, request: Request) -> Response:
        """Cancel a job."""
        check_query(request, "id", "cancel")
        job_id, owner = _job_id(request), request.state.owner
        if request.query_params.get("cancel") != "1":
            raise InvalidRequest("cancel", "POST /job cancels a job: send it as /job?id=…&cancel=1.")
        status, was_waiting = self._book.cancel(job_id, owner)
        if was_waiting:
            await self._limits.run_reserved(lambda: self._book.record_cancelled(job_id))
        return json_response({"status": status})

    async def remove(self, request: Request) -> Response:
        """Free a finished result before its time."""
        check_query(request, "id")
        job_id, owner = _job_id(request), request.state.owner
        await self._limits.run_reserved(lambda: self._book.delete(job_id, owner))
        return Response(status_code=204)

    async def events(self, request: Request) -> Response:
        """A job's states as server-sent events, the last of them its end."""
        check_query(request, "id")
        job_id, owner = _job_id(request), request.state.owner
        self._book.describe(job_id, owner)
        self._use(request)
        return EventStream(self._job_events(job_id, owner), self._limits.event_streams)

    async def _job_events(self, job_id: str, owner: str) -> AsyncGenerator[tuple[str, str], None]:
        with self._watch.subscribe(job_id) as changed:
            while True:
                changed.clear()
                try:
                    job = self._book.describe(job_id, owner)
                except (UnknownEntry, EntryExpired):  # deleted or expired between two looks
                    return
                yield "job", json.dumps(job, ensure_ascii=False)
                if job["status"] in FINISHED:
                    return
                await changed.wait()


def _job_id(request: Request) -> str:
    job_id = request.query_params.get("id", "")
    if not job_id:
        raise InvalidRequest("id", "Name the job: /job?id= followed by the id that its submission answered.")
    return job_id


def _wait_seconds(text: str | None) -> float:
    if text is None:
        return 0.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_WAIT_SECONDS:
        raise InvalidRequest("wait", f"wait must be a number of seconds from 0 to {MAX_WAIT_SECONDS}.")
    return seconds


def _check_follow(request: Request) -> None:
    """Raise InvalidRequest unless following is all that is asked for."""
    query = request.query_params
    if query["follow"] != "1":
        raise InvalidRequest("follow", "follow must be 1; leave it out to ask for the job's state.")
    others = query.keys() - {"id", "follow"}
    if others:
        raise InvalidRequest(
            min(others), "To follow a job is to ask for its result as it is made; ask for nothing else."
        )


def _asked_part(request: Request, entry: Entry) -> Part | None:
    """The part that the query names; where it names none the main one, or None for the whole body.

    Raises InvalidRequest where there is none such.
    """
    query = request.query_params
    if query.get("result", "1") != "1":
        raise InvalidRequest("result", "result must be 1; leave it out to ask for the job's state.")
    asked = [name for name in _PARTS if name in query]
    if len(asked) > 1:
        raise InvalidRequest(asked[1], "Ask for a track, a replay, latents or subtitles, one at a time.")
    if not asked:
        return main_part(entry)
    name, wanted = asked[0], query[asked[0]]
    for part in entry.parts:
        told = part.name if name == "subtitles" else str(part.track)
        if part.name in _PARTS[name] and told == wanted:
            return part
    raise InvalidRequest(name, _missing(name, wanted[:20], {part.name for part in entry.parts}))


def _missing(name: str, wanted: str, held: Set[str]) -> str:
    """What to say of a part that a result with parts of these names does not have."""
    if "score" in held and name == "replay":
        return "A plan has no replay; send its request again with the lm_seed that the job's notes tell."
    if held == {"latents"} and name == "track":
        return "Audio that was encoded is no track; latents=0 gives its latents."
    if "transcript" in held:
        return "A transcript is read with result=1, or as subtitles with subtitles=srt or subtitles=vtt."
    if name == "subtitles":
        return "Only a transcript can be had as subtitles."
    return f"This result has no {name} {wanted!r}; tracks are counted from 0."
