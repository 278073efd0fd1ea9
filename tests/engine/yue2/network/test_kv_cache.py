import pytest
import torch

from engine.errors import OutOfMemory
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.kv_cache import KvCache

CPU = torch.device("cpu")


@pytest.fixture
def cache(model_config: ModelConfig) -> KvCache:
    return KvCache(model_config, CPU, torch.bfloat16, slots=2, capacity=32)


def test_it_has_room_for_all_layers_and_sequences(cache: KvCache) -> None:
    assert cache.keys.shape == cache.values.shape == (3, 2, 2, 32, 8)
    assert not bool(cache.keys.any())


def test_what_is_written_is_read(cache: KvCache) -> None:
    keys, values = (
        torch.randn(4, 2, 8).bfloat16(),
        torch.randn(4, 2, 8).bfloat16(),
    )  # (rows, kv_heads, head_dim)
    cache.write(1, 1, 5, keys, values)
    kept_keys, kept_values = cache.read(1, 1, 9)
    assert torch.equal(kept_keys[:, 5:], keys.transpose(0, 1))
    assert torch.equal(kept_values[:, 5:], values.transpose(0, 1))
    assert int(cache.keys.count_nonzero()) == keys.numel()


def test_growing_forgets_and_tells_that_addresses_are_stale(cache: KvCache) -> None:
    generation = cache.generation
    cache.keys.fill_(1)
    cache.reserve(2)
    assert (cache.generation, bool(cache.keys.all())) == (generation, True)
    cache.reserve(3)
    assert cache.generation > generation
    assert cache.slots == 3
    assert not bool(cache.keys.any())


def test_released_memory_is_taken_again(cache: KvCache) -> None:
    cache.release()
    assert (cache.slots, cache.keys.nbytes) == (0, 0)
    cache.reserve(1)
    assert cache.slots == 1


def test_no_room_leaves_no_slots(cache: KvCache) -> None:
    with pytest.raises(OutOfMemory, match="no room"):
        cache.reserve(2**45)
    assert cache.slots == 0


def test_the_first_sequences_may_be_cleared(cache: KvCache) -> None:
    cache.keys.fill_(torch.nan)
    cache.values.fill_(torch.nan)
    cache.clear(1)
    assert not bool(cache.keys[:, 0].any() | cache.values[:, 0].any())
    assert bool(cache.keys[:, 1].isnan().all() & cache.values[:, 1].isnan().all())
