"""The scales."""

import os

import numpy as np

from bench.processes import MEGABYTE, Scales


def test_what_is_there_at_the_end_is_weighed() -> None:
    with Scales(os.getpid()) as scales:
        kept = np.ones(64_000_000, np.uint8)
    assert scales.heaviest >= scales.before
    assert 60 < scales.growth_megabytes < 200
    assert kept.nbytes == 64 * MEGABYTE
