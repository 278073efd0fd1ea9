"""What the document is put together of."""

import pytest

from server.openapi.atoms import TEXT, answer, content, fields, nullable, query, reference, refusals


def test_an_object_needs_all_of_its_fields_unless_some_are_named() -> None:
    assert fields({"a": TEXT, "b": TEXT})["required"] == ["a", "b"]
    assert fields({"a": TEXT, "b": TEXT}, ["b"])["required"] == ["b"]


def test_every_route_can_meet_the_refusals_of_the_edge() -> None:
    always = ["400", "401", "403", "404", "413", "421", "500"]
    assert list(refusals()) == always
    assert list(refusals(429, 409)) == sorted([*always, "409", "429"])
    with pytest.raises(KeyError):
        refusals(418)


def test_a_response_has_a_body_and_headers_only_where_it_is_given_some() -> None:
    assert answer("Gone.") == {"description": "Gone."}
    assert answer("Text.", content(TEXT, "text/plain"), {"X": {}}) == {
        "description": "Text.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
        "headers": {"X": {}},
    }


def test_parameters_and_references_are_those_of_openapi() -> None:
    assert query("n", "A number.", nullable("number"))["required"] is False
    assert query("n", "A number.", nullable("number"), required=True)["in"] == "query"
    assert nullable("number") == {"type": ["number", "null"]}
    assert reference("Job") == {"$ref": "#/components/schemas/Job"}
