from dataclasses import replace

import pytest
import torch

from engine.errors import DeviceError
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.machine.device import Memory
from engine.yue2.machine.memory import Allowance, Footprint, allowance, footprint
from engine.yue2.network.precision import choose

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
    assert sizes.decoder_bytes == 2 * 2_165_957_632
    assert sizes.acoustic_bytes == 2 * 1_464_726_592
    assert sizes.vae_bytes == pytest.approx(530_512_720, rel=1e-3)
    assert sizes.position_bytes == 112 * 1024


def test_single_precision_takes_twice_as_much(
    released: tuple[ModelConfig, VaeConfig], sizes: Footprint
) -> None:
    single = footprint(*released, choose(torch.device("cpu"), "fp32"), 2**24)
    assert single.decoder_bytes == 2 * sizes.decoder_bytes
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
    assert Allowance(False, 16, CONTEXT, 9, 1024).reduced(3000) == Allowance(True, 1, 3000, 1, 128)
    assert Allowance(True, 2, 2000, 1, 64).reduced(3000) == Allowance(True, 1, 2000, 1, 16)


def test_variations_can_be_had_one_by_one(sizes: Footprint) -> None:
    plenty = Memory(139 * GIB, 139 * GIB)
    assert allowance(sizes, CONTEXT, 1024, plenty, "auto", variations=1).variations == 1
