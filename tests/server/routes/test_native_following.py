"""`GET /job?follow=1`, and results that hold more than what they are named after."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from engine.catalogue import Catalogue
from server.app import build_app
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.protocol import protocol_class
from server.serve import product_routes
from server.settings import load
from tests.server.live import LiveServer, read_response, read_to_end
from tests.server.maker import AUDIO, REPLAY, Maker
from tests.server.product import Product


def made(studio: Product, maker: Maker, text: bytes = b"all of it") -> str:
    """Have a body made to its end; the job's id."""
    job_id = studio.parts.gate.admit(maker.prepared(), "", "").job_id
    maker.hold(text)
    maker.finish()
    assert studio.finish(job_id)["status"] == "done"
    return job_id


def test_a_finished_job_is_followed_as_its_result(studio: Product) -> None:
    job_id = made(studio, Maker())
    followed = studio.client.get(f"/job?id={job_id}&follow=1")
    result = studio.client.get(f"/job?id={job_id}&result=1")
    assert followed.content == result.content == b"all of it"
    assert followed.headers["etag"] == result.headers["etag"]
    assert result.headers["content-type"] == AUDIO
    assert result.headers["content-disposition"] == f'inline; filename="{job_id}.mp3"'
    part = studio.client.get(f"/job?id={job_id}&follow=1", headers={"Range": "bytes=4-5"})
    assert (part.status_code, part.content) == (206, b"of")


def test_each_part_of_such_a_body_can_be_had_alone(studio: Product) -> None:
    job_id = made(studio, Maker())
    assert studio.client.get(f"/job?id={job_id}&track=0").content == b"all of it"
    assert studio.client.get(f"/job?id={job_id}&replay=0").content == REPLAY
    assert studio.finish(job_id)["tracks"] == {
        "count": 1,
        "items": [{"content_type": AUDIO, "bytes": 9, "seconds": 1.0}],
    }


def test_a_failed_job_is_told_with_its_own_code(studio: Product) -> None:
    maker = Maker()
    job_id = studio.parts.gate.admit(maker.prepared(), "", "").job_id
    maker.fail(MemoryError())
    job = studio.finish(job_id)
    answer = studio.client.get(f"/job?id={job_id}&follow=1")
    assert (answer.status_code, answer.json()["code"]) == (500, "out_of_memory")
    assert answer.json()["error"] == job["error"]


def test_a_cancelled_job_is_told_as_cancelled(studio: Product) -> None:
    maker = Maker()
    job_id = studio.parts.gate.admit(maker.prepared(), "", "").job_id
    maker.hold(b"")
    assert studio.client.post(f"/job?id={job_id}&cancel=1").json() == {"status": "running"}
    maker.heed()
    studio.finish(job_id)
    answer = studio.client.get(f"/job?id={job_id}&follow=1")
    assert (answer.status_code, answer.json()["code"]) == (409, "cancelled")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("follow=0", "follow"),
        ("follow=true", "follow"),
        ("follow=1&wait=5", "wait"),
        ("follow=1&track=0", "track"),
    ],
)
def test_following_is_asked_for_alone(studio: Product, query: str, field: str) -> None:
    answer = studio.client.get(f"/job?id=0123456789abcdef&{query}")
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
        400,
        "invalid_field",
        field,
    )


def test_what_cannot_be_followed_is_refused(studio: Product) -> None:
    job_id = made(studio, Maker(followed=""))
    answer = studio.client.get(f"/job?id={job_id}&follow=1")
    assert (answer.status_code, answer.json()["field"]) == (400, "follow")
    unknown = studio.client.get("/job?id=0123456789abcdef&follow=1")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_job")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/job?id={}"),
        ("HEAD", "/job?id={}"),
        ("GET", "/job?id={}&wait=0.01"),
        ("GET", "/job?id={}&result=1"),
        ("GET", "/job?id={}&track=0"),
        ("HEAD", "/job?id={}&follow=1"),
        ("HEAD", "/job/events?id={}"),
        ("DELETE", "/job?id={}"),
        ("POST", "/job?id={}&cancel=1"),
    ],
)
def test_whoever_asks_for_the_job_of_a_synchronous_call_keeps_it(
    studio: Product, method: str, path: str
) -> None:
    maker = Maker()
    job_id = studio.parts.gate.admit(maker.prepared(), "", "").job_id
    expected = studio.parts.attendance._jobs
    studio.parts.attendance.expect(job_id, "")
    assert job_id in expected
    assert studio.client.request(method, path.format(job_id)).status_code < 500
    assert job_id not in expected
    maker.finish()
    studio.finish(job_id)


def test_asking_for_the_job_of_another_key_does_not(studio: Product) -> None:
    maker = Maker()
    job_id = studio.parts.gate.admit(maker.prepared(), "ann", "").job_id
    studio.parts.attendance.expect(job_id, "ann")
    assert studio.client.get(f"/job?id={job_id}").status_code == 404
    assert studio.client.get(f"/job/events?id={job_id}").status_code == 404
    assert job_id in studio.parts.attendance._jobs
    studio.parts.attendance.use(job_id)
    maker.finish()
    studio.parts.book.cancel(job_id, "ann")


@contextmanager
def served(folder: Path) -> Iterator[tuple[LiveServer, Parts]]:
    """The product behind a real socket, its worker running."""
    parts = assemble(load({"YUE2_RESULT_DIR": str(folder / "jobs")}), LogRing())
    app = build_app(parts, product_routes(parts, Catalogue()))
    bound = threading.Event()

    async def binding(scope: Scope, receive: Receive, send: Send) -> None:
        if not bound.is_set():
            parts.watch.bind(asyncio.get_running_loop())
            bound.set()
        await app(scope, receive, send)

    parts.worker.start()
    with LiveServer(binding, protocol_class()) as live:
        yield live, parts
    parts.watch.unbind()
    parts.book.close()
    assert parts.worker.stop(10.0)


def ask(client: socket.socket, job_id: str) -> None:
    client.sendall(f"GET /job?id={job_id}&follow=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())


def read_until(client: socket.socket, ending: bytes) -> bytes:
    received = b""
    while not received.endswith(ending):
        byte = client.recv(1)
        assert byte, received
        received += byte
    return received


def test_on_the_wire_pieces_are_chunks_and_the_last_one_ends_the_body(tmp_path: Path) -> None:
    maker = Maker()
    with served(tmp_path) as (live, parts), live.connect() as client:
        job_id = parts.gate.admit(maker.prepared(), "", "").job_id
        ask(client, job_id)
        maker.offer(b"one")
        head = read_until(client, b"\r\n\r\n").lower()
        assert b"transfer-encoding: chunked" in head
        assert b"content-length" not in head
        assert read_until(client, b"one\r\n") == b"3\r\none\r\n"
        maker.offer(b"fourth")
        assert read_until(client, b"fourth\r\n") == b"6\r\nfourth\r\n"
        maker.finish()
        assert read_until(client, b"0\r\n\r\n") == b"0\r\n\r\n"
        client.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert read_response(client)[0] == 200


def test_on_the_wire_a_failure_ends_the_connection_without_the_last_chunk(tmp_path: Path) -> None:
    maker = Maker()
    with served(tmp_path) as (live, parts), live.connect() as client:
        job_id = parts.gate.admit(maker.prepared(), "", "").job_id
        ask(client, job_id)
        maker.offer(b"one")
        read_until(client, b"one\r\n")
        maker.fail(MemoryError())
        assert read_to_end(client) == b""
        assert (parts.limits.followers.held, parts.limits.downloads.held) == (0, 0)
