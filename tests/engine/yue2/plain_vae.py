"""The VAE as its description reads: kernels from weight norm's pairs at every use, whole inputs, torch's own layers."""

from collections.abc import Iterator

import torch
from torch.nn import functional

from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import VaeConfig


class PlainVae:
    """Decoder and encoder without folding, slices or tiles."""

    def __init__(self, checkpoint: Checkpoint, config: VaeConfig) -> None:
        self._checkpoint = checkpoint
        self._strides = config.strides

    def decoder_stages(self, latents: torch.Tensor) -> Iterator[torch.Tensor]:
        """Outputs of the decoder's top-level layers 0 to 8 for latents (1, 64, T)."""
        x = self.convolution(latents, "decoder.layers.0", padding=3)
        yield x
        for place, stride in enumerate(reversed(self._strides), start=1):
            name = f"decoder.layers.{place}.layers"
            x = self.upsampling(self.snake(x, f"{name}.0"), f"{name}.1", stride)
            for unit, dilation in ((2, 1), (3, 3), (4, 9)):
                x = self.residual_unit(x, f"{name}.{unit}", dilation)
            yield x
        last = len(self._strides) + 1
        x = self.snake(x, f"decoder.layers.{last}")
        yield x
        yield self.convolution(x, f"decoder.layers.{last + 1}", padding=3, bias=False)

    def decode(self, latents: torch.Tensor) -> torch.Tensor:
        """Samples (2, 1920 T - 64) of latents (T, 64)."""
        return list(self.decoder_stages(latents.T[None]))[-1][0]

    def encode(self, samples: torch.Tensor) -> torch.Tensor:
        """Means over scales, (128, T), of samples (N, 2)."""
        x = self.convolution(samples.T[None], "encoder.layers.0", padding=3)
        for place, stride in enumerate(self._strides, start=1):
            name = f"encoder.layers.{place}.layers"
            for unit, dilation in ((0, 1), (1, 3), (2, 9)):
                x = self.residual_unit(x, f"{name}.{unit}", dilation)
            x = self.snake(x, f"{name}.3")
            x = self.convolution(x, f"{name}.4", stride=stride, padding=-(-stride // 2))
        last = len(self._strides) + 1
        x = self.snake(x, f"encoder.layers.{last}")
        return self.convolution(x, f"encoder.layers.{last + 1}", padding=1)[0]

    def residual_unit(self, x: torch.Tensor, name: str, dilation: int) -> torch.Tensor:
        inner = self.snake(x, f"{name}.layers.0")
        inner = self.convolution(inner, f"{name}.layers.1", padding=3 * dilation, dilation=dilation)
        inner = self.snake(inner, f"{name}.layers.2")
        return x + self.convolution(inner, f"{name}.layers.3")

    def convolution(
        self,
        x: torch.Tensor,
        name: str,
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        bias: bool = True,
    ) -> torch.Tensor:
        offset = self._checkpoint.tensor(f"{name}.bias") if bias else None
        return functional.conv1d(x, self.kernel(name), offset, stride, padding, dilation)

    def upsampling(self, x: torch.Tensor, name: str, stride: int) -> torch.Tensor:
        bias, padding = self._checkpoint.tensor(f"{name}.bias"), -(-stride // 2)
        return functional.conv_transpose1d(x, self.kernel(name), bias, stride=stride, padding=padding)

    def kernel(self, name: str) -> torch.Tensor:
        direction = self._checkpoint.tensor(f"{name}.weight_v")
        length = torch.stack([part.square().sum().sqrt() for part in direction])
        return self._checkpoint.tensor(f"{name}.weight_g") * direction / length[:, None, None]

    def snake(self, x: torch.Tensor, name: str) -> torch.Tensor:
        alpha = self._checkpoint.tensor(f"{name}.alpha")[None, :, None]
        beta = self._checkpoint.tensor(f"{name}.beta")[None, :, None]
        return x + torch.sin(x * torch.exp(alpha)) ** 2 / (torch.exp(beta) + 1e-9)
