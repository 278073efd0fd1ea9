"""The routes that agents' clients take, as they are described."""

from server.openapi.agents import agent_paths
from tests.server.openapi.test_document import jsonable


def test_a_link_needs_no_key_and_answers_ranges_expiry_and_full_places() -> None:
    described = jsonable(agent_paths())["/artifacts/{token}/{name}"]["get"]
    assert described["security"] == []
    assert [(one["name"], one["in"]) for one in described["parameters"]] == [
        ("token", "path"),
        ("name", "path"),
    ]
    assert {"200", "206", "304", "404", "410", "412", "416", "421", "429"} <= set(described["responses"])
