"""Whatever clients do in whatever order: one job a call, given up exactly when everyone has left it alone.

A retry finds its call, but that of an earlier one only while nobody can tell whose retry it is.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import ExitStack

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from server.calls.attendance import Attendance
from server.calls.recent import MEMORY_SECONDS, RecentCalls
from server.calls.repetition import Attempt, Relation, relation
from tests.server.calls.caller import FakeTimers

CALLS = st.sampled_from(["f", "g", "h"])


class CallsMachine(RuleBasedStateMachine):
    """Attempts at three calls come, retry, leave, are answered; handles are used; time passes; jobs end.

    The model beside it: for each call the job that a retry should find and when an attempt was last there, and whether
    a later one was turned away; for each job who is there, and whether it may be given up.
    """

    attempts = Bundle("attempts")

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.timers = FakeTimers()
        self.recent = RecentCalls(lambda: self.now)
        self.loop = asyncio.new_event_loop()
        self.attendance = Attendance(self.abandon, self.timers.later)
        self.drawn = 0
        self.live: set[str] = set()
        self.given_up: list[str] = []
        self.found: dict[str, tuple[str, float]] = {}
        self.there: dict[str, int] = {}
        self.kept: set[str] = set()
        self.answered: set[str] = set()
        self.turned_away_at: dict[str, float] = {}  # since the call's job was made

    def abandon(self, job_id: str, owner: str) -> Coroutine[None, None, None]:
        assert owner == "me"
        if job_id in self.live:
            self.recent.give_up(job_id)
            self.live.discard(job_id)
            self.given_up.append(job_id)
        return self.recorded()

    async def recorded(self) -> None:
        """Nothing is written here."""

    def teardown(self) -> None:
        self.loop.run_until_complete(self.attendance.close())
        assert self.timers.pending == []
        self.loop.close()

    def expected(self, call: str) -> str | None:
        """The job that a retry of the call is to find."""
        job_id, seen_at = self.found.get(call, ("", 0.0))
        is_young = self.there.get(job_id, 0) > 0 or self.now - seen_at <= MEMORY_SECONDS
        if job_id in self.answered and self.now - self.turned_away_at.get(call, -1e9) <= MEMORY_SECONDS:
            return None
        return job_id if job_id and is_young else None

    def known(self, call: str, attempt: Attempt) -> str | None:
        """The job that it does find, by the rules that calls are told apart with."""
        found = self.recent.find(call)
        if found is None or found.is_given_up:
            return None
        latest = self.recent.turned_away.latest(call)
        told = relation(attempt, found.maker, is_over=found.is_answered, turned_away=latest)
        return None if told is Relation.OTHER else found.job_id

    def come(self, call: str, job_id: str) -> tuple[str, str, ExitStack]:
        block = ExitStack()
        block.enter_context(self.attendance.attend(job_id))
        block.enter_context(self.recent.attempt(call, job_id))
        self.there[job_id] = self.there.get(job_id, 0) + 1
        return call, job_id, block

    @rule(target=attempts, call=CALLS)
    def first(self, call: str) -> tuple[str, str, ExitStack]:
        """A call is made."""
        return self.made(call, Attempt(self.recent.come(), is_retry=False))

    def made(self, call: str, attempt: Attempt) -> tuple[str, str, ExitStack]:
        self.drawn += 1
        job_id = f"job {self.drawn}"
        self.live.add(job_id)
        self.attendance.expect(job_id, "me")
        self.recent.remember(call, job_id, attempt)
        self.turned_away_at.pop(call, None)
        self.found[call] = (job_id, self.now)
        return self.come(call, job_id)

    @rule(target=attempts, call=CALLS)
    def retry(self, call: str) -> tuple[str, str, ExitStack]:
        """A call is made again."""
        attempt = Attempt(self.recent.come(), is_retry=True)
        job_id = self.known(call, attempt)
        assert job_id == self.expected(call)
        return self.made(call, attempt) if job_id is None else self.come(call, job_id)

    @rule(call=CALLS)
    def turn_away(self, call: str) -> None:
        """A new call that sends the same is refused."""
        self.recent.turned_away.note(call, self.recent.come())
        self.turned_away_at[call] = self.now

    @rule(attempt=consumes(attempts), is_answered=st.booleans())
    def leave(self, attempt: tuple[str, str, ExitStack], is_answered: bool) -> None:
        """A client goes, with its answer or without."""
        call, job_id, block = attempt
        if is_answered:
            self.attendance.answered(job_id)
            self.recent.answered(call, job_id)
            self.kept.add(job_id)
            self.answered.add(job_id)
        block.close()
        self.there[job_id] -= 1
        if self.found.get(call, ("", 0.0))[0] == job_id:
            self.found[call] = (job_id, self.now)

    @rule(number=st.integers(1, 30))
    def use(self, number: int) -> None:
        """Somebody asks for a job by its handle."""
        job_id = f"job {number}"
        if job_id in self.live:
            self.attendance.use(job_id)
            self.kept.add(job_id)

    @rule(number=st.integers(1, 30))
    def end(self, number: int) -> None:
        """A job ends."""
        self.live.discard(f"job {number}")

    @rule(seconds=st.sampled_from([1.0, MEMORY_SECONDS - 1.0, MEMORY_SECONDS + 1.0]))
    def wait(self, seconds: float) -> None:
        """Time passes, without what timers it would set off."""
        self.now += seconds

    @rule()
    def give_up(self) -> None:
        """The 20 seconds of all who are left alone pass."""
        alone = {job_id for job_id in self.live - self.kept if not self.there.get(job_id)}
        before = len(self.given_up)

        async def fire() -> None:
            self.timers.fire()
            await asyncio.gather(*self.attendance._tasks)

        self.loop.run_until_complete(fire())
        assert set(self.given_up[before:]) == alone
        for call, (job_id, _) in list(self.found.items()):
            if job_id in alone:
                del self.found[call]

    @invariant()
    def nobody_who_waits_is_given_up(self) -> None:
        """Nor is anything that was asked for or answered, and each job once at most."""
        assert len(set(self.given_up)) == len(self.given_up)
        assert not self.kept & set(self.given_up)

    @invariant()
    def a_timer_runs_for_each_job_that_is_left_alone(self) -> None:
        """And for no other."""
        left = [job for job in self.attendance._jobs.values() if job.clients == 0]
        assert len(self.timers.pending) == len(left)
        assert all(job.timer is not None for job in left)


TestCallsMachine = CallsMachine.TestCase
TestCallsMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
