"""What can go wrong around jobs.

JobError
├── QueueFull        every slot is taken; nothing was admitted
│   └── GroupFull    those that one group of jobs may have; nothing was admitted
├── InputsFull       what jobs have uploaded takes all the memory it may; nothing was admitted
├── QueueClosed      the server is stopping; nothing was admitted
├── UnknownJob       the queue holds no job of that id (ended jobs are forgotten)
├── JobCancelled     raised inside running work whose user cancelled it
└── JobInterrupted   raised inside running work whose server is stopping
"""

INTERRUPTED_CODE = "interrupted_by_restart"
INTERRUPTED_MESSAGE = "The server was stopped before this job ended; submit it again."


class JobError(Exception):
    """Root of the errors around jobs."""


class QueueFull(JobError):
    """Every slot is taken, or every one that the jobs of `group` may have; `limit` is their number."""

    def __init__(self, limit: int, group: str = "") -> None:
        places = f"of the queue that {group} may have" if group else "of the queue"
        taken = f"All {limit} places {places} are" if limit > 1 else f"The only place {places} is"
        super().__init__(f"{taken} taken; wait a few seconds and submit again.")
        self.limit = limit


class GroupFull(QueueFull):
    """Every slot that one group of jobs may have is taken, while others may still be free."""


class InputsFull(JobError):
    """What jobs have uploaded takes all the memory it may, `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"Waiting jobs hold as much of the {limit} bytes for uploads as there is; try again when some are done."
        )
        self.limit = limit


class QueueClosed(JobError):
    """The server is stopping and admits no more work."""

    def __init__(self) -> None:
        super().__init__("The server is shutting down; submit again once it is back.")


class UnknownJob(JobError):
    """The queue holds no job of that id; `id` names it."""

    def __init__(self, id: str) -> None:
        super().__init__(f"No job {id!r} is queued or running here; check the id.")
        self.id = id


class JobCancelled(JobError):
    """The user cancelled the job that is running."""

    def __init__(self) -> None:
        super().__init__("The job was cancelled.")


class JobInterrupted(JobError):
    """The server is stopping while the job runs."""

    def __init__(self) -> None:
        super().__init__(INTERRUPTED_MESSAGE)
