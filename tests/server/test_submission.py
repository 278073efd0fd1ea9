"""The way of a submission: what is refused when, and that what was refused is not begun."""

import asyncio
import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message

from server.admission import Prepare
from server.errors import BodyTooLarge, TooManyStreams, TooManyUploads
from server.jobs.errors import InputsFull, QueueFull
from server.jobs.rates import Stage
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.settings import load
from server.submission import SUBMISSION, Read, Submissions
from server.work import Making, Packed, Prepared
from storage.entry import JSON

NEVER = "The body was read."


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    """The parts of a server with one place, whose worker does not run."""
    return assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_QUEUE_LIMIT": "1"}), LogRing())


def prepared(digest: str = "d", input_bytes: int = 0) -> Prepared:
    def work(making: Making) -> Packed:
        return Packed("text/plain", ())

    return Prepared("check", "none", (Stage("working", 1.0),), digest, work, input_bytes=input_bytes)


def request(present: bool = True, **headers: str) -> Request:
    """A request of which nothing is left to read, from a client that waits, or has gone."""

    async def receive() -> Message:
        if present:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": raw, "state": {"owner": ""}}
    return Request(scope, receive)


async def read(held: ExitStack) -> Prepare:
    return prepared


async def never(held: ExitStack) -> Prepare:
    raise AssertionError(NEVER)


def submit(parts: Parts, asked: Request, reading: Read = read, *, is_upload: bool = False) -> Response:
    submissions = Submissions(parts.gate, parts.book, parts.limits)
    return asyncio.run(submissions.submit(asked, 100, reading, is_upload=is_upload))


def test_what_is_accepted_is_answered_as_it_was_queued(parts: Parts) -> None:
    answer = submit(parts, request())
    told: dict[str, JSON] = json.loads(bytes(answer.body))
    assert (answer.status_code, tuple(told), told["status"]) == (202, SUBMISSION, "queued")


def test_a_known_key_is_answered_with_the_earlier_job_also_while_the_queue_is_full(parts: Parts) -> None:
    first = submit(parts, request(idempotency_key="k"))
    again = submit(parts, request(idempotency_key="k"))
    assert again.headers["idempotent-replay"] == "true"
    assert (first.status_code, again.status_code) == (202, 200)
    assert parts.queue.snapshot().rejected == 0


def test_whoever_gets_the_handle_of_a_known_key_uses_that_job(parts: Parts) -> None:
    used: list[str] = []
    submissions = Submissions(parts.gate, parts.book, parts.limits, used.append)
    for expected in (0, 1, 2):
        answer = asyncio.run(submissions.submit(request(idempotency_key="k"), 100, read))
        assert len(used) == expected
    assert set(used) == {json.loads(bytes(answer.body))["id"]}


def test_header_and_room_refuse_before_the_body_is_read(parts: Parts) -> None:
    with pytest.raises(BodyTooLarge):
        submit(parts, request(content_length="101"), never)
    submit(parts, request())
    with pytest.raises(QueueFull):
        submit(parts, request(), never)
    assert parts.queue.snapshot().rejected == 1


def test_a_queue_that_fills_while_the_body_is_read_refuses_before_it_is_checked(parts: Parts) -> None:
    checked: list[str] = []

    def prepare() -> Prepared:
        checked.append("checked")
        return prepared()

    async def slow(held: ExitStack) -> Prepare:
        parts.gate.admit(prepared(), "", "")
        return prepare

    with pytest.raises(QueueFull):
        submit(parts, request(), slow)
    assert (checked, parts.queue.snapshot().rejected) == ([], 1)


def test_only_an_upload_counts_by_what_it_says_of_its_size(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts.queue, "_most_input_bytes", 50)
    with pytest.raises(InputsFull):
        submit(parts, request(content_length="51"), never, is_upload=True)
    assert parts.queue.snapshot().rejected == 1
    assert submit(parts, request(content_length="51")).status_code == 202


def test_an_upload_that_did_not_say_its_size_is_counted_when_it_is_there(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def large(held: ExitStack) -> Prepare:
        return lambda: prepared(input_bytes=51)

    monkeypatch.setattr(parts.queue, "_most_input_bytes", 50)
    with pytest.raises(InputsFull):
        submit(parts, request(), large, is_upload=True)
    assert (parts.queue.snapshot().pending, parts.queue.snapshot().rejected) == (0, 1)


def test_one_that_finds_no_place_for_its_upload_counts_as_refused(parts: Parts) -> None:
    async def crowded(held: ExitStack) -> Prepare:
        raise TooManyUploads("uploads", 2)

    with pytest.raises(TooManyUploads):
        submit(parts, request(), crowded)
    assert parts.queue.snapshot().rejected == 1


def test_one_that_finds_no_turn_to_be_checked_counts_as_refused(parts: Parts) -> None:
    with ExitStack() as there:
        for _ in range(parts.limits.preparations.total):
            there.enter_context(parts.limits.preparations.slot())
        with pytest.raises(TooManyStreams):
            submit(parts, request())
    assert parts.queue.snapshot().rejected == 1


def test_what_a_client_asked_for_that_has_gone_is_not_begun(parts: Parts) -> None:
    let_go: list[str] = []

    async def holding(held: ExitStack) -> Prepare:
        held.callback(let_go.append, "upload")
        return prepared

    with pytest.raises(ClientDisconnect):
        submit(parts, request(present=False), holding)
    assert (let_go, parts.queue.snapshot().pending) == (["upload"], 0)
