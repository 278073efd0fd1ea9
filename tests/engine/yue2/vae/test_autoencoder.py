"""Latents to sound and back: the reference's outputs, tiles against the whole, and what is refused."""

from typing import Any

import numpy as np
import pytest
import torch

from engine.audio import Samples
from engine.control import Check
from engine.errors import InvalidRequest, NumericalError
from engine.song_model import Latents
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import VaeConfig
from engine.yue2.vae import autoencoder as module
from engine.yue2.vae.autoencoder import Vae
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.plain_vae import PlainVae

CPU = torch.device("cpu")
TOLERANCE = 2e-4  # of the reference outputs, whose peak is 2.6; float64 is about 3e-5 away


@pytest.fixture(scope="module")
def vae(vae_checkpoint: Checkpoint, vae_config: VaeConfig) -> Vae:
    return Vae(vae_checkpoint, vae_config, CPU)


@pytest.fixture(scope="module")
def latents() -> Latents:
    return np.random.default_rng(1).standard_normal((30, 64)).astype(np.float32)


@pytest.fixture(scope="module")
def samples() -> Samples:
    return (np.random.default_rng(2).standard_normal((30 * 1920 + 777, 2)) * 0.3).astype(np.float32)


def largest_difference(found: object, expected: object) -> float:
    first, second = np.asarray(found), np.asarray(expected)
    assert first.shape == second.shape
    return float(np.abs(first - second).max())


def test_decoding_gives_the_references_samples(vae: Vae, golden: Golden) -> None:
    arrays = golden.arrays("vae")
    decoded = vae.decode(arrays["latent"][0].T)
    assert decoded.dtype == np.float32
    assert largest_difference(decoded.T, arrays["decoded"][0]) <= TOLERANCE


def test_solved_latents_become_the_references_sound(vae: Vae, golden: Golden) -> None:
    arrays = golden.arrays("vae")
    decoded = vae.decode(torch.tensor(golden.arrays("nar")["latent_steps32"]))
    assert largest_difference(decoded.T, arrays["e2e_raw"][0]) <= TOLERANCE
    assert largest_difference(decoded.clip(-1, 1), arrays["e2e_clamped_TC"]) <= TOLERANCE


def test_encoding_gives_the_references_means(vae: Vae, golden: Golden) -> None:
    arrays = golden.arrays("vae")
    assert largest_difference(vae.encode(arrays["audio"][0].T).T, arrays["enc_mean"][0]) <= TOLERANCE


def test_decoding_agrees_with_the_plain_decoder(
    vae: Vae, vae_checkpoint: Checkpoint, vae_config: VaeConfig, latents: Latents
) -> None:
    expected = PlainVae(vae_checkpoint, vae_config).decode(torch.tensor(latents))
    assert largest_difference(vae.decode(latents).T, expected) <= TOLERANCE


def test_encoding_agrees_with_the_plain_encoder(
    vae: Vae, vae_checkpoint: Checkpoint, vae_config: VaeConfig, samples: Samples
) -> None:
    expected = PlainVae(vae_checkpoint, vae_config).encode(torch.tensor(samples))[:64]
    assert largest_difference(vae.encode(samples).T, expected) <= TOLERANCE


@pytest.mark.parametrize("core", [2, 7, 29])
def test_decoded_tiles_of_any_size_make_up_the_whole(vae: Vae, latents: Latents, core: int) -> None:
    told: list[tuple[int, int]] = []
    found = vae.decode(latents, progress=lambda done, of: told.append((done, of)), core_frames=core)
    assert largest_difference(found, vae.decode(latents)) <= 5e-5
    count = -(-30 // core)
    assert told == [(done, count) for done in range(1, count + 1)]


@pytest.mark.parametrize("core", [2, 7, 29])
def test_encoded_tiles_of_any_size_make_up_the_whole(vae: Vae, samples: Samples, core: int) -> None:
    told: list[tuple[int, int]] = []
    found = vae.encode(samples, progress=lambda done, of: told.append((done, of)), core_frames=core)
    assert largest_difference(found, vae.encode(samples)) <= 5e-5
    count = -(-30 // core)
    assert told == [(done, count) for done in range(1, count + 1)]


def test_a_halo_one_frame_smaller_shows_in_the_decoded_sound(
    vae: Vae, latents: Latents, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = vae.decode(latents)
    monkeypatch.setattr(module, "decoder_reach", lambda strides: 11)
    assert largest_difference(vae.decode(latents, core_frames=7), whole) > 1e-3


def test_a_halo_one_frame_smaller_shows_in_the_encoded_audio(
    vae: Vae, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = vae.encode(samples)
    monkeypatch.setattr(module, "encoder_reach", lambda strides: 9)
    assert largest_difference(vae.encode(samples, core_frames=5), whole) > 1e-3


def test_encoded_lengths_are_the_references(vae: Vae, golden: Golden) -> None:
    table = golden.arrays("vae")["enc_lengths"].tolist()
    found = [[count, len(vae.encode(np.zeros((count, 2), np.float32)))] for count, _ in table]
    assert found == table


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_short_latents_have_their_length(vae: Vae, frames: int) -> None:
    assert vae.decode(np.zeros((frames, 64), np.float32)).shape == (1920 * frames - 64, 2)


def test_read_only_input_is_read_and_left_alone(vae: Vae, latents: Latents, samples: Samples) -> None:
    frozen, kept = latents[:2].copy(), samples[:2000].copy()
    frozen.flags.writeable = kept.flags.writeable = False
    assert vae.decode(frozen).shape == (3776, 2)
    assert vae.encode(kept).shape == (1, 64)
    assert np.array_equal(frozen, latents[:2])


def test_less_than_a_frame_of_audio_is_refused(vae: Vae) -> None:
    with pytest.raises(InvalidRequest, match="1919 samples at 48 kHz; send at least 1920") as refused:
        vae.encode(np.zeros((1919, 2), np.float32))
    assert refused.value.field == "audio"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_audio_that_is_not_finite_is_refused(vae: Vae, value: float) -> None:
    broken = np.zeros((2000, 2), np.float32)
    broken[1234, 1] = value
    with pytest.raises(InvalidRequest, match="not finite"):
        vae.encode(broken)


def test_sound_that_is_not_finite_is_an_error_that_says_what_to_try(vae: Vae) -> None:
    broken = np.zeros((2, 64), np.float32)
    broken[1, 3] = np.nan
    with pytest.raises(NumericalError, match="try other seeds"):
        vae.decode(broken)


def test_audio_so_loud_that_its_latents_overflow_is_an_error(vae: Vae) -> None:
    with pytest.raises(NumericalError, match="encoded audio"):
        vae.encode(np.full((2000, 2), 3e38, np.float32))


class Stopped(Exception):
    """The caller's own error."""


def stops_after(calls: int) -> Check:
    left = iter(range(calls))

    def check() -> None:
        if next(left, None) is None:
            raise Stopped

    return check


@pytest.mark.parametrize("calls", [0, 100, 300])
def test_a_stop_is_heard_while_loading_and_between_layers(
    vae_checkpoint: Checkpoint, vae_config: VaeConfig, calls: int
) -> None:
    fresh = Vae(vae_checkpoint, vae_config, CPU)
    with pytest.raises(Stopped):
        fresh.decode(np.zeros((30, 64), np.float32), stops_after(calls), core_frames=1)
    with pytest.raises(Stopped):
        fresh.encode(np.zeros((30 * 1920, 2), np.float32), stops_after(calls), core_frames=1)


def test_each_half_is_loaded_when_it_is_needed_and_given_back(
    vae_checkpoint: Checkpoint, vae_config: VaeConfig
) -> None:
    fresh = Vae(vae_checkpoint, vae_config, CPU)
    assert (fresh.decoder_bytes, fresh.encoder_bytes) == (0, 0)
    fresh.decode(np.zeros((1, 64), np.float32))
    assert fresh.decoder_bytes > 0
    assert fresh.encoder_bytes == 0
    assert fresh.load_decoder() is fresh.load_decoder()
    fresh.encode(np.zeros((1920, 2), np.float32))
    assert fresh.encoder_bytes > 0
    assert fresh.load_encoder() is fresh.load_encoder()
    fresh.unload()
    assert (fresh.decoder_bytes, fresh.encoder_bytes) == (0, 0)


def test_tiles_are_smaller_on_a_processor_and_the_checkpoints_own_elsewhere(
    vae_checkpoint: Checkpoint, vae_config: VaeConfig
) -> None:
    there = Vae(vae_checkpoint, vae_config, torch.device("cuda"))
    here = Vae(vae_checkpoint, vae_config, CPU)
    assert (here.core_frames, there.core_frames) == (module.CPU_CORE_FRAMES, 1024)


def test_convolutions_on_a_card_would_be_exact(vae: Vae, monkeypatch: pytest.MonkeyPatch) -> None:
    convolve, settings = torch.nn.functional.conv1d, set[tuple[bool, bool]]()

    def seen(*given: Any) -> torch.Tensor:
        settings.add((torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic))
        return convolve(*given)

    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)  # as torch begins
    monkeypatch.setattr(torch.nn.functional, "conv1d", seen)
    vae.decode(np.zeros((1, 64), np.float32))
    assert settings == {(False, True)}
    settings.clear()
    vae.encode(np.zeros((1920, 2), np.float32))
    assert settings == {(False, True)}


def test_nothing_is_left_of_the_settings_for_exact_arithmetic(vae: Vae) -> None:
    before = torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic
    vae.decode(np.zeros((1, 64), np.float32))
    assert (torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic) == before
    assert not torch.is_inference_mode_enabled()
