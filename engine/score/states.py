"""Values that hold from one bar to the next: meter, tempo, key."""

from collections.abc import Sequence
from typing import TypeVar

from engine.score.model import Score, Voice

Value = TypeVar("Value")


def in_force(initial: Value, changes: Sequence[Sequence[Value | None]]) -> list[Value]:
    """The value in each bar; `changes` holds for each voice the change at each bar. The first voice's change wins."""
    now, values = initial, []
    for index in range(max(map(len, changes), default=0)):
        for row in changes:
            change = row[index] if index < len(row) else None
            if change is not None:
                now = change
                break
        values.append(now)
    return values


def meters_along(score: Score) -> list[tuple[int, int]]:
    """The meter of each bar as written."""
    return in_force(score.meter, [[bar.meter for bar in voice.bars] for voice in score.voices])


def tempos_along(score: Score) -> list[float]:
    """The tempo of each bar as written, in quarter notes a minute."""
    return in_force(score.tempo_bpm, [[bar.tempo_bpm for bar in voice.bars] for voice in score.voices])


def keys_along(score: Score, voice: Voice) -> list[str]:
    """The key of each bar of one voice as written."""
    return in_force(score.key, [[bar.key for bar in voice.bars]])
