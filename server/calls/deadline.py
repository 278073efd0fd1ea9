"""How long a synchronous call may wait for its job."""

import math
from typing import Final

ANNOUNCED_IN: Final = ("x-stainless-read-timeout", "x-stainless-timeout")
"""Seconds after which the client gives a call up, as OpenAI's packages for Python and for JavaScript announce them."""

MARGIN_SECONDS: Final = 15.0
"""How long before that it is answered, so that the answer arrives."""


def patience(configured_seconds: float, *announced: str | None) -> float:
    """Seconds from a request's arrival to its 504: as configured, or less where the client itself waits less.

    A client that waits for less than twice the margin gets half of its own time. What is no positive number announces
    nothing; of several announcements the least counts.
    """
    seconds = min((told for text in announced if (told := _positive(text or "")) is not None), default=None)
    if seconds is None:
        return configured_seconds
    return min(configured_seconds, max(seconds - MARGIN_SECONDS, seconds / 2))


def _positive(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None
