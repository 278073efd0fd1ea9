"""Memory for tensors on any device."""

import math

import numpy as np
import torch

from engine.errors import OutOfMemory

Shape = tuple[int, ...]


def allocate(shape: Shape, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A tensor whose values are yet to be written.

    On a processor the memory is numpy's, which asks the system for huge pages: weights stream faster from them.
    Raises OutOfMemory.
    """
    try:
        if device.type == "cpu":
            return _view(np.empty(_bytes(shape, dtype), dtype=np.uint8), shape, dtype)
        return torch.empty(shape, dtype=dtype, device=device)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise _no_room(shape, dtype, device) from error


def allocate_zeros(shape: Shape, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A tensor of zeros; on a processor its pages take no memory until they are written. Raises OutOfMemory."""
    try:
        if device.type == "cpu":
            return _view(np.zeros(_bytes(shape, dtype), dtype=np.uint8), shape, dtype)
        return torch.zeros(shape, dtype=dtype, device=device)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise _no_room(shape, dtype, device) from error


def _bytes(shape: Shape, dtype: torch.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def _view(
    memory: np.ndarray[tuple[int], np.dtype[np.uint8]], shape: Shape, dtype: torch.dtype
) -> torch.Tensor:
    if not memory.size:  # nothing has no stride to view it by
        return torch.empty(shape, dtype=dtype)
    return torch.from_numpy(memory).view(dtype).view(shape)


def _no_room(shape: Shape, dtype: torch.dtype, device: torch.device) -> OutOfMemory:
    gibibytes = _bytes(shape, dtype) / 2**30
    return OutOfMemory(
        f"There is no room for {gibibytes:.2f} GiB more on {device}; ask for fewer or shorter songs at once, or free memory."
    )
