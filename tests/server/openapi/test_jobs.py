"""The routes about a job, as they are described."""

from typing import Any

import pytest

from server.envelopes import error_body
from server.errors import ANSWERS, JobFailed, job_outcome
from server.jobs.errors import JobCancelled
from server.openapi.jobs import job_paths
from server.routes.native import READ_OPTIONS
from storage.errors import EntryExpired, UnknownEntry
from tests.server.openapi.test_document import jsonable


@pytest.fixture(scope="module")
def reading() -> dict[str, Any]:
    described: dict[str, Any] = jsonable(job_paths())["/job"]["get"]
    return described


def test_everything_that_a_job_can_be_asked_is_described(reading: dict[str, Any]) -> None:
    assert [parameter["name"] for parameter in reading["parameters"]] == list(READ_OPTIONS)
    assert [parameter["name"] for parameter in reading["parameters"] if parameter["required"]] == ["id"]
    follow = next(parameter for parameter in reading["parameters"] if parameter["name"] == "follow")
    assert follow["schema"] == {"const": "1"}


def test_every_status_that_a_followed_job_is_answered_with_is_described(reading: dict[str, Any]) -> None:
    kinds: list[type[BaseException]] = [*ANSWERS, MemoryError, RuntimeError]
    codes = {job_outcome(kind.__new__(kind))[1] for kind in kinds} - {""} | {"result_missing"}
    statuses = {error_body(JobFailed(code, ""))[0] for code in codes}
    statuses |= {error_body(error)[0] for error in (JobCancelled(), UnknownEntry("0"), EntryExpired("0"))}
    assert statuses == {400, 404, 409, 410, 500, 503, 507}
    assert {str(status) for status in statuses} <= set(reading["responses"])


def test_what_ranges_conditions_and_full_places_are_answered_with_is_described(
    reading: dict[str, Any],
) -> None:
    assert {"200", "206", "304", "412", "416", "429"} <= set(reading["responses"])


def test_cancelling_and_deleting_can_find_the_job_gone() -> None:
    paths = jsonable(job_paths())
    assert {"200", "404", "410"} <= set(paths["/job"]["post"]["responses"])
    assert {"204", "404", "410"} <= set(paths["/job"]["delete"]["responses"])
    assert {"200", "404", "410", "429"} <= set(paths["/job/events"]["get"]["responses"])
