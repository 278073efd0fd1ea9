from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.control import unchecked
from engine.errors import DeviceError
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.machine import capacity
from engine.yue2.machine.device import Memory
from engine.yue2.machine.memory import BRANCHES, Allowance, Footprint, allowance, footprint
from engine.yue2.network.precision import choose
from engine.yue2.network.weights import load_acoustic, load_decoder
from engine.yue2.vae.autoencoder import Vae

GIB = 2**30
CONTEXT = 24_576


@pytest.fixture(scope="module")
def released(model_config: ModelConfig, vae_config: VaeConfig) -> tuple[ModelConfig, VaeConfig]:
    """The shapes of YuE2-3B and YuE2-Vae."""
    model = replace(
        model_config, hidden_size=2048, layers=28, heads=16, kv_heads=8, head_dim=128, ffn_size=6144
    )
    return model, replace(vae_config, channels=64)


@pytest.fixture(scope="module")
def sizes(released: tuple[ModelConfig, VaeConfig]) -> Footprint:
    return footprint(*released, choose(torch.device("cpu"), "auto"), 2**24)


def test_the_footprint_of_the_release_is_that_of_its_files(sizes: Footprint) -> None:
    assert sizes.decoder_bytes == 4_332_478_464
    assert sizes.acoustic_bytes == 2_939_994_368
    assert sizes.decoder_bytes == pytest.approx(2 * 2_165_957_632, rel=1e-3)
    assert sizes.row_bytes == 4 * 2048 * 4 + (2 * 2048 + 4 * 1024 + 3 * 6144) * 2 == 86_016
    assert sizes.vae_bytes == pytest.approx(530_512_720, rel=1e-3)
    assert sizes.position_bytes == 112 * 1024


def test_single_precision_takes_twice_as_much_but_for_what_is_only_looked_up(
    released: tuple[ModelConfig, VaeConfig], sizes: Footprint
) -> None:
    single = footprint(*released, choose(torch.device("cpu"), "fp32"), 2**24)
    embedding, table = 2 * 184_704 * 2048, 2 * 24_576 * 2048
    assert single.decoder_bytes == pytest.approx(2 * sizes.decoder_bytes - embedding, rel=1e-3)
    assert single.acoustic_bytes == pytest.approx(2 * sizes.acoustic_bytes - table, rel=1e-2)
    assert single.position_bytes == 2 * sizes.position_bytes
    assert single.vae_bytes == sizes.vae_bytes


def allowed(sizes: Footprint, gib: float, wish: str = "auto") -> Allowance:
    return allowance(sizes, CONTEXT, 1024, Memory(int(gib * GIB), int(gib * GIB)), wish)


def test_parts_stay_loaded_where_they_fit(sizes: Footprint) -> None:
    assert allowed(sizes, 12).staged
    assert not allowed(sizes, 24).staged
    assert not allowed(sizes, 12, "keep").staged
    assert allowed(sizes, 139, "stage").staged


def test_more_memory_allows_more_at_once(sizes: Footprint) -> None:
    found = [allowed(sizes, gib) for gib in (2, 8, 16, 24, 48, 139)]
    kept = [one for one in found if not one.staged]
    for name in ("sequences", "variations"):
        counts = [getattr(one, name) for one in kept]
        assert counts == sorted(counts)
    tiles = [one.core_frames for one in found]
    assert tiles == sorted(tiles)
    assert found[0] == Allowance(True, 2, CONTEXT, 1, 256)
    assert found[-1] == Allowance(False, 16, CONTEXT, 9, 1024)


@pytest.mark.parametrize("wish", ["fp32", "bf16", "fp16"])
def test_the_footprint_is_what_the_loaders_allocate(
    checkpoint: Checkpoint,
    model_config: ModelConfig,
    vae_config: VaeConfig,
    vae_checkpoint: Checkpoint,
    wish: str,
) -> None:
    cpu, precision = torch.device("cpu"), choose(torch.device("cpu"), wish)
    sizes = footprint(model_config, vae_config, precision, 1)
    decoder = load_decoder(checkpoint, model_config, cpu, precision, unchecked)
    acoustic = load_acoustic(checkpoint, model_config, cpu, precision, unchecked)
    assert (sizes.decoder_bytes, sizes.acoustic_bytes) == (decoder.bytes, acoustic.bytes)
    vae = Vae(vae_checkpoint, vae_config, cpu)
    vae.load_decoder()
    vae.load_encoder()
    assert sizes.vae_decoder_bytes == pytest.approx(vae.decoder_bytes, rel=0.05)
    assert sizes.vae_encoder_bytes == pytest.approx(vae.encoder_bytes, rel=0.05)


def test_tiles_do_not_vary_with_what_is_free(
    released: tuple[ModelConfig, VaeConfig], sizes: Footprint
) -> None:
    tiles = {
        allowance(sizes, CONTEXT, 1024, Memory(8 * GIB, free), "auto").core_frames
        for free in (0, GIB, 8 * GIB)
    }
    assert tiles == {512}


def test_an_unknown_residency_is_refused(sizes: Footprint) -> None:
    with pytest.raises(DeviceError, match="'cloud'; set it to one of: auto, keep, stage"):
        allowed(sizes, 24, "cloud")


def test_what_is_reduced_is_the_least_that_makes_the_song() -> None:
    assert Allowance(False, 16, CONTEXT, 9, 1024).reduced(3000) == Allowance(True, 1, 3000, 1, 128, 1)
    assert Allowance(True, 2, 2000, 1, 64).reduced(3000) == Allowance(True, 1, 2000, 1, 16, 1)


def test_variations_can_be_had_one_by_one(sizes: Footprint) -> None:
    plenty = Memory(139 * GIB, 139 * GIB)
    assert allowance(sizes, CONTEXT, 1024, plenty, "auto", variations=1).variations == 1


def test_songs_can_be_had_one_by_one(sizes: Footprint) -> None:
    plenty = Memory(139 * GIB, 139 * GIB)
    alone = allowance(sizes, CONTEXT, 1024, plenty, "auto", songs=1)
    assert (alone.sequences, alone.songs_at_once(1), alone.songs_at_once(BRANCHES)) == (BRANCHES, 1, 1)


def test_a_processor_draws_one_song_at_a_time_and_a_card_several(
    model_folder: Path,
    model_config: ModelConfig,
    vae_config: VaeConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capacity, "memory_of", lambda _: Memory(139 * GIB, 139 * GIB))
    found = []
    for device in (torch.device("cpu"), torch.device("cuda", 0)):
        precision = choose(torch.device("cpu"), "fp32")
        allowed = capacity.capacity_of(
            model_folder, model_config, vae_config, device, precision, "auto"
        ).allowed
        found.append((allowed.sequences, allowed.songs_at_once(1), allowed.variations, allowed.core_frames))
    assert found == [(BRANCHES, 1, 1, 256), (16, 8, 9, 1024)]
