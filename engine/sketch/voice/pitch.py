"""How high the voice is: the notes, the way from one to the next, and vibrato on long ones."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.score.model import TimedNote
from engine.sketch.voice.network import Curve

# Between these the middle of a song lies, around the 55 at which the voice speaks; else it is sung in another octave.
HOME_MIDI = (47, 58)
LOWEST_MIDI, HIGHEST_MIDI = 38, 79  # beyond these a line is
GLIDE_SECONDS = 0.07  # from one note to the next, around the later one's start
ADJACENT_SECONDS = 0.06  # notes this close are joined by a glide
SCOOP_SEMITONES, SCOOP_SECONDS = 0.6, 0.05  # below a note that begins afresh; how fast that falls off
LONG_SECONDS = 0.55  # notes with vibrato
_VIBRATO_CENTS = 27.0
_VIBRATO_HZ = (5.2, 5.8)
_DELAY_SECONDS, _RISE_SECONDS, _FALL_SECONDS = 0.2, 0.3, 0.1


def home_octaves(notes: Sequence[TimedNote]) -> int:
    """Octaves by which a song goes up (or down) so that its middle is where the voice is understood best."""
    if not notes:
        return 0
    middle = float(np.median([note.midi for note in notes]))
    low, high = HOME_MIDI
    if middle > high:
        return -int(np.ceil((middle - high) / 12))
    return int(np.ceil((low - middle) / 12)) if middle < low else 0


def line_octaves(notes: Sequence[TimedNote], octaves: int) -> int:
    """Octaves for one line of the song, so that none of its notes is out of reach; the highest counts more."""
    high = max(note.midi for note in notes) + 12 * octaves
    low = min(note.midi for note in notes) + 12 * octaves
    if high > HIGHEST_MIDI:
        return octaves - int(np.ceil((high - HIGHEST_MIDI) / 12))
    room = int((HIGHEST_MIDI - high) // 12)
    return octaves + min(max(int(np.ceil((LOWEST_MIDI - low) / 12)), 0), room)


def pitch_curve(
    notes: Sequence[TimedNote], times: NDArray[np.floating], octaves: int, draw: np.random.Generator
) -> Curve:
    """(F,) Hz at the given seconds, also between and around the notes; equal temperament, A4 = 440 Hz."""
    semitones = np.full(len(times), float(notes[0].midi))
    for before, note in pairwise(notes):
        glides = note.start - before.end < ADJACENT_SECONDS
        width = GLIDE_SECONDS / 2 if glides else 1e-3
        place = np.clip((times - note.start) / width, -1.0, 1.0)
        semitones += (note.midi - before.midi) * (0.5 + 0.5 * np.sin(np.pi / 2 * place))
    befores: list[TimedNote | None] = [None, *notes[:-1]]
    for previous, note in zip(befores, notes, strict=True):
        since = times - note.start
        inside = (since >= 0) & (times < note.end)
        if previous is None or note.start - previous.end >= ADJACENT_SECONDS:
            near = (since > -GLIDE_SECONDS) & (times < note.end)
            semitones -= near * SCOOP_SEMITONES * np.exp(-np.maximum(since, 0) / SCOOP_SECONDS)
        rate, turn = draw.uniform(*_VIBRATO_HZ), draw.uniform(0.9, 1.1)
        if note.end - note.start >= LONG_SECONDS:
            depth = np.clip((since - _DELAY_SECONDS) / _RISE_SECONDS, 0, 1)
            depth *= np.clip((note.end - times) / _FALL_SECONDS, 0, 1)
            wave = np.sin(2 * np.pi * rate * (since - _DELAY_SECONDS))
            semitones += inside * depth * wave * (turn * _VIBRATO_CENTS / 100)
    hertz = 440.0 * 2.0 ** ((semitones + 12 * octaves - 69) / 12)
    return np.asarray(hertz, np.float32)
