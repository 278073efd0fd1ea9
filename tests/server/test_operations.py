"""Requests turned into work for the queue."""

import io
import itertools
import json

import pytest

from engine.catalogue import Catalogue
from engine.control import Uncontrolled
from engine.errors import InvalidRequest, UnknownModel
from engine.request import read_sketch, read_song
from server.operations import Operations, Stopwatch, digest_of

TUNE = "X:1\nM:4/4\nL:1/4\nQ:1/4=300\nK:C\nCDEF|\n"


@pytest.fixture(scope="module")
def operations() -> Operations:
    return Operations(Catalogue(), itertools.count(7).__next__)


def test_model_work_is_timed_apart_from_packaging() -> None:
    ticks = iter([0.0, 10.0, 13.0, 20.0, 24.0, 30.0])
    watch = Stopwatch(lambda: next(ticks))
    with watch.pipeline():
        pass
    with watch.pipeline():
        pass
    assert watch.metrics() == {
        "pipeline_seconds": 7.0,
        "encoding_packaging_seconds": 23.0,
        "worker_seconds": 30.0,
    }


def test_model_work_that_fails_is_timed_too() -> None:
    ticks = iter([0.0, 1.0, 3.0, 5.0])
    watch = Stopwatch(lambda: next(ticks))
    with pytest.raises(ValueError, match="broken"), watch.pipeline():
        raise ValueError("broken")
    assert watch.metrics()["pipeline_seconds"] == 2.0


def test_seeds_are_fixed_before_the_job_starts_and_no_part_of_the_digest(operations: Operations) -> None:
    prepared = [operations.synth(read_song({"abc": TUNE})) for _ in range(2)]
    replays = []
    for one in prepared:
        sink = io.BytesIO()
        packed = one.work("0" * 16, sink, Uncontrolled(), Stopwatch())
        span = packed.parts[0]
        replays.append(json.loads(sink.getvalue()[span.offset : span.offset + span.length]))
    assert replays[0]["seed"] != replays[1]["seed"]
    assert prepared[0].digest == prepared[1].digest


def test_operations_with_the_same_fields_are_different_requests(operations: Operations) -> None:
    song = read_song({"style": "folk"})
    assert operations.synth(song).digest != operations.plan(song).digest


def test_a_digest_does_not_depend_on_the_order_of_fields() -> None:
    assert digest_of("synth", {"a": 1, "b": [2]}) == digest_of("synth", {"b": [2], "a": 1})
    assert digest_of("synth", {"a": 1}) != digest_of("synth", {"a": 2})


def test_what_no_model_can_do_is_refused_before_any_job(operations: Operations) -> None:
    with pytest.raises(UnknownModel):
        operations.synth(read_song({"style": "folk", "model": "none"}))
    with pytest.raises(InvalidRequest):
        operations.plan(read_song({"style": "folk", "cot": "off"}))
    with pytest.raises(InvalidRequest):
        operations.sketch(read_sketch({"abc": TUNE, "from_bar": 9}))


def test_the_expected_stages_have_sizes(operations: Operations) -> None:
    stages = operations.synth(read_song({"style": "folk", "lm_batch_size": 2})).stages
    assert {stage.phase for stage in stages} == {"composing", "rendering", "encoding"}
    assert all(stage.units > 0 for stage in stages)
