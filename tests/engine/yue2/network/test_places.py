import pytest
import torch

from engine.yue2.files.config import ModelConfig
from engine.yue2.network.kv_cache import KvCache
from engine.yue2.network.places import BucketPlace, ExactPlace
from engine.yue2.network.rotary import Rotary

CPU = torch.device("cpu")
POSITIONS = (3, 11)


@pytest.fixture(scope="module")
def rotary(model_config: ModelConfig) -> Rotary:
    return Rotary(model_config, CPU, torch.float32)


@pytest.fixture
def cache(model_config: ModelConfig) -> KvCache:
    cache = KvCache(model_config, CPU, torch.float32, slots=2, capacity=32)
    generator = torch.Generator().manual_seed(2)
    cache.keys.normal_(generator=generator)
    cache.values.normal_(generator=generator)
    return cache


def heads(count: int, seed: int) -> torch.Tensor:
    return torch.randn(2, count, 8, generator=torch.Generator().manual_seed(seed))


def test_both_places_write_and_read_alike(cache: KvCache, rotary: Rotary) -> None:
    queries, keys, values = heads(4, 1), heads(2, 2), heads(2, 3)
    before = cache.keys.clone()
    exact = ExactPlace((0, 1), POSITIONS).enter(cache, rotary)
    attended = exact.attend(1, queries, keys, values)
    kept_keys, kept_values = cache.keys.clone(), cache.values.clone()
    for slot, position in enumerate(POSITIONS):
        assert torch.equal(kept_keys[1, slot, :, position], keys[slot])
        assert torch.equal(kept_values[1, slot, :, position], values[slot])
    cache.keys.copy_(before)
    bucket = BucketPlace(torch.tensor(POSITIONS), 16).enter(cache, rotary)
    assert torch.allclose(bucket.attend(1, queries, keys, values), attended, atol=1e-6)
    assert torch.equal(cache.keys, kept_keys)
    assert torch.equal(cache.values, kept_values)
    assert torch.equal(bucket.angles.cos, exact.angles.cos)


def test_a_bucket_reads_its_positions_anew_at_every_step(cache: KvCache, rotary: Rotary) -> None:
    queries, keys, values = heads(4, 1), heads(2, 2), heads(2, 3)
    place = BucketPlace(torch.tensor([20, 30]), 32)
    place.positions.copy_(torch.tensor(POSITIONS))
    found = place.enter(cache, rotary).attend(0, queries, keys, values)
    expected = ExactPlace((0, 1), POSITIONS).enter(cache, rotary).attend(0, queries, keys, values)
    assert torch.allclose(found, expected, atol=1e-6)


def test_what_a_bucket_hides_does_not_matter(cache: KvCache, rotary: Rotary) -> None:
    queries, keys, values = heads(4, 1), heads(2, 2), heads(2, 3)
    place = BucketPlace(torch.tensor(POSITIONS), 16)
    expected = place.enter(cache, rotary).attend(2, queries, keys, values)
    cache.keys[:, :, :, 12:] = 1e4
    cache.values[:, :, :, 12:] = -1e4
    assert torch.equal(place.enter(cache, rotary).attend(2, queries, keys, values), expected)


def test_slots_may_come_in_any_order(cache: KvCache, rotary: Rotary) -> None:
    queries, keys, values = heads(4, 1), heads(2, 2), heads(2, 3)
    there = ExactPlace((0, 1), POSITIONS).enter(cache, rotary).attend(0, queries, keys, values)
    back = ExactPlace((1, 0), POSITIONS[::-1]).enter(cache, rotary)
    assert torch.equal(back.attend(0, queries.flip(0), keys.flip(0), values.flip(0)), there.flip(0))
