import pytest

from server.jobs.job import Job
from server.jobs.lineup import Lineup
from tests.server.jobs.builders import make_job


def filled(**released: bool) -> tuple[Lineup, dict[str, Job]]:
    lineup, jobs = Lineup(), {id: make_job(id) for id in released}
    for id, job in jobs.items():
        job.released = released[id]
        lineup.add(job)
    return lineup, jobs


def test_the_running_job_comes_first_and_counts() -> None:
    lineup, _ = filled(a=True, b=False)
    assert (len(lineup), lineup.running, lineup.queued) == (2, 0, 1)
    lineup.active = make_job("x")
    assert [job.id for job in lineup] == ["x", "a", "b"]
    assert (len(lineup), lineup.running, lineup.queued) == (3, 1, 1)


def test_an_id_is_held_once() -> None:
    lineup, _ = filled(a=True)
    lineup.active = make_job("x")
    for id in ("a", "x"):
        with pytest.raises(ValueError, match="id of its own"):
            lineup.add(make_job(id))
    assert len(lineup) == 2


def test_only_released_jobs_are_next_and_ahead() -> None:
    lineup, jobs = filled(a=False, b=True, c=True, d=False)
    assert lineup.first_released() is jobs["b"]
    assert [lineup.position(job) for job in jobs.values()] == [1, 1, 2, 3]
    lineup.remove(jobs["b"])
    assert lineup.first_released() is jobs["c"]
    assert lineup.waiting("b") is None
    assert lineup.waiting("c") is jobs["c"]
    lineup.active = jobs["b"]
    assert lineup.position(jobs["b"]) == 0


def test_nothing_is_next_where_nothing_is_released() -> None:
    lineup, _ = filled(a=False)
    assert lineup.first_released() is None


def test_closing_takes_out_the_released_and_asks_the_running_to_stop() -> None:
    lineup, jobs = filled(a=False, b=True, c=True)
    lineup.active = make_job("x")
    assert lineup.close() == (jobs["b"], jobs["c"])
    assert [job.id for job in lineup] == ["x", "a"]
    assert lineup.active.interrupted
    assert not jobs["b"].interrupted
