"""The probe's reading of answers."""

from urllib.parse import urlsplit

import pytest

from bench.probe import latencies
from tests.server.client.double import studio_double


def test_each_answer_is_timed() -> None:
    with studio_double() as double:
        samples = latencies(urlsplit(double.address).port or 0, 0.02)
        assert len(samples) == len(double.seen) > 1
    assert all(0 < sample < 1000 for sample in samples)


def test_an_answer_that_is_no_200_is_an_error() -> None:
    with studio_double() as double:
        double.refusals.append((500, "broken", 0))
        port = urlsplit(double.address).port or 0
        with pytest.raises(ConnectionError, match="not a 200"):
            latencies(port, 0.02)
