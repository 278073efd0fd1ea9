import pytest

from server.jobs.errors import (
    INTERRUPTED_MESSAGE,
    GroupFull,
    InputsFull,
    JobCancelled,
    JobError,
    JobInterrupted,
    QueueClosed,
    QueueFull,
    UnknownJob,
)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (QueueFull(1), "The only place of the queue is taken; wait a few seconds and submit again."),
        (QueueFull(8), "All 8 places of the queue are taken; wait a few seconds and submit again."),
        (
            GroupFull(8, "agents"),
            "All 8 places of the queue that agents may have are taken; wait a few seconds and submit again.",
        ),
        (
            GroupFull(1, "agents"),
            "The only place of the queue that agents may have is taken; wait a few seconds and submit again.",
        ),
        (
            InputsFull(64),
            "Waiting jobs hold as much of the 64 bytes for uploads as there is; try again when some are done.",
        ),
        (QueueClosed(), "The server is shutting down; submit again once it is back."),
        (UnknownJob("ab"), "No job 'ab' is queued or running here; check the id."),
        (JobCancelled(), "The job was cancelled."),
        (JobInterrupted(), INTERRUPTED_MESSAGE),
    ],
)
def test_each_error_says_what_to_do(error: JobError, message: str) -> None:
    assert isinstance(error, JobError)
    assert str(error) == message


def test_errors_carry_what_they_are_about() -> None:
    assert QueueFull(3).limit == GroupFull(3, "agents").limit == InputsFull(3).limit == 3
    assert UnknownJob("ab").id == "ab"


def test_an_interruption_is_no_cancellation() -> None:
    assert not isinstance(JobInterrupted(), JobCancelled)
