from typing import cast

import numpy as np
import pytest

from engine.errors import InvalidRequest
from engine.yue2.codec import LONGEST_FRAMES, Codec
from engine.yue2.parts import Parts
from tests.engine.yue2.songs import Stopped, Watch

CODEC = Codec(cast(Parts, None), 3)  # nothing below asks for a part


@pytest.mark.parametrize("frames", [1, LONGEST_FRAMES])
def test_latents_of_every_length_up_to_the_longest_song_are_taken(frames: int) -> None:
    latents = np.zeros((frames, 3), np.float32)
    CODEC.check(latents)
    assert latents.shape[0] == frames


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((0, 3), "1 to 24576 rows"),
        ((LONGEST_FRAMES + 1, 3), "you sent 24577"),
        ((3,), "3 numbers"),
        ((2, 4), "3 num"),
    ],
)
def test_latents_of_another_shape_are_refused(shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        CODEC.check(np.zeros(shape, np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_latents_that_are_not_finite_are_refused(value: float) -> None:
    latents = np.zeros((4, 3), np.float32)
    latents[2, 1] = value
    with pytest.raises(InvalidRequest, match="finite"):
        CODEC.check(latents)


def test_32_bit_files_keep_what_is_over_full_scale_and_others_do_not() -> None:
    loud = np.array([[0.5, -3.0], [1.5, 0.0]], np.float32)
    assert CODEC.finished(loud.copy(), "wav32", 0, Watch()).tolist() == loud.tolist()
    assert CODEC.finished(loud.copy(), "wav24", 0, Watch()).tolist() == (loud / 3).tolist()
    with pytest.raises(Stopped):
        CODEC.finished(loud, "mp3", 0, Watch(stop_at=1))
