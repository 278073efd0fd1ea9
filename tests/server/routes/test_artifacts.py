"""Downloads by link: one file, for an hour, without a key."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from engine.catalogue import Catalogue
from server.agents.links import ArtifactLinks
from server.parts import Parts
from server.routes.artifacts import ArtifactRoutes
from server.work import Making, Packed, Prepared
from tests.server.agents.work import written
from tests.server.product import product
from tests.server.recorded import Recorded

BODY = bytes(range(256)) * 40
NAME = "my-song.mp3"
KEYED = {"X-Api-Key": "k" * 16}


@dataclass
class Counter:
    """A running server with keys and a clock that can be moved; its client sends no key by itself."""

    client: TestClient
    parts: Parts
    ahead: list[float]

    def made(self, work: Prepared) -> str:
        """The id of an agent's job that has ended."""
        job_id = self.parts.agent_gate.admit(work, "ann", "").job_id
        job = self.client.get("/job", params={"id": job_id, "wait": 45}, headers=KEYED).json()
        assert job["status"] in ("done", "failed"), job
        return job_id

    def link(self, body: bytes = BODY, name: str = NAME) -> str:
        """The path of a fresh file."""
        return self.parts.links.path(self.parts.artifacts.find(self.made(written(body, name))))


@contextmanager
def opened(folder: Path) -> Iterator[Counter]:
    ahead = [0.0]
    environ = {"YUE2_API_KEYS": f"ann={KEYED['X-Api-Key']}"}
    with product(folder, environ, Catalogue(), lambda: time.time() + ahead[0]) as running:
        yield Counter(running.client, running.parts, ahead)


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counter]:
    """Shared by the tests that leave its clock alone."""
    with opened(tmp_path_factory.mktemp("counter")) as running:
        yield running


@pytest.fixture(scope="module")
def link(counter: Counter) -> str:
    return counter.link()


def code_of(counter: Counter, path: str, **headers: str) -> tuple[int, str]:
    answer = counter.client.get(path, headers=headers)
    return answer.status_code, answer.json()["code"]


def test_a_link_gives_the_whole_file_to_whoever_has_it(counter: Counter, link: str) -> None:
    answer = counter.client.get(link)
    assert (answer.status_code, answer.content) == (200, BODY)
    assert answer.headers["content-type"] == "audio/mpeg"
    assert answer.headers["content-disposition"] == f'inline; filename="{NAME}"'
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"].startswith("private, immutable, max-age=35")


def test_nothing_of_the_answer_tells_the_jobs_id(counter: Counter) -> None:
    job_id = counter.made(written())
    path = counter.parts.links.path(counter.parts.artifacts.find(job_id))
    answer = counter.client.get(path)
    assert job_id not in f"{path} {answer.headers} {answer.text}"


def test_what_is_asked_behind_the_link_is_not_looked_at(counter: Counter, link: str) -> None:
    assert counter.client.get(f"{link}?utm_source=chat").content == BODY


def test_a_head_and_ranges_are_answered(counter: Counter, link: str) -> None:
    head = counter.client.head(link)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(BODY))
    some = counter.client.get(link, headers={"Range": "bytes=100-299"})
    assert (some.status_code, some.content) == (206, BODY[100:300])
    assert some.headers["content-range"] == f"bytes 100-299/{len(BODY)}"
    last = counter.client.get(link, headers={"Range": "bytes=-5"})
    assert last.content == BODY[-5:]
    assert code_of(counter, link, Range=f"bytes={len(BODY)}-") == (416, "range_not_satisfiable")


def test_a_download_goes_on_only_with_the_same_file(counter: Counter, link: str) -> None:
    tag = counter.client.head(link).headers["etag"]
    more = counter.client.get(link, headers={"Range": "bytes=10-", "If-Range": tag})
    assert (more.status_code, more.content) == (206, BODY[10:])
    anew = counter.client.get(link, headers={"Range": "bytes=10-", "If-Range": '"another"'})
    assert (anew.status_code, anew.content) == (200, BODY)
    assert counter.client.get(link, headers={"If-None-Match": tag}).status_code == 304
    assert code_of(counter, link, **{"If-Match": '"another"'}) == (412, "precondition_failed")


def test_names_are_found_however_they_are_written(counter: Counter) -> None:
    path = counter.link(name="où est là?.mp3")
    assert counter.client.get(path).content == BODY
    assert "filename*=UTF-8''" in counter.client.get(path).headers["content-disposition"]


@pytest.mark.parametrize(
    "wrong",
    [
        *("{token}/another.mp3", "{token}/MY-SONG.mp3", "{forged}/my-song.mp3", "{short}/my-song.mp3"),
        *("{strange}/my-song.mp3", "{id}/my-song.mp3", "{never}/my-song.mp3"),
    ],
)
def test_any_other_link_leads_nowhere(counter: Counter, link: str, wrong: str) -> None:
    token = link.split("/")[2]
    tokens = {
        "token": token,
        "forged": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "short": token[:-1],
        "strange": ArtifactLinks(b"another secret").token("0123456789abcdef"),
        "id": counter.parts.links.job_id(token),
        "never": counter.parts.links.token("0123456789abcdef"),
    }
    path = f"/artifacts/{wrong.format(**tokens)}"
    assert code_of(counter, path) == (404, "unknown_job")
    assert (
        counter.client.get(path).json()["error"].startswith("No file is known under this link; copy it whole")
    )


@pytest.mark.parametrize(
    "path", ["/artifacts", "/artifacts/", "/artifacts/{token}", "/artifacts/{token}/a/b"]
)
def test_there_is_nothing_around_the_links(counter: Counter, link: str, path: str) -> None:
    answer = counter.client.get(path.format(token=link.split("/")[2]))
    assert answer.status_code in (401, 404)
    assert answer.json()["code"] in ("unauthorized", "unknown_route")


def test_a_link_reads_and_does_nothing_else(counter: Counter, link: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = counter.client.request(method, link)
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    job_id = counter.parts.links.job_id(link.split("/")[2])
    assert counter.client.get("/job", params={"id": job_id}).status_code == 401
    assert counter.client.get(link).status_code == 200


def test_foreign_hosts_and_pages_are_refused_also_with_a_link(counter: Counter, link: str) -> None:
    assert code_of(counter, link, Host="evil.example") == (421, "forbidden_host")
    assert code_of(counter, link, Origin="https://evil.example") == (403, "forbidden_origin")
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert code_of(counter, link, **embedded) == (403, "forbidden_origin")
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert counter.client.get(link, headers=followed).status_code == 200


def test_a_job_without_a_file_has_no_link(counter: Counter) -> None:
    def failing(making: Making) -> Packed:
        raise RuntimeError

    job_id = counter.made(Prepared("write", "artificial", (), "digest", failing))
    path = f"/artifacts/{counter.parts.links.token(job_id)}/{NAME}"
    assert code_of(counter, path) == (404, "unknown_job")


def test_a_fifth_download_is_refused_and_a_head_is_not(counter: Counter, link: str) -> None:
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(counter.parts.limits.downloads.slot())
        refused = counter.client.get(link)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_downloads")
        assert refused.headers["retry-after"] == "5"
        assert counter.client.head(link).status_code == 200
    assert counter.client.get(link).status_code == 200
    assert counter.parts.limits.downloads.held == 0


def test_the_log_holds_neither_link_nor_title(
    counter: Counter, link: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="server"):
        counter.client.get(link)
    assert "GET /artifacts/" in caplog.text
    assert NAME not in caplog.text
    assert link.split("/")[2] not in caplog.text


def test_a_link_works_for_an_hour_and_is_then_told_to_have_expired(tmp_path: Path) -> None:
    with opened(tmp_path) as counter:
        path = counter.link()
        counter.ahead[0] = 3590.0
        assert counter.client.get(path).status_code == 200
        counter.ahead[0] = 3610.0
        assert code_of(counter, path) == (410, "expired")
        assert code_of(counter, path.replace(NAME, "x")) == (410, "expired")
        counter.ahead[0] = 7210.0
        counter.parts.artifacts.sweep()
        assert code_of(counter, path) == (404, "unknown_job")


def test_a_deleted_file_is_gone(counter: Counter) -> None:
    path = counter.link()
    job_id = counter.parts.links.job_id(path.split("/")[2])
    assert counter.client.delete("/job", params={"id": job_id}, headers=KEYED).status_code == 204
    assert code_of(counter, path) == (410, "expired")


def test_a_link_works_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as counter:
        path = counter.link()
    with opened(tmp_path) as counter:
        assert counter.client.get(path).content == BODY


def test_a_download_that_has_begun_ends_whole_though_its_file_expires(tmp_path: Path) -> None:
    with opened(tmp_path) as counter:
        parts, path = counter.parts, counter.link()
        token = path.split("/")[2]
        body = tmp_path / "agent-artifacts" / f"{parts.links.job_id(token)}.body"
        gone = asyncio.Event()
        client = Recorded()

        async def receive() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            client.sent.append(message)

        async def scene() -> None:
            scope: Scope = {"type": "http", "method": "GET", "path": path, "headers": []}
            scope["path_params"] = {"token": token, "name": NAME}
            routes = ArtifactRoutes(parts.artifacts, parts.links, parts.limits)
            answer = await routes.download(Request(scope, receive))
            counter.ahead[0] = 3610.0
            parts.artifacts.sweep()
            assert body.exists()
            await answer(scope, receive, send)

        asyncio.run(scene())
        assert (client.status, client.body) == (200, BODY)
        assert not body.exists()
        assert code_of(counter, path) == (410, "expired")
