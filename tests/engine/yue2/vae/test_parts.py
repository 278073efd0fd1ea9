"""The VAE's halves: the reference's values between their stages, and the loading of one without the other."""

from dataclasses import replace

import pytest
import torch

from engine.control import unchecked
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import VaeConfig
from engine.yue2.vae.layers import Convolution, Slices
from engine.yue2.vae.parts import (
    load_decoder_part,
    load_encoder_part,
    part_bytes,
    working_bytes,
)
from tests.engine.yue2.conftest import Golden

CPU = torch.device("cpu")
WHOLE = Slices(2**30, unchecked)


def largest_difference(found: torch.Tensor, expected: object) -> float:
    return float((found - torch.as_tensor(expected)[0]).abs().max())


def test_every_stage_of_the_decoder_gives_the_references_values(
    vae_checkpoint: Checkpoint, vae_config: VaeConfig, golden: Golden
) -> None:
    arrays = golden.arrays("vae")
    decoder = load_decoder_part(vae_checkpoint, vae_config, CPU)
    x = torch.tensor(arrays["latent"][0, :, :3])
    for place, stage in enumerate(decoder.stages[:-1]):
        for layer in stage:
            x = layer(x, WHOLE)
        assert largest_difference(x, arrays[f"dec3_layer{place}"]) <= 2e-5
    (last,) = decoder.stages[-1]
    assert isinstance(last, Convolution)
    assert last.snake is not None
    assert largest_difference(last.snake.apply(x.clone()), arrays["dec3_layer7"]) <= 2e-5
    sound = last(x, WHOLE)
    assert largest_difference(sound, arrays["dec3_layer8"]) <= 2e-5
    assert (
        largest_difference(sound, arrays["dec3_layer9"]) <= 2e-5
    )  # the reference's last layer changes nothing


def test_the_encoder_gives_the_references_means_and_scales(
    vae_checkpoint: Checkpoint, vae_config: VaeConfig, golden: Golden
) -> None:
    arrays = golden.arrays("vae")
    encoder = load_encoder_part(vae_checkpoint, vae_config, CPU)
    mean, scale = encoder(torch.tensor(arrays["audio"][0]), WHOLE).chunk(2)
    assert largest_difference(mean, arrays["enc_mean"]) <= 5e-5
    assert largest_difference(scale, arrays["enc_scale"]) <= 5e-5
    deviation = torch.nn.functional.softplus(scale) + 1e-4
    assert largest_difference(deviation, arrays["enc_stdev"]) <= 5e-5


class Named:
    """Stands before a checkpoint and keeps the names that were read."""

    def __init__(self, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        read = checkpoint.tensor

        def tensor(name: str) -> torch.Tensor:
            self.names.append(name)
            return read(name)

        monkeypatch.setattr(checkpoint, "tensor", tensor)


@pytest.mark.parametrize(("half", "count"), [("decoder", 217), ("encoder", 218)])
def test_a_half_reads_each_of_its_tensors_once_and_none_of_the_other(
    vae_checkpoint: Checkpoint,
    vae_config: VaeConfig,
    monkeypatch: pytest.MonkeyPatch,
    half: str,
    count: int,
) -> None:
    read = Named(vae_checkpoint, monkeypatch)
    asked: list[None] = []
    load = load_decoder_part if half == "decoder" else load_encoder_part
    load(vae_checkpoint, vae_config, CPU, lambda: asked.append(None))
    assert len(read.names) == len(set(read.names)) == len(asked) == count
    assert all(name.startswith(f"{half}.") for name in read.names)


def test_the_released_halves_take_265_megabytes_each(vae_config: VaeConfig) -> None:
    config = released(vae_config)
    assert part_bytes(config, "decoder") == pytest.approx(265.5e6, rel=1e-3)
    assert part_bytes(config, "encoder") == pytest.approx(265.0e6, rel=1e-3)


def released(config: VaeConfig) -> VaeConfig:
    return replace(config, channels=64)


def test_a_loaded_half_is_as_large_as_the_stored_one_but_for_the_norms(
    vae_checkpoint: Checkpoint, vae_config: VaeConfig
) -> None:
    decoder = load_decoder_part(vae_checkpoint, vae_config, CPU)
    assert decoder.size_bytes == pytest.approx(part_bytes(vae_config, "decoder"), rel=0.01)


def test_working_memory_is_the_last_blocks_input_and_output_and_a_few_slices(vae_config: VaeConfig) -> None:
    one_frame = 64 * 1920 + 64 * 960
    assert working_bytes(released(vae_config), 280, 1000) == 4 * (280 * one_frame + 6000)
