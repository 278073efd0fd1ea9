"""The product's application in this process, over a folder of the test's own."""

import email
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from engine.catalogue import Catalogue
from server.app import build_app
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.serve import opened, product_routes
from server.settings import load


class Product:
    """A client of the running application and, for tests that look inside, its parts."""

    def __init__(self, client: TestClient, parts: Parts) -> None:
        self.client = client
        self.parts = parts

    def submit(self, route: str, **fields: object) -> str:
        """Post a request that is accepted; the job's id."""
        answer = self.client.post(route, json=fields)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def finish(self, job_id: str) -> dict[str, Any]:
        """The job at its end."""
        return dict(self.client.get("/job", params={"id": job_id, "wait": 45}).json())

    def made(self, route: str, **fields: object) -> str:
        """Post a request and see it done; the job's id."""
        job_id = self.submit(route, **fields)
        job = self.finish(job_id)
        assert job["status"] == "done", job
        return job_id

    def parts_of(self, job_id: str) -> list[Message]:
        """The parts of a multipart result, read by the standard library's parser."""
        answer = self.client.get("/job", params={"id": job_id, "result": 1})
        head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
        return [
            part for part in email.message_from_bytes(head + answer.content).walk() if not part.is_multipart()
        ]


@contextmanager
def product(
    folder: Path,
    environ: Mapping[str, str] | None = None,
    catalogue: Catalogue | None = None,
    clock: Callable[[], float] = time.time,
) -> Iterator[Product]:
    """Serve until the block is left, with the models of the environment unless others are given."""
    settings = load({"YUE2_RESULT_DIR": str(folder / "jobs"), **(environ or {})})
    models = catalogue or opened(settings)
    parts = assemble(settings, LogRing(), clock, models.unload)
    app = build_app(parts, product_routes(parts, models))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield Product(client, parts)
