"""Which notes of a chord are played: voicings that move little, and the bass."""

from collections.abc import Sequence

from engine.score import key_named
from engine.score.model import SEMITONES, TimedChord

LOWEST_BASS = 28  # E1, the bass's open string
_THIRDS, _FIFTHS = (3, 4, 2, 5), (7, 6, 8)
_MOST_TONES = 4


def pitch_classes(chord: TimedChord) -> tuple[int, ...]:
    """Pitch classes to be voiced, at most four: of richer chords the fifth and then the highest tones go."""
    intervals = sorted({interval % 12 for interval in chord.intervals} | {0})
    if len(intervals) > _MOST_TONES:
        intervals = [interval for interval in intervals if interval != 7]
    return tuple((chord.root + interval) % 12 for interval in intervals[:_MOST_TONES])


def voicing(classes: Sequence[int], previous: Sequence[int], center: int) -> tuple[int, ...]:
    """MIDI notes of a close position near `center` that moves least from the `previous` notes, low to high."""
    ordered = sorted(set(classes))
    candidates = [
        _close(ordered[turn:] + ordered[:turn], floor)
        for turn in range(len(ordered))
        for floor in (center - 12, center)
    ]
    return min(candidates, key=lambda notes: (_movement(notes, previous) + 2 * _offset(notes, center), notes))


def _close(classes: Sequence[int], floor: int) -> tuple[int, ...]:
    notes = [floor + (classes[0] - floor) % 12]
    for pitch_class in classes[1:]:
        notes.append(notes[-1] + 1 + (pitch_class - notes[-1] - 1) % 12)
    return tuple(notes)


def _movement(notes: Sequence[int], previous: Sequence[int]) -> int:
    return sum(min(abs(note - other) for other in previous) for note in notes) if previous else 0


def _offset(notes: Sequence[int], center: int) -> float:
    return abs(sum(notes) / len(notes) - center)


def bass_note(chord: TimedChord, degree: str, *, first: bool) -> int:
    """MIDI note of a bass step ("root", "third", "fifth", "octave"); the chord's first one takes its written bass."""
    foot = chord.bass if first else chord.root
    note = LOWEST_BASS + (foot - LOWEST_BASS) % 12
    if first or degree == "root":
        return note
    if degree == "octave":
        return note + 12
    wanted = _THIRDS if degree == "third" else _FIFTHS
    present = {interval % 12 for interval in chord.intervals}
    return note + next((interval for interval in wanted if interval in present), 0)


def leading_note(chord: TimedChord, following: TimedChord, key: str) -> int:
    """MIDI note that leads from one chord's root to the next chord's bass, from the side of where the bass is.

    It is the neighbour in the scale of `key`, or a semitone away where that is empty.
    """
    here, there = bass_note(chord, "root", first=False), bass_note(following, "root", first=True)
    side = -1 if here < there or there == LOWEST_BASS + 11 else 1
    signature = key_named(key).signature if key else {}
    scale = {(SEMITONES[step] + signature.get(step, 0)) % 12 for step in SEMITONES}
    if key and (there + side) % 12 not in scale:
        side *= 2
    return there + side if there + side >= LOWEST_BASS else there - side
