import asyncio
import json
import logging
from dataclasses import dataclass

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from engine.errors import InvalidRequest
from server.access import HostRule, Keys, OriginRule, PublicPaths
from server.connection import ABORT
from server.edge import Admittance, Edge, logged_path
from server.errors import ClientStalled, JobFailed
from server.jobs.errors import QueueFull
from server.limits import MAX_BODY_BYTES
from server.log_ring import LogRing
from server.settings import ApiKey
from storage.errors import StoreFull
from tests.server.recorded import Recorded

KEY = "k" * 16
SECRET_WORDS = "words of a song"
JOB = "fedcba9876543210"


@dataclass
class Got(Recorded):
    """What came back for one request."""

    aborted: int = 0

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["code"])


async def whoami(request: Request) -> Response:
    logging.getLogger("server.test").info("asked who")
    return PlainTextResponse(f"{request.state.owner}|{request.state.request_id}")


async def full(request: Request) -> Response:
    raise QueueFull(8)


async def wrong(request: Request) -> Response:
    raise InvalidRequest("steps", "steps must be between 1 and 100.")


async def broken(request: Request) -> Response:
    raise ValueError(SECRET_WORDS)


async def starved(request: Request) -> Response:
    raise MemoryError(SECRET_WORDS)


async def left(request: Request) -> Response:
    raise ClientDisconnect


class CutShort(Response):
    """A response that fails after it has begun."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise self._error


async def cut(request: Request) -> Response:
    return CutShort(ClientStalled(15))


async def cancelled(request: Request) -> Response:
    return CutShort(asyncio.CancelledError())


async def accepted(request: Request) -> Response:
    request.state.accepted_job = JOB
    return PlainTextResponse("made")


async def accepted_and_failed(request: Request) -> Response:
    request.state.accepted_job = JOB
    raise JobFailed("out_of_memory", "Too long.")


async def accepted_and_refused(request: Request) -> Response:
    request.state.accepted_job = JOB
    return PlainTextResponse("none", 404, {"X-Should-Retry": "true"})


async def volume_full(request: Request) -> Response:
    raise StoreFull(1, 1, 1, 1)


ROUTES = Router(
    [
        Route("/whoami", whoami),
        Route("/health", whoami),
        Route("/full", full, methods=["POST"]),
        Route("/wrong", wrong, methods=["POST"]),
        Route("/broken", broken),
        Route("/starved", starved),
        Route("/left", left),
        Route("/cut", cut),
        Route("/cancelled", cancelled),
        Route("/v1/full", full, methods=["POST"]),
        Route("/v1/wrong", wrong, methods=["POST"]),
        Route("/v1/broken", broken),
        Route("/v1/accepted", accepted),
        Route("/v1/failed", accepted_and_failed),
        Route("/v1/refused", accepted_and_refused),
        Route("/v1/volume", volume_full),
        Route("/v1/music", accepted_and_failed),
    ]
)


def edge(keys: tuple[ApiKey, ...] = (), origins: frozenset[str] = frozenset()) -> Edge:
    admittance = Admittance(
        HostRule.of("127.0.0.1", "workshop", []),
        OriginRule(origins),
        Keys(keys, b"s" * 32),
        PublicPaths(frozenset({"/health"})),
    )
    ticks = iter(range(1000))
    return Edge(
        ROUTES, admittance, lambda: "drawn-id", quiet=("/health",), monotonic=lambda: next(ticks) / 1000
    )


def call(app: Edge, path: str, method: str = "GET", **headers: str) -> Got:
    got = Got()
    pairs = {"host": "localhost:8000", **{name.replace("_", "-"): value for name, value in headers.items()}}

    def abort() -> None:
        got.aborted += 1

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        got.sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"id=0123456789abcdef",
        "headers": [(name.encode(), value.encode()) for name, value in pairs.items() if value],
        "state": {ABORT: abort},
    }
    asyncio.run(app(scope, receive, send))
    return got


class Logged:
    """The lines that `server` loggers write within a block."""

    def __init__(self, level: int = logging.INFO) -> None:
        self._ring = LogRing()
        self._logger = logging.getLogger("server")
        self._level = level

    def __enter__(self) -> LogRing:
        self._before = self._logger.level
        self._logger.setLevel(self._level)
        self._logger.addHandler(self._ring)
        return self._ring

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self._ring)
        self._logger.setLevel(self._before)
        self._ring.close()


def test_a_request_has_an_id_in_response_state_and_log() -> None:
    with Logged() as log:
        got = call(edge(), "/whoami")
    assert got.headers["x-request-id"] == "drawn-id"
    assert got.body == b"|drawn-id"
    said = log.lines()
    assert len(said) == 2
    assert all("[drawn-id]" in line for line in said)
    assert said[1].endswith("GET /whoami 200 in 1.0 ms, 9 bytes")


@pytest.mark.parametrize(
    ("sent", "used"),
    [
        ("abc.DEF_1-2", "abc.DEF_1-2"),
        ("a" * 64, "a" * 64),
        ("a" * 65, "drawn-id"),
        ("a b", "drawn-id"),
        ("é", "drawn-id"),
    ],
)
def test_a_fitting_id_of_the_client_is_kept(sent: str, used: str) -> None:
    assert call(edge(), "/whoami", x_request_id=sent).headers["x-request-id"] == used


def test_every_response_has_the_headers_that_protect_it() -> None:
    for path in ("/whoami", "/nowhere"):
        headers = call(edge(), path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_the_log_has_no_query_and_no_forged_line() -> None:
    with Logged() as log:
        call(edge(), "/nowhere\nINFO forged")
    (line,) = log.lines()
    assert "/nowhere%0AINFO%20forged 404" in line
    assert "0123456789abcdef" not in line


def test_quiet_paths_are_logged_only_when_something_is_wrong() -> None:
    with Logged() as log:
        call(edge(), "/health")
        call(edge(), "/health", host="evil.example")
    assert [line.rpartition("] ")[2][:15] for line in log.lines()] == ["asked who", "GET /health 421"]


@pytest.mark.parametrize(
    ("path", "method", "status", "code"),
    [
        ("/nowhere", "GET", 404, "unknown_route"),
        ("/whoami", "DELETE", 405, "method_not_allowed"),
        ("/full", "POST", 429, "queue_full"),
        ("/wrong", "POST", 400, "invalid_field"),
        ("/broken", "GET", 500, "internal_error"),
        ("/starved", "GET", 500, "out_of_memory"),
    ],
)
def test_errors_are_json(path: str, method: str, status: int, code: str) -> None:
    with Logged():
        got = call(edge(), path, method)
    assert (got.status, got.code) == (status, code)
    assert got.headers["content-type"] == "application/json"
    assert got.headers["cache-control"] == "no-store"
    assert got.aborted == 0


def test_refusals_say_what_would_help() -> None:
    assert call(edge(), "/full", "POST").headers["retry-after"] == "5"
    assert call(edge(), "/whoami", "DELETE").headers["allow"] == "GET, HEAD"
    assert json.loads(call(edge(), "/wrong", "POST").body)["field"] == "steps"


def test_an_unexpected_error_is_found_in_the_log_under_the_id_it_names() -> None:
    with Logged() as log:
        got = call(edge(), "/broken", x_request_id="look-here")
    assert "look-here" in json.loads(got.body)["error"]
    text = "\n".join(log.lines())
    assert "[look-here] GET /broken failed: ValueError at" in text
    assert "in broken" in text
    assert SECRET_WORDS not in text + got.body.decode()


def test_a_lack_of_memory_is_one_line_in_the_log() -> None:
    with Logged() as log:
        call(edge(), "/starved")
    failed, answered = log.lines()
    assert failed.endswith("GET /starved failed: memory did not suffice.")
    assert "GET /starved 500" in answered


def test_a_client_that_left_is_no_error() -> None:
    with Logged() as log:
        got = call(edge(), "/left")
    assert got.sent == []
    (line,) = log.lines()
    assert "/left 499" in line


def test_a_response_that_cannot_be_completed_ends_the_connection() -> None:
    with Logged() as log:
        got = call(edge(), "/cut")
    assert (got.status, got.aborted, len(got.sent)) == (200, 1, 1)
    assert not any("ERROR" in line for line in log.lines())


def test_a_server_that_stops_is_not_held_up() -> None:
    with pytest.raises(asyncio.CancelledError):
        call(edge(), "/cancelled")


def test_a_key_is_asked_for_where_keys_are_set_and_the_path_is_not_public() -> None:
    app = edge((ApiKey("ann", KEY),))
    got = call(app, "/whoami")
    assert (got.status, got.code, got.headers["www-authenticate"]) == (401, "unauthorized", "Bearer")
    assert call(app, "/whoami", authorization=f"Bearer {KEY}").body == b"ann|drawn-id"
    assert call(app, "/health").body == b"|drawn-id"
    assert call(app, "/nowhere").status == 401


def test_a_body_that_is_declared_too_large_is_refused_unread() -> None:
    got = call(edge(), "/full", "POST", content_length=str(MAX_BODY_BYTES + 1))
    assert (got.status, got.code, got.headers["connection"]) == (413, "body_too_large", "close")
    assert call(edge(), "/full", "POST", content_length=str(MAX_BODY_BYTES)).status == 429


def test_refusals_come_in_order() -> None:
    app = edge((ApiKey("ann", KEY),))
    wrong = {
        "host": "evil.example",
        "origin": "http://evil.example:1",
        "authorization": "Bearer no",
        "content_length": str(MAX_BODY_BYTES + 1),
    }
    codes = []
    for name, right in (
        ("host", "localhost:8000"),
        ("origin", ""),
        ("authorization", f"Bearer {KEY}"),
        ("content_length", "0"),
    ):
        codes.append(call(app, "/full", "POST", **wrong).code)
        wrong[name] = right
    codes.append(call(app, "/full", "POST", **wrong).code)
    assert codes == ["forbidden_host", "forbidden_origin", "unauthorized", "body_too_large", "queue_full"]


@pytest.mark.parametrize("origin", ["null", "https://evil.example"])
def test_foreign_pages_are_refused_without_headers_that_let_them_read_it(origin: str) -> None:
    got = call(edge(origins=frozenset({"https://studio.example"})), "/whoami", origin=origin)
    assert (got.status, got.code) == (403, "forbidden_origin")
    assert "access-control-allow-origin" not in got.headers


def test_a_listed_origin_may_read_answers_and_errors() -> None:
    app = edge((ApiKey("ann", KEY),), frozenset({"https://studio.example"}))
    for got, status in (
        (call(app, "/full", "POST", origin="https://studio.example", authorization=f"Bearer {KEY}"), 429),
        (call(app, "/whoami", origin="https://studio.example"), 401),
    ):
        assert got.status == status
        assert got.headers["access-control-allow-origin"] == "https://studio.example"
        assert "Retry-After" in got.headers["access-control-expose-headers"]
        assert got.headers["cross-origin-resource-policy"] == "cross-origin"
        assert "Origin" in got.headers["vary"]


def test_a_preflight_of_a_listed_origin_needs_no_key() -> None:
    app = edge((ApiKey("ann", KEY),), frozenset({"https://studio.example"}))
    got = call(
        app,
        "/full",
        "OPTIONS",
        origin="https://studio.example",
        access_control_request_method="DELETE",
        access_control_request_headers="idempotency-key",
    )
    assert got.status == 200
    assert "DELETE" in got.headers["access-control-allow-methods"]
    assert got.headers["access-control-allow-headers"] == "idempotency-key"


@pytest.mark.parametrize(
    ("path", "method", "headers", "status", "kind", "code"),
    [
        ("/v1/nowhere", "GET", {}, 404, "invalid_request_error", "unknown_url"),
        ("/v1", "GET", {}, 404, "invalid_request_error", "unknown_url"),
        ("/v1/broken", "DELETE", {}, 405, "invalid_request_error", "method_not_supported"),
        ("/v1/full", "POST", {}, 429, "rate_limit_error", "queue_full"),
        ("/v1/wrong", "POST", {}, 400, "invalid_request_error", "invalid_value"),
        ("/v1/broken", "GET", {}, 500, "server_error", "internal_error"),
        ("/v1/volume", "GET", {}, 507, "server_error", "result_store_full"),
        ("/v1/full", "POST", {"host": "evil.example"}, 421, "invalid_request_error", "forbidden_host"),
        (
            "/v1/full",
            "POST",
            {"origin": "http://e.example"},
            403,
            "invalid_request_error",
            "forbidden_origin",
        ),
        ("/v1/full", "POST", {"authorization": "Bearer no"}, 401, "invalid_request_error", "invalid_api_key"),
        (
            "/v1/full",
            "POST",
            {"content_length": str(MAX_BODY_BYTES + 1)},
            413,
            "invalid_request_error",
            "body_too_large",
        ),
    ],
)
def test_below_v1_every_refusal_is_written_as_openai_writes_it(
    path: str, method: str, headers: dict[str, str], status: int, kind: str, code: str
) -> None:
    with Logged():
        got = call(edge((ApiKey("ann", KEY),)), path, method, **{"authorization": f"Bearer {KEY}", **headers})
    told = json.loads(got.body)
    assert got.status == status
    assert set(told) == {"error"}
    assert set(told["error"]) == {"message", "type", "param", "code"}
    assert (told["error"]["type"], told["error"]["code"]) == (kind, code)
    assert got.headers["x-request-id"] == "drawn-id"
    assert got.headers.get("retry-after") == ("5" if status == 429 else None)
    assert got.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
    assert got.headers.get("x-should-retry") == ("false" if status == 507 else None)


def test_any_key_does_where_none_is_set() -> None:
    for header in ("authorization", "xi_api_key", "x_api_key"):
        assert call(edge(), "/v1/accepted", **{header: "Bearer dummy"}).status == 200


def test_a_request_that_got_a_job_names_it_in_every_answer() -> None:
    got = call(edge(), "/v1/accepted")
    assert (got.status, got.headers["x-yue2-job-id"]) == (200, JOB)
    assert "x-should-retry" not in got.headers
    assert "x-yue2-job-id" not in call(edge(), "/whoami").headers


def test_what_fails_once_there_is_a_job_is_not_to_be_tried_again() -> None:
    for path, status in (("/v1/failed", 500), ("/v1/refused", 404), ("/v1/music", 500)):
        got = call(edge(), path)
        assert (got.status, got.headers["x-yue2-job-id"]) == (status, JOB)
        assert got.headers["x-should-retry"] == "false"
    told = json.loads(call(edge(), "/v1/failed").body)
    assert (told["job_id"], told["error"]["job_id"]) == (JOB, JOB)


def test_below_music_elevenlabs_detail_is_told_too() -> None:
    detail = json.loads(call(edge(), "/v1/music").body)["detail"]
    assert (detail["status"], detail["message"], detail["request_id"]) == (
        "out_of_memory",
        "Too long.",
        "drawn-id",
    )


def test_a_page_of_a_listed_origin_may_use_vendors_clients() -> None:
    app = edge((ApiKey("ann", KEY),), frozenset({"https://studio.example"}))
    sent = "authorization,content-type,x-stainless-retry-count,x-stainless-read-timeout"
    got = call(
        app,
        "/v1/full",
        "OPTIONS",
        origin="https://studio.example",
        access_control_request_method="POST",
        access_control_request_headers=sent,
    )
    assert (got.status, got.headers["access-control-allow-headers"]) == (200, sent)
    answer = call(
        app, "/v1/accepted", origin="https://studio.example", authorization=f"Bearer {KEY}", xi_api_key=KEY
    )
    exposed = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
    assert {"x-request-id", "x-yue2-job-id", "retry-after", "x-should-retry", "song-id"} <= exposed


def test_websockets_are_turned_away_and_the_lifespan_passes() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def receive() -> Message:
        return {}

    async def run() -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        admittance = Admittance(
            HostRule(frozenset()), OriginRule(frozenset()), Keys((), b""), PublicPaths(frozenset())
        )
        for kind in ("websocket", "lifespan"):
            await Edge(app, admittance, lambda: "x")({"type": kind}, receive, send)
        return sent

    assert asyncio.run(run()) == [{"type": "websocket.close", "code": 1008}]
    assert seen == ["lifespan"]


def test_a_logged_path_forges_no_line_and_holds_no_whole_handle() -> None:
    path = "/job/0123456789abcdef\nINFO forged"
    assert logged_path({"path": path}) == "/job/012345…%0AINFO%20forged"


def test_a_logged_path_holds_neither_a_link_nor_the_title_in_it() -> None:
    for before in ("", "/studio"):
        path = f"{before}/artifacts/AbC-_4{'x' * 26}/my-own-title.mp3"
        assert logged_path({"path": path}) == f"{before}/artifacts/AbC-_4…"
