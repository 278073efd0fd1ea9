"""Sound at another pace: as long as asked, at the same pitch, and its silences gone first where it is hurried."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.speech.pace import left_to_pace, paced, said_at
from engine.speech.voice import Sound

RATE_HZ = 24_000


def voice(seconds: float, pitch_hz: float = 200.0) -> Sound:
    """Harmonics of a pitch that fade in and out."""
    time = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    wave = sum(np.sin(2 * np.pi * pitch_hz * number * time) / number for number in range(1, 6))
    return (0.2 * wave * np.minimum(1, np.minimum(time, time[::-1]) / 0.02)).astype(np.float32)


def silence(seconds: float) -> Sound:
    return np.zeros(round(seconds * RATE_HZ), np.float32)


def pitch_of(sound: Sound) -> float:
    """The strongest frequency in Hz."""
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), 2**17))
    return float(np.argmax(spectrum)) * RATE_HZ / 2**17


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.25, 2.0, 3.0, 4.0])
def test_length_changes_and_pitch_and_loudness_stay(speed: float) -> None:
    sound = voice(1.0)
    got = paced(sound, speed).sound
    assert len(got) == round(len(sound) / speed)
    assert got.dtype == np.float32
    assert pitch_of(got) == pytest.approx(200, abs=2)
    inside = got[len(got) // 10 : -len(got) // 10]
    assert np.sqrt(np.mean(np.square(inside))) == pytest.approx(np.sqrt(np.mean(np.square(sound))), rel=0.1)
    assert np.abs(got).max() < 1.1 * np.abs(sound).max()


def test_its_own_pace_leaves_a_sound_as_it_is() -> None:
    sound = voice(0.2)
    same = paced(sound, 1.0)
    assert same.sound is sound
    assert same.place(1_234.5) == 1_234.5


@pytest.mark.parametrize(("speed", "kept"), [(0.5, 2.0), (2.0, 0.5), (3.0, 2 / 9), (4.0, 1 / 8)])
def test_silence_gives_way_first_where_speech_is_hurried_most(speed: float, kept: float) -> None:
    sound = np.concatenate([voice(0.5), silence(0.3), voice(0.5)])
    got = paced(sound, speed)
    assert len(got.sound) == round(len(sound) / speed)
    begin, end = got.place(0.5 * RATE_HZ), got.place(0.8 * RATE_HZ)
    assert (end - begin) / RATE_HZ == pytest.approx(0.3 * kept, abs=0.01)
    quiet = got.sound[int(begin) + 240 : int(end) - 240]
    assert np.sqrt(np.mean(np.square(quiet))) < 0.02
    assert got.place(len(sound)) == pytest.approx(len(got.sound), abs=1)


@pytest.mark.parametrize("speed", [0.25, 0.5, 2.0, 4.0])
def test_what_is_heard_is_where_it_is_said_to_be(speed: float) -> None:
    sound = np.concatenate([voice(0.4, 150), voice(0.4, 300)])
    got = paced(sound, speed)
    change = got.place(0.4 * RATE_HZ)
    margin = 0.03 * RATE_HZ
    assert pitch_of(got.sound[: int(change - margin)]) == pytest.approx(150, abs=8)
    assert pitch_of(got.sound[int(change + margin) :]) == pytest.approx(300, abs=8)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(samples=st.integers(0, 3_000), speed=st.floats(0.25, 4.0), loud=st.booleans())
def test_any_sound_is_as_long_as_asked_and_its_places_rise(samples: int, speed: float, loud: bool) -> None:
    sound = np.random.default_rng(samples).uniform(-1, 1, samples).astype(np.float32) * np.float32(loud)
    got = paced(sound, speed)
    assert len(got.sound) == (round(samples / speed) if speed != 1 else samples)
    assert np.isfinite(got.sound).all()
    assert (np.diff(got.after) >= 0).all()
    assert got.place(0) == 0


@pytest.mark.parametrize(
    ("speed", "said", "left"),
    [(0.25, 0.5, 0.5), (0.5, 0.5, 1.0), (0.75, 0.75, 1.0), (1.0, 1.0, 1.0), (1.5, 1.0, 1.5), (2.0, 1.0, 2.0)],
)
def test_a_network_speaks_between_half_its_pace_and_its_own(speed: float, said: float, left: float) -> None:
    assert (said_at(speed), left_to_pace(speed)) == (said, left)


def test_what_is_hurried_most_may_last_a_little_longer() -> None:
    speeds = np.linspace(2.0, 4.0, 21)
    paces = [left_to_pace(float(speed)) for speed in speeds]
    longer = speeds / np.array(paces)
    assert paces == sorted(paces)
    assert longer[:5] == pytest.approx([1, 1.016, 1.032, 1.048, 1.064])
    assert longer[5:] == pytest.approx(1.08)
