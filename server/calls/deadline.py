"""How long a synchronous call may wait for its job."""

import math
from typing import Final

READ_TIMEOUT_HEADER: Final = "x-stainless-read-timeout"
"""Seconds after which the client gives a call up, as OpenAI's packages announce them."""

MARGIN_SECONDS: Final = 15.0
"""How long before that it is answered, so that the answer arrives."""


def patience(configured_seconds: float, announced: str | None) -> float:
    """Seconds from a request's arrival to its 504: as configured, or less where the client itself waits less.

    A client that waits for less than twice the margin gets half of its own time. What is no positive number announces
    nothing.
    """
    seconds = _positive(announced or "")
    if seconds is None:
        return configured_seconds
    return min(configured_seconds, max(seconds - MARGIN_SECONDS, seconds / 2))


def _positive(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None
