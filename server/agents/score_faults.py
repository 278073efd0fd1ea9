"""What an agent is told of a score that is performed although something in it may not be meant so."""

from collections.abc import Iterator

from engine.errors import ScoreError
from engine.score import parse, validate, word_faults


def score_faults(abc: str) -> tuple[str, ...]:
    """Sentences on the first thing that parts a score from the dialect, such as a bar too long, and on the first line
    whose words do not fit its notes; nothing for a sound one.

    The band plays any score that it can read, and YuE2 any text: neither tells of a miscount.
    """
    if not abc.strip():
        return ()
    return tuple(
        f"The score is taken as it stands; look at one place in it: {fault}" for fault in _first_faults(abc)
    )


def _first_faults(abc: str) -> Iterator[ScoreError]:
    try:
        score = parse(abc)
        yield from word_faults(abc)[:1]
        validate(score)
    except ScoreError as fault:
        yield fault
