"""The probe's schedule, its timing from planned instants, its reading of answers."""

from urllib.parse import urlsplit

import pytest

from bench.probe import Probe, planned, probe, probe_health
from bench.report import percentile
from tests.server.client.double import Studio, studio_double


class Time:
    """A clock that moves where the test says: by sleeping, and by answers that take `ask_seconds` in turn."""

    def __init__(self, ask_seconds: list[float], oversleep: float = 0.0) -> None:
        self.now = 100.0
        self.asked_at: list[float] = []
        self._ask_seconds = iter(ask_seconds)
        self._oversleep = oversleep

    def ask(self) -> None:
        self.asked_at.append(self.now - 100.0)
        self.now += next(self._ask_seconds)

    def pause(self, seconds: float) -> None:
        self.now += seconds + self._oversleep

    def clock(self) -> float:
        return self.now


def port_of(double: Studio) -> int:
    return urlsplit(double.address).port or 0


def test_the_schedule_has_an_instant_every_five_milliseconds() -> None:
    assert planned(0.02) == pytest.approx([0.0, 0.005, 0.01, 0.015])
    assert len(planned(15.0)) == 3000


def test_prompt_answers_are_asked_for_on_schedule() -> None:
    time = Time([0.001] * 4)
    answers, wakings = probe(time.ask, 0.02, time.clock, time.pause)
    assert time.asked_at == pytest.approx([0.0, 0.005, 0.01, 0.015])
    assert answers == pytest.approx([1.0] * 4)
    assert wakings == pytest.approx([0.0] * 3, abs=1e-6)


def test_one_stall_counts_for_every_probe_that_it_delayed() -> None:
    time = Time([0.001] * 10 + [0.251] + [0.001] * 989)
    answers, _ = probe(time.ask, 5.0, time.clock, time.pause)
    assert len(answers) == 1000
    assert answers[9:13] == pytest.approx([1.0, 251.0, 247.0, 243.0])
    assert sum(answer > 5 for answer in answers) == 62  # it is caught up with at 4 ms a probe
    assert percentile(answers, 0.99) > 200
    assert answers[-1] == pytest.approx(1.0)


def test_waking_late_counts_and_is_told_by_itself() -> None:
    time = Time([0.001] * 3, oversleep=0.002)
    answers, wakings = probe(time.ask, 0.015, time.clock, time.pause)
    assert answers == pytest.approx([1.0, 3.0, 3.0])
    assert wakings == pytest.approx([2.0, 2.0])


def test_each_planned_request_is_answered_on_one_connection() -> None:
    with studio_double() as double:
        found = probe_health(port_of(double), 0.02)
        assert len(found.answers) == len(double.seen) == 4
    assert all(answer > 0 for answer in found.answers)
    assert found.ended > found.began


def test_an_answer_that_is_no_200_is_an_error() -> None:
    with studio_double() as double:
        double.refusals.append((500, "broken", 0))
        with pytest.raises(ConnectionError, match="not a 200"):
            probe_health(port_of(double), 0.02)


def test_a_probing_process_hands_over_what_it_found() -> None:
    with studio_double() as double:
        beside = Probe(port_of(double), 0.01)
        assert beside.has_ended_within(60)
        assert len(beside.probed().answers) == len(double.seen) == 2


def test_a_probing_process_that_fails_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with studio_double() as double:
        double.refusals.append((500, "broken", 0))
        with pytest.raises(RuntimeError, match="probe of /health failed"):
            Probe(port_of(double), 0.01).probed()
    assert "not a 200" in capfd.readouterr().err
