"""A desk for the tests of what stands behind it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.log_ring import LogRing
from server.parts import assemble
from server.settings import load
from tests.clients.held import PATIENCE_SECONDS
from tests.server.agents.office import Office
from tests.storage.doubles import open_descriptors


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """A desk over a queue of twelve places; nothing of it is left behind."""
    settings = load({"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_QUEUE_LIMIT": "12"})
    parts = assemble(settings, LogRing())
    parts.worker.start()
    before = open_descriptors()
    made = Office(parts)
    yield made
    made.pause.release()
    parts.book.close()
    assert parts.worker.stop(PATIENCE_SECONDS)
    assert parts.store.audit() == []
    assert parts.artifacts.audit() == []
    assert open_descriptors() <= before
