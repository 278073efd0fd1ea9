"""Links: the export's own bytes for an hour, to whoever has one, and nothing else."""

import http.client
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import httpx2
import pytest

from server.limits import DOWNLOADS
from tests.agents.agent import Agent, agent, link, structured
from tests.agents.doubles import SAID, quick
from tests.agents.wire import MODERN
from tests.clients.heard import hear
from tests.clients.studio import Studio
from tests.server.server_check import MovableClock

pytestmark = pytest.mark.runtime
HOUR: Final = 3600
KEYS: Final = {"api_keys": "one=the-key-of-one-0001,two=the-key-of-two-0002"}
ONE: Final = {"Authorization": "Bearer the-key-of-one-0001"}
TWO: Final = {"X-Api-Key": "the-key-of-two-0002"}


def bare(url: str) -> httpx2.Client:
    """A client that has no key and knows nothing."""
    return httpx2.Client(base_url=url, timeout=60, trust_env=False, verify=False)


def spoken(caller: Agent) -> str:
    """The link of something said."""
    return link(caller.made("speak", text=SAID, output_format="wav16")).uri


def test_the_bytes_are_those_of_the_export(tmp_path: Path) -> None:
    """As the native API would give them for the same request, byte for byte."""
    with quick(tmp_path) as studio, agent(studio.url) as caller, bare(studio.url) as http:
        answer = caller.made("speak", text=SAID, seed=4, output_format="wav16")
        audio = http.get(link(answer).uri)
        native = studio.native.post("/speech", json={"text": SAID, "seed": 4, "output_format": "wav16"})
        job_id = native.json()["id"]
        studio.finish(job_id)
        assert audio.content == studio.track(job_id)
        assert hear(audio.content).seconds == pytest.approx(1.0, abs=0.01)
        assert int(audio.headers["content-length"]) == structured(answer)["size_bytes"]
        assert audio.headers["content-type"] == "audio/wav"


def test_ranges_validators_and_head(tmp_path: Path) -> None:
    with quick(tmp_path) as studio, agent(studio.url) as caller, bare(studio.url) as http:
        url = spoken(caller)
        whole = http.get(url)
        head = http.head(url)
        assert (head.status_code, head.content) == (200, b"")
        for name in ("content-length", "content-type", "etag", "accept-ranges"):
            assert head.headers[name] == whole.headers[name]
        size = len(whole.content)
        for asked, start, stop in (("10-19", 10, 20), ("100-", 100, size), ("-7", size - 7, size)):
            part = http.get(url, headers={"Range": f"bytes={asked}", "If-Range": whole.headers["etag"]})
            assert part.status_code == 206
            assert part.headers["content-range"] == f"bytes {start}-{stop - 1}/{size}"
            assert part.content == whole.content[start:stop]
        beyond = http.get(url, headers={"Range": f"bytes={size}-"})
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
        same = http.get(url, headers={"If-None-Match": whole.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")


def test_a_link_downloads_and_does_nothing_else(tmp_path: Path) -> None:
    with quick(tmp_path) as studio, agent(studio.url) as caller, bare(studio.url) as http:
        answer = caller.made("speak", text=SAID)
        url, job_id = link(answer).uri, structured(answer)["job_id"]
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            refused = http.request(method, url)
            assert refused.status_code == 405
            assert "GET" in refused.headers["allow"]
        assert job_id not in str(http.get(url).headers)
        token = url.split("/")[-2]
        assert http.get("/job", params={"id": token}).status_code in (400, 404)
        assert http.get(url).status_code == 200


@pytest.mark.parametrize("change", ["token", "name", "no name", "short", "long", "id"])
def test_what_is_no_link_is_nothing(tmp_path: Path, change: str) -> None:
    with quick(tmp_path) as studio, agent(studio.url) as caller, bare(studio.url) as http:
        answer = caller.made("speak", text=SAID)
        token, name = link(answer).uri.split("/")[-2:]
        other = "A" if token[5] != "A" else "B"
        path = {
            "token": f"/artifacts/{token[:5]}{other}{token[6:]}/{name}",
            "name": f"/artifacts/{token}/other.mp3",
            "no name": f"/artifacts/{token}",
            "short": f"/artifacts/{token[:-1]}/{name}",
            "long": f"/artifacts/{token}A/{name}",
            "id": f"/artifacts/{structured(answer)['job_id']}/{name}",
        }[change]
        assert http.get(path).status_code == 404
        assert http.get(f"/artifacts/{token}/{name}").status_code == 200


def test_no_key_opens_a_link_and_each_key_knows_its_own_jobs(tmp_path: Path) -> None:
    with (
        quick(tmp_path, settings=KEYS) as studio,
        agent(studio.url, MODERN, ONE) as one,
        agent(studio.url, "legacy", TWO) as two,
        bare(studio.url) as http,
    ):
        answer = one.made("speak", text=SAID)
        job_id, url = structured(answer)["job_id"], link(answer).uri
        assert http.get(url).status_code == 200
        assert http.get("/job", params={"id": job_id}).status_code == 401
        for tool in ("job_status", "cancel_job", "transcribe"):
            assert two.refused(tool, job_id=job_id)["code"] == "unknown_job"
        assert one.told("job_status", job_id=job_id)["state"] == "complete"
        key = "the same"
        mine = one.told("speak", text=SAID, idempotency_key=key.replace(" ", "-"))
        theirs = two.told("speak", text=SAID, idempotency_key=key.replace(" ", "-"))
        assert mine["job_id"] != theirs["job_id"]


def test_a_link_is_good_for_an_hour_then_gone_then_unknown(tmp_path: Path) -> None:
    clock = MovableClock()
    with quick(tmp_path, clock=clock) as studio, agent(studio.url) as caller, bare(studio.url) as http:
        answer = caller.made("speak", text=SAID)
        url, job_id = link(answer).uri, structured(answer)["job_id"]
        clock.ahead += HOUR - 60
        assert http.get(url).status_code == 200
        clock.ahead += 120
        studio.parts.artifacts.sweep()
        gone = http.get(url)
        assert (gone.status_code, gone.json()["code"]) == (410, "expired")
        assert caller.refused("job_status", job_id=job_id)["code"] == "expired"
        assert caller.refused("transcribe", job_id=job_id)["code"] == "expired"
        clock.ahead += HOUR
        studio.parts.artifacts.sweep()
        assert http.get(url).status_code == 404
        assert caller.refused("job_status", job_id=job_id)["code"] == "unknown_job"
        assert studio.parts.artifacts.usage().bytes == 0


def test_downloads_share_the_four_places_of_all(tmp_path: Path) -> None:
    """Those who read slowly hold theirs; the file stays while one does, whatever the hour."""
    clock = MovableClock()
    with quick(tmp_path, clock=clock) as studio, agent(studio.url) as caller, ExitStack() as readers:
        text = "One two three four five six seven eight. " * 200
        url = link(caller.made("speak", text=text, output_format="wav32")).uri
        connections = []
        for _ in range(DOWNLOADS):
            connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=10)
            readers.callback(connection.close)
            connection.request("GET", url.removeprefix(studio.url))
            connections.append(connection.getresponse())
        refused = studio.native.get(url)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert refused.json()["code"] == "too_many_downloads"
        clock.ahead += HOUR + 60
        studio.parts.artifacts.sweep()
        bodies = {answer.read() for answer in connections}
        assert len(bodies) == 1
        assert studio.native.get(url).status_code == 410


def test_a_public_address_is_in_the_links(tmp_path: Path) -> None:
    settings = {"public_url": "https://music.example/studio"}
    with quick(tmp_path, settings=settings) as studio, agent(studio.url) as caller:
        url = spoken(caller)
        assert url.startswith("https://music.example/studio/artifacts/")
        path = url.removeprefix("https://music.example/studio")
        assert studio.native.get(path).status_code == 200


def test_the_address_is_the_one_the_agent_came_by(studio: Studio) -> None:
    with agent(f"http://localhost:{studio.port}") as caller:
        assert spoken(caller).startswith(f"http://localhost:{studio.port}/artifacts/")
