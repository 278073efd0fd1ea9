"""How long to wait before asking again: pure policy, no clock and no sleep."""

REFUSAL_STEPS_SECONDS = (5.0, 10.0, 20.0, 30.0)
RECONNECT_STEPS_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
JITTER = 0.25  # of the step, always added, never taken away


def refusal_delay(refusals: int, retry_after_seconds: float, draw: float) -> float:
    """Seconds to wait after the `refusals`-th refusal in a row (from 1): 5, 10, 20, 30, 30 …

    Never less than the server asked for; `draw` in [0, 1) spreads callers that were refused together.
    """
    return max(_step(REFUSAL_STEPS_SECONDS, refusals), retry_after_seconds) * (1 + JITTER * draw)


def reconnect_delay(failures: int, draw: float) -> float:
    """Seconds to wait after the `failures`-th broken connection in a row (from 1): 0.5, 1, 2 … 15."""
    return _step(RECONNECT_STEPS_SECONDS, failures) * (1 + JITTER * draw)


def _step(steps: tuple[float, ...], count: int) -> float:
    return steps[min(max(count, 1), len(steps)) - 1]
