"""Where Whisper computes: the card that was asked for, or the processor where that one cannot be used."""

import logging
from dataclasses import dataclass, replace
from typing import Final

import ctranslate2
import numpy as np

from engine.errors import DeviceError
from engine.transcription.features import RATE_HZ
from engine.transcription.weights import Weights
from engine.transcription.whisper import Whisper

PROCESSOR: Final = "cpu"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Device:
    """`name` is "cpu", "cuda" or "cuda:N"; `note` says why it is not the one asked for."""

    name: str
    compute_type: str
    note: str = ""


def chosen(name: str, compute_type: str = "") -> Device:
    """The device of that name, for "auto" the first card there is; and the number format that suits it."""
    if name == "auto":
        name = "cuda" if ctranslate2.get_cuda_device_count() > 0 else PROCESSOR
    return Device(name, compute_type or ("int8" if name == PROCESSOR else "float16"))


def opened(weights: Weights, device: Device, threads: int) -> tuple[Whisper, Device]:
    """The model, and the device that it was opened on: the processor where the card asked for cannot be used.

    Raises CheckpointError, OutOfMemory; DeviceError where the processor cannot be used either.
    """
    try:
        return _tried(weights, device, threads), device
    except DeviceError as error:
        if device.name == PROCESSOR:
            raise
        note = f"What was said was written down on the processor and not on {device.name}. {error}"
        _log.warning("transcription uses the processor and not %s: %s", device.name, error)
    device = replace(chosen(PROCESSOR), note=note)
    return Whisper(weights, device.name, device.compute_type, threads), device


def _tried(weights: Weights, device: Device, threads: int) -> Whisper:
    """The model, after a second of silence on a card, whose libraries are looked for only then."""
    whisper = Whisper(weights, device.name, device.compute_type, threads)
    if device.name != PROCESSOR:
        whisper.heard(np.zeros(RATE_HZ, np.float32))
    return whisper
