"""Which number formats each half computes in, and what to say where a format does not hold the numbers.

Half precision on processors: float16 products of one row stream weights at the speed of memory, bfloat16 products
of many rows are the fastest, and attention is fastest in bfloat16, so the halves and the cache differ there.
"""

from dataclasses import dataclass

import torch

from engine.errors import DeviceError

PRECISIONS = ("auto", "bf16", "fp16", "fp32")
"""What can be asked for."""

_FIRST_BF16_CAPABILITY = 8  # compute capability (major) of the first CUDA devices with bfloat16 units


@dataclass(frozen=True, slots=True)
class Precision:
    """Formats of one configuration: of each half's weights, of the key/value cache and of the residual stream."""

    name: str
    decoder: torch.dtype
    acoustic: torch.dtype
    cache: torch.dtype
    residual: torch.dtype


def choose(device: torch.device, wish: str) -> Precision:
    """The formats for a device and one of `PRECISIONS`.

    Raises:
        DeviceError: the wish is unknown, or the device cannot compute so.
    """
    if wish not in PRECISIONS:
        raise DeviceError(
            f"There is no precision {wish!r}; set YUE2_PRECISION to one of: {', '.join(PRECISIONS)}."
        )
    if wish == "fp32":
        return Precision("fp32", torch.float32, torch.float32, torch.float32, torch.float32)
    if device.type == "cpu":
        return _on_processor(wish)
    if device.type == "cuda":
        return _on_cuda(device, wish)
    raise DeviceError(f"{device} is neither a processor nor a CUDA device; choose cpu or cuda.")


def _on_processor(wish: str) -> Precision:
    if wish == "bf16":
        return Precision("bf16", torch.bfloat16, torch.bfloat16, torch.bfloat16, torch.float32)
    return Precision("fp16", torch.float16, torch.bfloat16, torch.bfloat16, torch.float32)


def _on_cuda(device: torch.device, wish: str) -> Precision:
    has_bf16 = torch.cuda.get_device_capability(device)[0] >= _FIRST_BF16_CAPABILITY
    if wish == "bf16" and not has_bf16:
        raise DeviceError(f"{device} cannot compute in bfloat16; set YUE2_PRECISION to auto, fp16 or fp32.")
    if wish == "fp16" or not has_bf16:
        return Precision("fp16", torch.float16, torch.float16, torch.float16, torch.float32)
    return Precision("bf16", torch.bfloat16, torch.bfloat16, torch.bfloat16, torch.bfloat16)


def overflow(precision: Precision) -> str:
    """A sentence for numbers that are too large for the precision in use, or not numbers at all."""
    if precision.name == "fp32":
        return (
            "The model computed something that is no number; its weights are damaged: pull the model again."
        )
    wider = "fp32" if precision.residual is torch.bfloat16 or precision.name == "bf16" else "bf16 or fp32"
    return (
        f"The model's numbers do not fit into {precision.name} on this device; set YUE2_PRECISION to {wider}."
    )
