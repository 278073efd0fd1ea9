"""When each phoneme is sung: vowels begin on their notes, consonants stand before them.

Times are the network's: steps of 25 ms, frames of half a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.sketch.voice.network import Curve, Reading, Steps
from engine.sketch.voice.phonemes import Nucleus, Text
from engine.speech.network import FRAME_SECONDS, FRAMES_A_STEP

Times = NDArray[np.floating]

STEP_SECONDS = FRAMES_A_STEP * FRAME_SECONDS
LEAD_FRAMES = (
    3  # a sound is heard so much before the frames that the network keeps for its phoneme (measured)
)
_LATER_STEPS = (
    1  # what a vowel's steps begin behind its note, because of that lead (measured: median 3 ms late)
)
_PAUSE_STEPS = 6  # before the first sound
_END_STEPS = (10, 2)  # of the full stop and the pause behind
_ROOM = 1.15  # consonants are sung a little longer than spoken
_MOST_CONSONANTS = 0.6  # of a note
# Behind a line's last vowel: the network gives a final t a third of a second, most of it silence.
_MOST_CODA_STEPS, _CODA_BEHIND_STEPS = 8, 4  # in all, and of these after the note's end
_RISE_FRAMES, _FALL_FRAMES = 8, 10  # of a held vowel at most, before and after its loudest
# A vowel is drawn out on its stress mark; at its letter the network is on the way to what follows.
_MOST_LETTER_STEPS, _LETTER_SHARE = 4, 0.3


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a line's phonemes are."""

    start: float  # seconds on the song's clock of the first frame
    steps: Steps  # (P + 2,)
    natural: Steps  # (P + 2,) as it would be spoken

    @property
    def frames(self) -> int:
        """Frames of the line."""
        return FRAMES_A_STEP * int(self.steps.sum())

    def times(self) -> Times:
        """(F,) seconds on the song's clock of each frame's middle."""
        return self.start + FRAME_SECONDS * (np.arange(self.frames) + 0.5)


def plan(text: Text, reading: Reading) -> Plan:
    """Steps for every phoneme, so that each vowel is heard from its note's start (to 12.5 ms) up to the next consonants."""
    natural, nuclei = reading.steps, text.nuclei
    steps = np.zeros_like(natural)
    first = nuclei[0].mark + 1
    opening = natural[1:first] * _ROOM
    lead_in = round(float(opening.sum()))
    start = nuclei[0].notes[0].start - STEP_SECONDS * (lead_in + _PAUSE_STEPS)
    onsets = [_step(nucleus.notes[0].start, start) for nucleus in nuclei]
    steps[1:first] = apportioned(opening, lead_in)
    steps[0] = onsets[0] - lead_in
    for nucleus, onset, end in zip(nuclei, onsets, _ends(nuclei, start), strict=True):
        left, vowel = nucleus.mark + 1, nucleus.vowel + 1
        following = [other.mark + 1 for other in nuclei if other.mark > nucleus.mark]
        right = following[0] if following else len(steps) - 2
        sung, total = natural[left:right], max(end - onset, 0)
        if following:
            steps[left:right] = _syllable(sung, vowel - left, total)
        else:
            steps[left:right] = _last_syllable(sung, vowel - left, total)
    steps[-2:] = _END_STEPS
    return Plan(start, steps, natural)


def _step(seconds: float, start: float) -> int:
    return round((seconds - start) / STEP_SECONDS) + _LATER_STEPS


def _ends(nuclei: Sequence[Nucleus], start: float) -> list[int]:
    """The step at which each syllable ends: where the next one begins, the last where its note ends."""
    onsets = [_step(nucleus.notes[0].start, start) for nucleus in nuclei]
    last = max(_step(nuclei[-1].notes[-1].end, start), onsets[-1] + 2)
    return [*onsets[1:], last]


def _last_syllable(natural: Steps, vowel: int, total: int) -> Steps:
    """As `_syllable`, but that the consonants are short, and the last of them are heard in the breath behind."""
    coda = natural[vowel + 1 :] * _ROOM
    shorter = min(_MOST_CODA_STEPS / max(float(coda.sum()), 1e-9), 1.0)
    brief = np.concatenate([natural[: vowel + 1], natural[vowel + 1 :] * shorter])
    behind = min(round(float(coda.sum()) * shorter), _CODA_BEHIND_STEPS)
    return _syllable(brief, vowel, total + behind)


def _syllable(natural: Steps | Times, vowel: int, total: int) -> Steps:
    """Steps of a stress mark, a vowel (at place `vowel`) and the consonants up to the next mark, `total` in all."""
    consonants = natural[vowel + 1 :] * _ROOM
    asked = min(round(float(consonants.sum())), int(_MOST_CONSONANTS * total))
    held = total - asked
    letter = min(int(natural[vowel]), _MOST_LETTER_STEPS, round(held * _LETTER_SHARE))
    inner = [held - letter, letter] if vowel else [held]
    return np.concatenate([inner, apportioned(consonants, asked)]).astype(np.int64)


def apportioned(weights: Times, total: int) -> Steps:
    """(n,) whole numbers in proportion to the weights, that sum to `total` (largest remainders; Hamilton's method)."""
    if not len(weights) or weights.sum() <= 0:
        return np.zeros(len(weights), np.int64)
    exact = weights * total / weights.sum()
    whole: Steps = np.floor(exact).astype(np.int64)
    for place in np.argsort(whole - exact, kind="stable")[: total - int(whole.sum())]:
        whole[place] += 1
    return whole


def spoken_frames(text: Text, drawn: Plan, energy: Curve) -> Times:
    """(F,) for every frame of the plan the frame (F', may be broken) of the line as spoken whose loudness it has.

    A vowel that is held longer than spoken rises and falls as it does when spoken, and stays at its loudest in between.
    """
    spoken = _edges(drawn.natural)
    sung = _edges(drawn.steps)
    places, frames = [0.0], [0.0]
    vowels = {nucleus.mark + 1: nucleus.vowel + 2 for nucleus in text.nuclei}
    inside = 0
    for phoneme in range(1, len(spoken)):
        if phoneme < inside:
            continue
        frames.append(sung[phoneme])
        places.append(spoken[phoneme])
        end = vowels.get(phoneme)
        if end is None:
            continue
        inside = end
        longer = (sung[end] - sung[phoneme]) - (spoken[end] - spoken[phoneme])
        if longer > 1:
            peak = _loudest(energy, spoken[phoneme], spoken[end])
            frames += [
                sung[phoneme] + min(peak - spoken[phoneme], _RISE_FRAMES),
                sung[end] - min(spoken[end] - peak, _FALL_FRAMES),
            ]
            places += [peak, peak]
    order = np.maximum.accumulate(np.array(frames)) + 1e-6 * np.arange(len(frames))
    mapped = np.interp(np.arange(drawn.frames), order, places)
    return np.clip(mapped, 0, len(energy) - 1)


def _edges(steps: Steps) -> list[float]:
    """(P + 3,) frames at which the phonemes are heard to begin, and where the last one ends."""
    begin = [0, *np.cumsum(steps)]
    return [float(max(FRAMES_A_STEP * edge - LEAD_FRAMES, 0)) for edge in begin]


def _loudest(energy: Curve, left: float, right: float) -> float:
    first = min(max(int(left), 0), len(energy) - 1)
    peak = first + int(np.argmax(energy[first : max(int(np.ceil(right)), first + 1)]))
    return min(max(float(peak), left + 1), max(right - 1, left + 1), right)


def held_frames(text: Text, drawn: Plan) -> NDArray[np.bool_]:
    """(F,) true where a vowel is held, and so voiced whatever the network thinks."""
    sung = _edges(drawn.steps)
    held = np.zeros(drawn.frames, bool)
    for nucleus in text.nuclei:
        held[int(sung[nucleus.mark + 1]) : int(sung[nucleus.vowel + 2])] = True
    return held


def rests(text: Text, drawn: Plan, shortest_seconds: float) -> list[tuple[int, int]]:
    """Frames (from, to) between notes that part by at least `shortest_seconds`, without the consonants of the next."""
    sung = _edges(drawn.steps)
    found = []
    for here, there in pairwise(text.nuclei):
        end, begin = here.notes[-1].end, there.notes[0].start
        if begin - end >= shortest_seconds:
            last = int(sung[here.vowel + 2])
            first = max(round((end - drawn.start) / FRAME_SECONDS), int(sung[here.mark + 1]))
            if first < last:
                found.append((first, last))
    return found
