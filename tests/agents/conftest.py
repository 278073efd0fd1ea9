"""One running server with the models that come along, for all tests that only call it, and agents of it."""

from collections.abc import Iterator

import pytest

from engine.catalogue import open_catalogue
from tests.agents.agent import ERAS, Agent, agent
from tests.clients.studio import Studio, serving


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """The server; each test leaves its queue empty."""
    folder = tmp_path_factory.mktemp("studio")
    with serving(folder, open_catalogue(None), {"YUE2_QUEUE_LIMIT": "16"}) as running:
        yield running


@pytest.fixture(scope="session", params=ERAS)
def caller(request: pytest.FixtureRequest, studio: Studio) -> Iterator[Agent]:
    """An agent of it, of each era."""
    with agent(studio.url, request.param) as made:
        yield made
