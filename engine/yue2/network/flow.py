"""From noise to latents: the flow's differential equation, solved by the midpoint method from time 1 to time 0."""

import math
from collections.abc import Callable

import torch

from engine.control import Check
from engine.errors import NumericalError
from engine.yue2.network.acoustic import Acoustic
from engine.yue2.network.precision import overflow

LARGEST_RAW_TIME = 20.0


def noise(seed: int, frames: int, channels: int) -> torch.Tensor:
    """Where a flow begins: standard normal (frames, channels), float32, drawn on the CPU.

    More frames begin with the same ones, as long as `channels` is a multiple of 16.
    """
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(frames, channels, generator=generator)


def raw_times(steps: int) -> list[float]:
    """Logits of the times of all evaluations in their order, two a step, within 20 either way."""
    width = 1.0 / steps
    times = (1.0 - step * width - half for step in range(steps) for half in (0.0, width / 2))
    return [_logit(time) for time in times]


@torch.inference_mode()
def solve(
    acoustic: Acoustic,
    start: torch.Tensor,
    steps: int,
    slot: int,
    ar_length: int,
    check: Check,
    progress: Callable[[int], None],
    state_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Latents (B, T, C), float32 on the CPU, from noise (B, T, C), given the first `ar_length` positions of a slot.

    `progress` hears of every step that is done. The state has the dtype of the residual stream unless `state_dtype`
    names another. Raises NumericalError where the latents are not finite.
    """
    width = 1.0 / steps
    state = start.to(acoustic.cache.device, state_dtype or acoustic.weights.precision.residual)
    times = raw_times(steps)
    for step in range(steps):
        slope = acoustic.velocity(state, times[2 * step], slot, ar_length, check).to(state.dtype)
        middle = state - slope * width / 2
        slope = acoustic.velocity(middle, times[2 * step + 1], slot, ar_length, check).to(state.dtype)
        state = state - slope * width
        progress(step + 1)
    latents = state.float().cpu()
    if not bool(torch.isfinite(latents).all()):
        raise NumericalError(overflow(acoustic.weights.precision))
    return latents


def _logit(time: float) -> float:
    raw = math.log(time / (1.0 - time)) if time < 1.0 else LARGEST_RAW_TIME
    return min(max(raw, -LARGEST_RAW_TIME), LARGEST_RAW_TIME)
