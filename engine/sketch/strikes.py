"""What a sampler is told to play."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strike:
    """One key pressed: seconds, MIDI key and velocity; `weight` is a further factor of loudness."""

    start: float
    length: float
    key: int
    velocity: int
    bar: int  # index among the bars as played
    weight: float = 1.0
    pan: float = 0.0  # beside the player's own place, -0.5 to 0.5
