"""Who is next: the jobs that a queue holds, in order."""

from collections.abc import Iterator

from server.jobs.job import Job


class Lineup:
    """The running job and those that wait, released or not, in admission order. Owned by its queue's condition."""

    def __init__(self) -> None:
        self.active: Job | None = None
        self._waiting: dict[str, Job] = {}

    def __len__(self) -> int:
        return len(self._waiting) + self.running

    def __iter__(self) -> Iterator[Job]:
        """The running job first, then the waiting ones."""
        if self.active is not None:
            yield self.active
        yield from self._waiting.values()

    @property
    def running(self) -> int:
        """1 or 0."""
        return int(self.active is not None)

    @property
    def queued(self) -> int:
        """How many released jobs wait."""
        return sum(job.released for job in self._waiting.values())

    def add(self, job: Job) -> None:
        """Put a job at the end; ValueError where its id is held already."""
        if any(held.id == job.id for held in self):
            raise ValueError("A job of that id is already held; give each job an id of its own.")
        self._waiting[job.id] = job

    def waiting(self, id: str) -> Job | None:
        """The waiting job of that id."""
        return self._waiting.get(id)

    def remove(self, job: Job) -> None:
        """Take a waiting job out."""
        del self._waiting[job.id]

    def first_released(self) -> Job | None:
        """The job to run next."""
        return next((job for job in self._waiting.values() if job.released), None)

    def position(self, job: Job) -> int:
        """1 more than the released jobs ahead of a waiting job; 0 for the running one."""
        if job is self.active:
            return 0
        position = 1
        for other in self._waiting.values():
            if other is job:
                break
            position += other.released
        return position

    def close(self) -> tuple[Job, ...]:
        """Take out the released jobs and ask the running one to stop."""
        if self.active is not None:
            self.active.interrupted = True
        removed = tuple(job for job in self._waiting.values() if job.released)
        for job in removed:
            self.remove(job)
        return removed
