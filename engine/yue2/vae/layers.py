"""The arithmetic of the VAE: snakes, convolutions and residual units, float32, evaluated in slices of time.

A layer maps (C, L) to (C', L'): channels by columns of time, one example. It works on slices of its output that
overlap in its input by as much as the kernel reaches, which is exact, keeps what lies between a layer's steps small
enough for a processor's cache, and lets a stop be heard inside a layer. Rates change by strided convolutions of
kernel 2 s, stride s and padding ceil(s / 2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch.nn import functional

from engine.control import Check
from engine.yue2.files.checkpoint import Checkpoint

_LEAST_COLUMNS = 128  # fewer than that, and a convolution's set-up outweighs it
_SNAKE_FLOOR = 1e-9  # keeps the division by beta finite


@dataclass(frozen=True, slots=True)
class Slices:
    """How much of a layer is computed at once, and who may stop it in between."""

    elements: int  # values of one slice's widest tensor
    check: Check

    def ranges(self, length: int, channels: int) -> Iterator[tuple[int, int]]:
        """Neighbouring ranges [start, stop) that make up `length` columns; calls `check` before each."""
        columns = max(_LEAST_COLUMNS, self.elements // channels)
        for start in range(0, length, columns):
            self.check()
            yield start, min(start + columns, length)


class Layer(Protocol):
    """One step of the VAE."""

    def __call__(self, x: torch.Tensor, slices: Slices) -> torch.Tensor:
        """The layer of (C, L), as (C', L'); `x` belongs to the layer from then on and may be overwritten."""

    def tensors(self) -> Iterator[torch.Tensor]:
        """All weights."""


class Weights:
    """Reads a checkpoint's weights onto a device, tensor by tensor; `check` is called before each."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device, check: Check) -> None:
        self._checkpoint = checkpoint
        self._device = device
        self._check = check

    def tensor(self, name: str) -> torch.Tensor:
        """A copy of a stored tensor on the device, float32."""
        self._check()
        return self._checkpoint.tensor(name).to(self._device, torch.float32, copy=True)

    def folded(self, name: str) -> torch.Tensor:
        """A convolution's kernel g v / |v|, the norm over all dimensions but the first (weight norm, arXiv:1602.07868)."""
        direction = self.tensor(f"{name}.weight_v")
        length = torch.linalg.vector_norm(direction, dim=(1, 2), keepdim=True)
        return direction.mul_(self.tensor(f"{name}.weight_g").div_(length))

    def snake(self, name: str) -> "Snake":
        """A snake, from its parameters' logarithms."""
        alpha, beta = (self.tensor(f"{name}.{part}").exp_()[:, None] for part in ("alpha", "beta"))
        return Snake(alpha, beta.add_(_SNAKE_FLOOR).reciprocal_())

    def convolution(
        self,
        name: str,
        snake: str = "",
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        bias: bool = True,
    ) -> "Convolution":
        """A convolution, behind the snake of that name if there is one."""
        return Convolution(
            weight=self.folded(name),
            bias=self.tensor(f"{name}.bias") if bias else None,
            snake=self.snake(snake) if snake else None,
            stride=stride,
            padding=padding,
            dilation=dilation,
        )

    def upsampling(self, name: str, snake: str, stride: int) -> "Upsampling":
        """A transposed convolution of that stride behind a snake."""
        kernel = self.folded(name)  # (C, C', 2 s)
        inputs, outputs, _ = kernel.shape
        taps = kernel.view(inputs, outputs, 2, stride).flip(2)  # the second half meets the earlier column
        return Upsampling(
            weight=taps.permute(1, 3, 0, 2).reshape(outputs * stride, inputs, 2),
            bias=self.tensor(f"{name}.bias").repeat_interleave(stride),
            snake=self.snake(snake),
            stride=stride,
        )

    def residual_unit(self, name: str, dilation: int) -> "ResidualUnit":
        """A residual unit of that dilation."""
        return ResidualUnit(
            wide=self.convolution(f"{name}.layers.1", f"{name}.layers.0", dilation=dilation),
            narrow=self.convolution(f"{name}.layers.3", f"{name}.layers.2"),
        )


def change_padding(stride: int) -> int:
    """Zeros on either side of a convolution that changes the rate by `stride`."""
    return (stride + 1) // 2


def window(x: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """A copy (C, stop - start) of the columns [start, stop) of (C, L), zeros beyond the ends."""
    first, last = max(start, 0), min(stop, x.shape[1])
    out = x.new_zeros((x.shape[0], stop - start))
    out[:, first - start : last - start] = x[:, first:last]
    return out


@dataclass(frozen=True, slots=True)
class Snake:
    """y = x + sin(alpha x)^2 / beta for each channel (snake, arXiv:2006.08195; beta of its own: BigVGAN).

    Zero stays zero, so that it commutes with padding.
    """

    alpha: torch.Tensor  # (C, 1)
    over_beta: torch.Tensor  # (C, 1)

    def apply(self, x: torch.Tensor) -> torch.Tensor:
        """Change (C, L) in place, and return it."""
        return x.addcmul_(torch.mul(x, self.alpha).sin_().square_(), self.over_beta)

    def tensors(self) -> Iterator[torch.Tensor]:
        """All weights."""
        yield from (self.alpha, self.over_beta)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution with zeros beyond the ends, behind a snake if there is one."""

    weight: torch.Tensor  # (C', C, K)
    bias: torch.Tensor | None  # (C',)
    snake: Snake | None
    stride: int
    padding: int
    dilation: int

    @property
    def span(self) -> int:
        """Columns between the first and the last that one output meets."""
        return self.dilation * (self.weight.shape[2] - 1)

    def valid(self, x: torch.Tensor) -> torch.Tensor:
        """Snake and convolution of (C, L) without padding; overwrites `x`."""
        active = self.snake.apply(x) if self.snake else x
        return functional.conv1d(active, self.weight, self.bias, self.stride, 0, self.dilation)

    def __call__(self, x: torch.Tensor, slices: Slices) -> torch.Tensor:
        """(C, L) to (C', (L + 2 padding - span - 1) // stride + 1)."""
        length = (x.shape[1] + 2 * self.padding - self.span - 1) // self.stride + 1
        outputs, inputs, _ = self.weight.shape
        out = x.new_empty((outputs, length))
        for start, stop in slices.ranges(length, max(outputs, inputs * self.stride)):
            left = start * self.stride - self.padding
            right = (stop - 1) * self.stride - self.padding + self.span + 1
            out[:, start:stop] = self.valid(window(x, left, right))
        return out

    def tensors(self) -> Iterator[torch.Tensor]:
        """All weights."""
        yield self.weight
        yield from () if self.bias is None else (self.bias,)
        yield from self.snake.tensors() if self.snake else ()


@dataclass(frozen=True, slots=True)
class Upsampling:
    """A transposed convolution behind a snake, as one ordinary convolution for all `stride` phases.

    The output s i + r - p meets columns i and i - 1 alone, with the kernel's values r and r + s.
    """

    weight: torch.Tensor  # (C' s, C, 2): phases of a channel are neighbours; columns i - 1 and i
    bias: torch.Tensor  # (C' s,)
    snake: Snake
    stride: int

    def __call__(self, x: torch.Tensor, slices: Slices) -> torch.Tensor:
        """(C, L) to (C', s L + s - 2 ceil(s / 2))."""
        padding, columns = change_padding(self.stride), x.shape[1] + 1
        length = self.stride * columns - 2 * padding
        channels = self.weight.shape[0] // self.stride
        out = x.new_empty((channels, length))
        for start, stop in slices.ranges(columns, max(self.weight.shape[0], x.shape[0])):
            active = self.snake.apply(window(x, start - 1, stop))
            phases = functional.conv1d(active, self.weight, self.bias).view(channels, self.stride, -1)
            rows = phases.transpose(1, 2).reshape(channels, -1)
            at = start * self.stride - padding
            first, last = max(at, 0), min(at + rows.shape[1], length)
            out[:, first:last] = rows[:, first - at : last - at]
        return out

    def tensors(self) -> Iterator[torch.Tensor]:
        """All weights."""
        yield from (self.weight, self.bias, *self.snake.tensors())


@dataclass(frozen=True, slots=True)
class ResidualUnit:
    """y = x + narrow(wide(x)): a dilated convolution of kernel 7 and one of kernel 1, each behind a snake."""

    wide: Convolution
    narrow: Convolution

    def __call__(self, x: torch.Tensor, slices: Slices) -> torch.Tensor:
        """Change (C, L) in place, and return it."""
        reach = self.wide.span // 2
        behind = x.new_zeros((x.shape[0], reach))  # what the slice before has overwritten
        for start, stop in slices.ranges(x.shape[1], x.shape[0]):
            around = torch.cat((behind, window(x, start, stop + reach)), dim=1)
            behind = around[:, stop - start : stop - start + reach].clone()
            x[:, start:stop] += self.narrow.valid(self.wide.valid(around))
        return x

    def tensors(self) -> Iterator[torch.Tensor]:
        """All weights."""
        yield from (*self.wide.tensors(), *self.narrow.tensors())
