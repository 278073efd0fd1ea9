"""The room: its response is what a click gets, block borders do not show, it can be stopped."""

import numpy as np
import pytest

from engine.control import Uncontrolled
from engine.sketch.reverb import Reverb, impulse_response

RATE = 48_000


def test_a_click_anywhere_is_answered_by_the_same_response() -> None:
    response = impulse_response(RATE, 0.3)
    frames = 250_000
    for place in (0, 100_000, 164_000):
        send = np.zeros(frames, dtype=np.float32)
        send[place] = 1
        mix = np.zeros((2, frames), dtype=np.float32)
        Reverb(RATE, 0.3).add(send, mix, Uncontrolled())
        answer = mix[:, place : place + response.shape[1]]
        assert np.allclose(answer, response, atol=1e-5)
        assert np.abs(mix[:, :place]).max(initial=0) < 1e-5


def test_the_response_decays_is_wide_and_has_unit_energy() -> None:
    response = impulse_response(RATE, 1.0)
    assert np.square(response).sum(axis=1) == pytest.approx([1, 1], rel=1e-4)
    assert abs(float(np.mean(response[0] * response[1]))) * response.shape[1] < 0.1
    assert np.square(response[:, RATE * 3 // 4 :]).sum() < 0.01
    assert not response[:, : RATE // 100].any()


def test_a_stop_is_heard_between_blocks() -> None:
    class StopAsked(Exception):
        pass

    class Stopping(Uncontrolled):
        def check_cancelled(self) -> None:
            raise StopAsked

    with pytest.raises(StopAsked):
        Reverb(RATE, 0.1).add(np.ones(10, dtype=np.float32), np.zeros((2, 10), dtype=np.float32), Stopping())
