"""What work leaves behind: its times, and the digest of what was asked for."""

import pytest

from server.work import Stopwatch, digest_of, sha256_of


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


def test_a_digest_does_not_depend_on_the_order_of_fields() -> None:
    assert digest_of("synth", {"a": 1, "b": [2]}) == digest_of("synth", {"b": [2], "a": 1})
    assert digest_of("synth", {"a": 1}) != digest_of("synth", {"a": 2})


def test_an_upload_has_the_digest_of_its_bytes() -> None:
    assert sha256_of(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256_of(memoryview(b"ab")) == sha256_of(b"ab") != sha256_of(b"ba")
