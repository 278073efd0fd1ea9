import json
import os
import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from server.connection import Timeouts
from server.edge import SECURITY_HEADERS
from server.limits import Limits
from server.protocol import LOOKS, MAX_HEAD_BYTES, MAX_PIPELINED, GuardedProtocol, protocol_class
from server.responses import ResultResponse, json_response
from storage.entry import Entry, EntryState
from storage.store import Lease
from tests.server.live import PATIENCE_SECONDS, LiveServer, read_response, read_to_end

TIMEOUTS = Timeouts(
    head=0.3, body_idle=0.3, body_total=1.2, write=0.3, keep_alive=0.3, linger=0.3, least_rate=1000
)
MAX_BODY_BYTES = 200_000
BIG_BYTES = 64 * 1024 * 1024
PACE_SECONDS = 0.08


class Application:
    """A few routes whose events are told through `events`; `limits` belongs to the server's loop."""

    def __init__(self, big_file: Path) -> None:
        self.events: queue.Queue[str] = queue.Queue()
        self.limits = Limits()
        self.go_on = threading.Event()
        self._big_file = big_file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            await getattr(self, f"_{scope['path'].rpartition('/')[2]}")(request, scope, receive, send)
        except ClientDisconnect:
            self.events.put("disconnected")

    async def _echo(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        body = await request.body()
        await json_response({"bytes": len(body), "query": request.url.query})(scope, receive, send)

    async def _names(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """Names of the headers as they are once the body has been read."""
        await request.body()
        await json_response([name.decode() for name, _ in scope["headers"]])(scope, receive, send)

    async def _named(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """Gives the request an id, as the edge does."""
        scope["state"]["request_id"] = "given"
        await request.body()

    async def _early(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        await json_response({"early": True})(scope, receive, send)

    async def _farewell(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        await json_response({"early": True}, 413, {"Connection": "close"})(scope, receive, send)

    async def _wait(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        await request.body()
        self.events.put("waiting")
        await self.limits.run(self.go_on.wait)
        await json_response({"waited": True})(scope, receive, send)

    async def _vigil(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        self.events.put("waiting")
        while (await receive())["type"] != "http.disconnect":
            continue
        self.events.put("noticed")

    async def _unread(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """Reads nothing until it is told to, so that the server has to stop reading."""
        self.events.put("waiting")
        await self.limits.run(self.go_on.wait)
        await self._echo(request, scope, receive, send)

    async def _download(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        entry = Entry(
            "0" * 16,
            EntryState.STORED,
            "",
            0.0,
            expires_at=1.0,
            content_type="audio/mpeg",
            size_bytes=BIG_BYTES,
            sha256="a" * 64,
        )
        lease = Lease(entry, os.open(self._big_file, os.O_RDONLY), lambda: self.events.put("released"))
        await ResultResponse(lease, None, request, self.limits, send_seconds=PATIENCE_SECONDS)(
            scope, receive, send
        )


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    path = tmp_path_factory.mktemp("big") / "big"
    with path.open("wb") as file:
        file.truncate(BIG_BYTES)
    return Application(path)


@pytest.fixture(scope="module")
def live(application: Application) -> Iterator[LiveServer]:
    protocol = protocol_class(TIMEOUTS, max_connections=20, max_body_bytes=MAX_BODY_BYTES)
    with LiveServer(application, protocol) as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(application: Application) -> Iterator[None]:
    application.go_on.clear()
    while not application.events.empty():
        application.events.get_nowait()
    yield
    application.go_on.set()


def expect_event(application: Application, wanted: str) -> None:
    """Wait for an event; an earlier test's may still come before it."""
    while application.events.get(timeout=PATIENCE_SECONDS) != wanted:
        continue


def post(path: str, length: int, *extra: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {length}", *extra]
    return "\r\n".join([*lines, "", ""]).encode()


def get(path: str, *extra: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *extra, "", ""]).encode()


def trickle(client: socket.socket, piece: bytes, times: int) -> bool:
    """Send a piece at a pace until the server ends the connection; False where it took all of them."""
    client.settimeout(PACE_SECONDS)
    for _ in range(times):
        try:
            client.sendall(piece)
            if not client.recv(1000):
                return True
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return True
    return False


def test_silence_and_headers_that_do_not_end_are_ended(live: LiveServer) -> None:
    began = time.monotonic()
    with ExitStack() as stack:
        clients = [stack.enter_context(live.connect()) for _ in range(4)]
        for client, sent in zip(
            clients, (b"", b"G", b"GET /echo HTTP/1.1\r\nHost: x\r\n", b"\r\n"), strict=True
        ):
            client.sendall(sent)
        assert [read_to_end(client) for client in clients] == [b""] * 4
    assert TIMEOUTS.head * 0.9 < time.monotonic() - began < PATIENCE_SECONDS / 2


@pytest.mark.parametrize("piece", [b"X-A: b\r\n", b"a"])
def test_trickling_headers_do_not_prolong_the_deadline(live: LiveServer, piece: bytes) -> None:
    with live.connect() as client:
        client.sendall(b"GET /echo HTTP/1.1\r\n")
        assert trickle(client, piece, 50)


def test_trickling_line_ends_between_requests_do_not_either(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(get("/echo"))
        assert read_response(client)[0] == 200
        assert trickle(client, b"\r\n", 50)


def test_a_body_that_stops_is_ended_and_the_application_told(
    live: LiveServer, application: Application
) -> None:
    with live.connect() as client:
        client.sendall(post("/echo", 1000) + b"x" * 10)
        assert read_to_end(client) == b""
    expect_event(application, "disconnected")


def test_a_trickling_body_is_ended_when_its_whole_time_is_up(
    live: LiveServer, application: Application
) -> None:
    with live.connect() as client:
        client.sendall(post("/echo", 1000))
        began = time.monotonic()
        assert trickle(client, b"x", 100)
        assert time.monotonic() - began > TIMEOUTS.body_idle * 1.5
    expect_event(application, "disconnected")


def expect_patience(client: socket.socket, application: Application) -> None:
    """The server waits longer than a body may stand still, then reads on."""
    expect_event(application, "waiting")
    client.settimeout(TIMEOUTS.body_idle * 1.6)
    with pytest.raises(TimeoutError):
        client.recv(1)
    application.go_on.set()
    client.settimeout(PATIENCE_SECONDS)


def test_a_slow_but_steady_upload_lives(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(post("/echo", 600))
        assert not trickle(client, b"x" * 100, 5)
        client.settimeout(PATIENCE_SECONDS)
        client.sendall(b"x" * 100)
        status, _, body = read_response(client)
    assert (status, json.loads(body)["bytes"]) == (200, 600)


def test_an_uploader_whom_the_server_does_not_read_is_not_at_fault(
    live: LiveServer, application: Application
) -> None:
    with live.connect() as client:
        client.sendall(post("/unread", 150_000) + b"x" * 150_000)
        expect_patience(client, application)
        status, _, body = read_response(client)
    assert (status, json.loads(body)["bytes"]) == (200, 150_000)


def test_a_client_that_waits_for_100_continue_is_not_at_fault(
    live: LiveServer, application: Application
) -> None:
    with live.connect() as client:
        client.sendall(post("/unread", 5, "Expect: 100-continue"))
        expect_patience(client, application)
        assert read_response(client)[0] == 100
        client.sendall(b"12345")
        assert read_response(client)[0] == 200


def test_a_body_that_never_ends_after_the_answer_is_ended(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(post("/early", 1000) + b"x" * 10)
        assert read_response(client)[0] == 200
        assert read_to_end(client) == b""


def test_a_body_may_follow_the_answer_and_the_connection_goes_on(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(post("/early", 1000))
        assert read_response(client)[0] == 200
        client.sendall(b"x" * 1000 + get("/echo?again"))
        assert json.loads(read_response(client)[2]) == {"bytes": 0, "query": "again"}


def test_a_connection_whose_body_followed_the_answer_is_ended_when_idle(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(post("/early", 1000))
        assert read_response(client)[0] == 200
        client.sendall(b"x" * 1000)
        assert read_to_end(client) == b""


def test_an_answer_that_closes_is_not_lost_to_the_body_that_still_comes(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(post("/farewell", 150_000))
        for _ in range(10):
            client.sendall(b"x" * 10_000)
        status, headers, _ = read_response(client)
        assert (status, headers["connection"]) == (413, "close")
        assert read_to_end(client) == b""


def test_a_reader_that_stalls_loses_its_lease_and_slot(live: LiveServer, application: Application) -> None:
    with live.connect(receive_buffer=4096) as client:
        client.sendall(get("/download"))
        client.recv(1000)
        expect_event(application, "released")
        assert application.limits.downloads.held == 0
        assert len(read_to_end(client)) < BIG_BYTES


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> "queue.Queue[None]":
    """An entry for each time that a connection made from now on is looked at while its client has still to read."""
    told, look = queue.Queue[None](), GuardedProtocol._look_at_writing

    def looking(protocol: GuardedProtocol) -> None:
        look(protocol)
        told.put(None)

    monkeypatch.setattr(GuardedProtocol, "_look_at_writing", looking)
    return told


def test_a_reader_that_takes_little_but_steadily_is_not_cut(
    live: LiveServer, application: Application, looks: "queue.Queue[None]"
) -> None:
    """Far less than frees a third of the server's buffer within the time for writing, for three times that."""
    with live.connect(receive_buffer=4096) as client:
        client.sendall(get("/download"))
        for _ in range(3 * LOOKS):
            assert client.recv(1000)
            looks.get(timeout=PATIENCE_SECONDS)
        assert application.limits.downloads.held == 1
        assert application.events.empty()
    expect_event(application, "released")


def test_a_reader_that_leaves_frees_its_lease_and_slot(live: LiveServer, application: Application) -> None:
    with live.connect() as client:
        client.sendall(get("/download"))
        client.recv(1000)
    expect_event(application, "released")
    assert application.limits.downloads.held == 0


def test_the_request_being_served_hears_of_a_client_that_leaves_with_others_sent_ahead(
    live: LiveServer, application: Application
) -> None:
    with live.connect() as client:
        client.sendall(get("/vigil") + get("/echo") + get("/echo"))
        expect_event(application, "waiting")
    expect_event(application, "noticed")


def test_a_whole_download_arrives(live: LiveServer, application: Application) -> None:
    with live.connect() as client:
        client.sendall(get("/download", "Range: bytes=100-20000099"))
        status, headers, body = read_response(client)
    assert (status, headers["content-range"], len(body)) == (
        206,
        f"bytes 100-20000099/{BIG_BYTES}",
        20_000_000,
    )
    expect_event(application, "released")


def test_pipelined_requests_are_answered_in_order(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(get("/echo?1") + post("/echo?2", 3) + b"abc" + get("/echo?3"))
        answers = [json.loads(read_response(client)[2]) for _ in range(3)]
    assert answers == [{"bytes": 0, "query": "1"}, {"bytes": 3, "query": "2"}, {"bytes": 0, "query": "3"}]


@pytest.mark.parametrize("half", [b"GET /echo HT", post("/echo", 1000) + b"x"])
def test_a_request_sent_ahead_half_does_not_cut_the_response_before_it(
    live: LiveServer, application: Application, half: bytes
) -> None:
    with live.connect() as client:
        client.sendall(get("/wait") + half)
        expect_event(application, "waiting")
        client.settimeout(TIMEOUTS.head * 1.6)
        with pytest.raises(TimeoutError):
            client.recv(1)
        application.go_on.set()
        client.settimeout(PATIENCE_SECONDS)
        assert read_response(client)[0] == 200
        assert read_to_end(client) == b""


def test_a_stalled_reader_with_requests_sent_ahead_frees_its_lease(
    live: LiveServer, application: Application
) -> None:
    with live.connect(receive_buffer=4096) as client:
        client.sendall(get("/download") + get("/echo") + get("/echo"))
        expect_event(application, "released")
        assert application.limits.downloads.held == 0


def test_too_many_requests_sent_ahead_end_the_connection(live: LiveServer, application: Application) -> None:
    with live.connect() as client:
        client.sendall(get("/wait") + get("/echo") * (MAX_PIPELINED + 2))
        assert read_to_end(client) == b""


def test_a_connection_is_used_again_and_ended_when_idle(live: LiveServer) -> None:
    with live.connect() as client:
        for turn in range(3):
            client.sendall(get(f"/echo?{turn}"))
            status, headers, body = read_response(client)
            assert (status, json.loads(body)["query"]) == (200, str(turn))
            assert "connection" not in headers
        assert read_to_end(client) == b""


def test_a_long_wait_for_the_answer_is_no_idleness(live: LiveServer, application: Application) -> None:
    with live.connect() as client:
        client.sendall(get("/wait"))
        expect_event(application, "waiting")
        client.settimeout(TIMEOUTS.keep_alive * 1.6)
        with pytest.raises(TimeoutError):
            client.recv(1)
        application.go_on.set()
        client.settimeout(PATIENCE_SECONDS)
        assert read_response(client)[0] == 200


def test_a_half_close_within_the_body_is_a_disconnect(live: LiveServer, application: Application) -> None:
    with live.connect() as client:
        client.sendall(post("/echo", 1000) + b"x" * 10)
        client.shutdown(socket.SHUT_WR)
        assert read_to_end(client) == b""
    expect_event(application, "disconnected")


@pytest.mark.parametrize(
    "sent",
    [
        b"NONSENSE\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
)
def test_what_is_not_http_is_answered_400_in_json(live: LiveServer, sent: bytes) -> None:
    with live.connect() as client:
        client.sendall(sent)
        status, headers, body = read_response(client)
        assert (status, headers["connection"], json.loads(body)["code"]) == (
            400,
            "close",
            "malformed_request",
        )
        assert read_to_end(client) == b""


@pytest.mark.parametrize(
    ("sent", "status"), [(b"NONSENSE\r\n\r\n", 400), (get("/", f"X-Long: {'x' * MAX_HEAD_BYTES}"), 431)]
)
def test_a_refusal_has_what_every_answer_has(application: Application, sent: bytes, status: int) -> None:
    protocol = protocol_class(TIMEOUTS, draw_id=lambda: "drawn")
    with LiveServer(application, protocol) as live, live.connect() as client:
        client.sendall(sent)
        got, headers, body = read_response(client)
    assert (got, headers["x-request-id"], headers["cache-control"]) == (status, "drawn", "no-store")
    assert {name.lower(): text for name, text in SECURITY_HEADERS.items()}.items() <= headers.items()
    assert body == bytes(json_response(json.loads(body)).body)


def test_a_body_that_grows_too_large_is_refused_under_the_id_it_was_given(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(b"POST /named HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.sendall(b"40000\r\n" + b"x" * 0x40000 + b"\r\n")
        status, headers, _ = read_response(client)
    assert (status, headers["x-request-id"]) == (413, "given")


@pytest.mark.parametrize(
    "sent",
    [
        get("/v1/audio/echo?x=1", f"X-Long: {'x' * MAX_HEAD_BYTES}"),
        b"GET /v1/echo HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * (MAX_HEAD_BYTES + 300_000),
        b"POST /v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
)
def test_a_refusal_is_written_as_the_api_of_its_path_does(live: LiveServer, sent: bytes) -> None:
    with live.connect() as client:
        client.sendall(sent)
        told = json.loads(read_response(client)[2])["error"]
    assert set(told) == {"message", "type", "param", "code"}
    assert told["type"] == "invalid_request_error"


def test_nonsense_on_its_own_is_not_taken_for_what_was_asked_before(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(get("/v1/echo"))
        read_response(client)
        client.sendall(b"\x16\x03\x01 NONSENSE\r\n\r\n")
        assert json.loads(read_response(client)[2])["code"] == "malformed_request"


def test_nonsense_after_a_request_does_not_spoil_its_answer(
    live: LiveServer, application: Application
) -> None:
    with live.connect() as client:
        client.sendall(get("/wait") + b"NONSENSE\r\n\r\n")
        expect_event(application, "waiting")
        application.go_on.set()
        assert json.loads(read_response(client)[2]) == {"waited": True}
        assert read_to_end(client) == b""


@pytest.mark.parametrize("whole", [True, False])
def test_headers_have_a_limit(live: LiveServer, whole: bool) -> None:
    with live.connect() as client:
        client.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\nX-Long: ")
        client.sendall(b"x" * (MAX_HEAD_BYTES + 300_000 * (not whole)))
        if whole:
            client.sendall(b"\r\n\r\n")
        status, _, body = read_response(client)
        assert (status, json.loads(body)["code"]) == (431, "headers_too_large")


def test_a_chunked_body_is_counted(live: LiveServer, application: Application) -> None:
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    with live.connect() as client:
        client.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(4):
            client.sendall(chunk)
        status, headers, body = read_response(client)
        assert (status, json.loads(body)["code"]) == (413, "body_too_large")
        assert headers["connection"] == "close"
        assert read_to_end(client) == b""
    expect_event(application, "disconnected")


def test_a_trailer_does_not_become_a_header(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(
            b"POST /names HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
        )
        client.sendall(b"X-Api-Key: forged\r\n\r\n")
        assert json.loads(read_response(client)[2]) == ["host", "transfer-encoding"]


def test_an_upgrade_is_answered_as_a_plain_request(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(get("/echo", "Connection: Upgrade", "Upgrade: websocket"))
        assert read_response(client)[0] == 200
        assert read_to_end(client) == b""


def test_http_1_0_is_answered_and_closed(live: LiveServer) -> None:
    with live.connect() as client:
        client.sendall(b"GET /echo HTTP/1.0\r\nHost: x\r\n\r\n")
        assert b"200 OK" in read_to_end(client)


@pytest.fixture
def small(application: Application) -> Iterator[LiveServer]:
    """A server for three connections, each of which may be silent for long."""
    with LiveServer(application, protocol_class(Timeouts(), max_connections=3)) as server:
        yield server


def expect_echo(client: socket.socket) -> None:
    client.sendall(get("/echo"))
    assert read_response(client)[0] == 200


def test_silent_connections_keep_nobody_out(small: LiveServer) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(small.connect()) for _ in range(3)]
        for number in range(2):
            with small.connect() as other:
                expect_echo(other)
            assert read_to_end(silent[number]) == b""
            silent.append(stack.enter_context(small.connect()))
        expect_echo(silent[-1])


def test_many_that_come_at_once_are_each_one_too_many_only_once(small: LiveServer) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(small.connect()) for _ in range(40)]
        for client in clients[-3:]:
            expect_echo(client)
        assert [read_to_end(client) for client in clients[:-3]] == [b""] * 37


def test_the_one_that_has_been_unasked_for_longest_goes_first_and_a_slow_head_last(small: LiveServer) -> None:
    with small.connect() as first, small.connect() as second, small.connect() as third:
        second.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\n")
        for client in (third, first):
            expect_echo(client)
        with small.connect() as fourth:
            expect_echo(fourth)
            assert read_to_end(third) == b""
            with small.connect() as fifth:
                expect_echo(fifth)
                assert read_to_end(first) == b""
                second.sendall(b"\r\n")
                assert read_response(second)[0] == 200


def test_where_all_connections_are_busy_the_new_one_is_closed(
    small: LiveServer, application: Application
) -> None:
    with small.connect() as served, small.connect() as read, small.connect() as sending:
        served.sendall(get("/vigil"))
        expect_event(application, "waiting")
        read.sendall(post("/unread", 5))
        expect_event(application, "waiting")
        sending.sendall(post("/unread", 1000))
        expect_event(application, "waiting")
        with small.connect() as fourth:
            assert read_to_end(fourth) == b""
        application.go_on.set()
        read.sendall(b"12345")
        assert read_response(read)[0] == 200
        with small.connect() as fifth:
            expect_echo(fifth)
            assert read_to_end(read) == b""
    expect_event(application, "noticed")


def test_a_body_that_arrives_after_its_answer_keeps_nobody_out(small: LiveServer) -> None:
    with ExitStack() as stack:
        answered = [stack.enter_context(small.connect()) for _ in range(3)]
        for client in answered:
            client.sendall(post("/early", 60_000))
            assert read_response(client)[0] == 200
        with small.connect() as fourth:
            expect_echo(fourth)
            assert read_to_end(answered[0]) == b""


def test_slow_bodies_keep_nobody_out(application: Application) -> None:
    protocol = protocol_class(Timeouts(slow_body=0), max_connections=3)
    with LiveServer(application, protocol) as server, ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in slow:
            client.sendall(post("/unread", 1000) + b"x")
            expect_event(application, "waiting")
        with server.connect() as fourth:
            expect_echo(fourth)
            assert read_to_end(slow[0]) == b""
        application.go_on.set()


def test_an_answer_that_is_not_taken_yet_keeps_its_connection(
    small: LiveServer, application: Application
) -> None:
    with ExitStack() as stack:
        readers = [stack.enter_context(small.connect(receive_buffer=4096)) for _ in range(3)]
        for reader in readers:
            reader.sendall(get("/download"))
            reader.recv(1000)
        with small.connect() as fourth:
            assert read_to_end(fourth) == b""


def test_one_that_was_refused_and_still_sends_makes_room(application: Application) -> None:
    protocol = protocol_class(Timeouts(linger=PATIENCE_SECONDS), max_connections=1)
    with LiveServer(application, protocol) as live, live.connect() as refused:
        refused.sendall(b"NONSENSE\r\n\r\n")
        assert read_response(refused)[0] == 400
        with live.connect() as other:
            expect_echo(other)


def test_a_slow_but_steady_reader_gets_everything(
    application: Application, looks: "queue.Queue[None]"
) -> None:
    wanted, received = 150_000, 0
    protocol = protocol_class(TIMEOUTS)
    with LiveServer(application, protocol, send_buffer=16384) as live, live.connect(4096) as client:
        client.sendall(get("/download", f"Range: bytes=0-{wanted - 1}", "Connection: close"))
        began = time.monotonic()
        while chunk := client.recv(8192):
            received += len(chunk)
            if received < wanted // 2:
                looks.get(timeout=PATIENCE_SECONDS)
    assert received > wanted
    assert time.monotonic() - began > TIMEOUTS.write * 1.5


def test_it_works_on_the_standard_event_loop_too(application: Application) -> None:
    with LiveServer(application, protocol_class(TIMEOUTS), "asyncio") as live:
        with live.connect(receive_buffer=4096) as client:
            client.sendall(get("/download"))
            expect_event(application, "released")
        with live.connect() as client:
            client.sendall(post("/echo", 1000) + b"x")
            assert read_to_end(client) == b""
        with live.connect() as client:
            client.sendall(b"NONSENSE\r\n\r\n")
            assert read_response(client)[0] == 400
