"""Swung eighths: a score is written straight, and the players of some genres know better."""

from bisect import bisect_right
from dataclasses import replace

from engine.score.model import Timeline

STRAIGHT = 0.5


def swung(timeline: Timeline, share: float) -> Timeline:
    """The timeline with the second half of every beat beginning at `share` of it; beats and bars stay.

    Only meters whose beat is a quarter (or longer and undotted) swing: in compound ones the beat has three parts.
    """
    if share == STRAIGHT or any(unit == 8 for _, unit in timeline.meters):
        return timeline
    edges = [*timeline.beats, timeline.duration]

    def moved(instant: float) -> float:
        beat = bisect_right(edges, instant + 1e-9) - 1
        if not 0 <= beat < len(edges) - 1:
            return instant
        start, length = edges[beat], edges[beat + 1] - edges[beat]
        along = (instant - start) / length if length else 0.0
        bent = along * share / 0.5 if along < 0.5 else 1 - (1 - along) * (1 - share) / 0.5
        return start + bent * length

    notes = tuple(replace(note, start=moved(note.start), end=moved(note.end)) for note in timeline.notes)
    return replace(timeline, notes=notes)
