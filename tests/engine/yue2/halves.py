"""Both halves of a small checkpoint with one cache, as the tests of several modules want them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.control import Check, unchecked
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.acoustic import Acoustic
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.kv_cache import KvCache
from engine.yue2.network.precision import Precision, choose
from engine.yue2.network.rotary import Rotary
from engine.yue2.network.weights import load_acoustic, load_decoder
from engine.yue2.vocabulary import VOCABULARY, TokenRows

CPU = torch.device("cpu")
ALL_ROWS = TokenRows(0, VOCABULARY, 0, range(0))
EXACT = 2e-5  # greatest error of float32 hidden states, keys, values, logits, velocities and latents


@dataclass(frozen=True, slots=True)
class Halves:
    """Both halves and their cache of `slots` sequences."""

    decoder: Decoder
    acoustic: Acoustic
    cache: KvCache


def open_halves(
    checkpoint: Checkpoint,
    config: ModelConfig,
    wish: str = "fp32",
    slots: int = 3,
    capacity: int = 256,
    device: torch.device = CPU,
) -> Halves:
    return halves_of(checkpoint, config, choose(device, wish), slots, capacity, device)


def halves_of(
    checkpoint: Checkpoint,
    config: ModelConfig,
    precision: Precision,
    slots: int = 3,
    capacity: int = 256,
    device: torch.device = CPU,
) -> Halves:
    cache = KvCache(config, device, precision.cache, slots, capacity)
    rotary = Rotary(config, device, precision.residual)
    decoder = load_decoder(checkpoint, config, device, precision, unchecked)
    acoustic = load_acoustic(checkpoint, config, device, precision, unchecked)
    return Halves(Decoder(decoder, config, cache, rotary), Acoustic(acoustic, config, cache, rotary), cache)


def error(found: torch.Tensor, expected: torch.Tensor | NDArray[np.float32]) -> float:
    """The greatest difference of two arrays of one shape."""
    wanted = torch.as_tensor(expected)
    assert found.shape == wanted.shape
    return float((found.double() - wanted.double()).abs().max())


class StopAt:
    """A check that stops the work when it is called for the `count`-th time."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise InterruptedError


def checks_of(work: Callable[[Check], object]) -> int:
    """How often a piece of work checks."""
    stop = StopAt(0)
    work(stop)
    return -stop.left
