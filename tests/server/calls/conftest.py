"""A server's parts for the tests of synchronous calls."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from server.log_ring import LogRing
from server.parts import assemble
from server.settings import load
from tests.server.calls.caller import Studio
from tests.server.maker import PATIENCE_SECONDS, Maker
from tests.storage.doubles import open_descriptors

MakeStudio = Callable[..., Studio]


@pytest.fixture
def make_studio(tmp_path: Path) -> Iterator[MakeStudio]:
    """Makes one studio, with the settings and the deadline that the test wants."""
    made: list[Studio] = []
    before: list[int] = []

    def make(deadline_seconds: float = 30.0, **environ: str) -> Studio:
        settings = load({"YUE2_RESULT_DIR": str(tmp_path / "jobs"), **environ})
        parts = assemble(settings, LogRing())
        parts.worker.start()
        before.append(open_descriptors())
        made.append(Studio(parts, deadline_seconds))
        return made[0]

    yield make
    for studio in made:
        studio.parts.book.close()
        assert studio.parts.worker.stop(PATIENCE_SECONDS)
        assert studio.parts.store.audit() == []
        assert open_descriptors() <= before[0]


@pytest.fixture
def studio(make_studio: MakeStudio) -> Studio:
    return make_studio()


@pytest.fixture
def maker() -> Maker:
    return Maker()
