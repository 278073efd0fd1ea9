import pytest
import torch

from engine.control import unchecked
from engine.yue2.decoding.prefixes import read_all
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from tests.engine.yue2.halves import StopAt, checks_of, open_halves


def test_a_prefix_that_songs_share_is_read_once(checkpoint: Checkpoint, model_config: ModelConfig) -> None:
    shared, own = tuple(range(40, 60)), tuple(range(7, 20))
    halves = open_halves(checkpoint, model_config, slots=4, capacity=64)
    sequences = [shared, own, shared, shared]
    states = read_all(halves.decoder, sequences, unchecked, masked=False)  # (4, hidden)
    alone = open_halves(checkpoint, model_config, slots=4, capacity=64)
    expected = torch.cat(
        [alone.decoder.prefill(sequence, slot, 0, unchecked) for slot, sequence in enumerate(sequences)]
    )
    assert torch.equal(states, expected)
    assert torch.equal(halves.cache.keys, alone.cache.keys)
    assert torch.equal(halves.cache.values, alone.cache.values)
    twice = checks_of(lambda check: read_all(halves.decoder, [own, shared], check, masked=False))
    assert checks_of(lambda check: read_all(halves.decoder, sequences, check, masked=False)) == twice + 2


def test_a_check_stops_the_reading(checkpoint: Checkpoint, model_config: ModelConfig) -> None:
    decoder = open_halves(checkpoint, model_config, slots=2, capacity=64).decoder
    with pytest.raises(InterruptedError):
        read_all(decoder, [(1, 2), (1, 2)], StopAt(5), masked=False)


@pytest.mark.parametrize("masked", [False, True])
def test_what_steps_behind_a_mask_read_is_finite(
    checkpoint: Checkpoint, model_config: ModelConfig, masked: bool
) -> None:
    halves = open_halves(checkpoint, model_config, slots=4, capacity=64)
    for kept in (halves.cache.keys, halves.cache.values):
        kept.fill_(torch.nan)
    read_all(halves.decoder, [(1, 2), (1, 2), (3,)], unchecked, masked=masked)
    for kept in (halves.cache.keys, halves.cache.values):
        assert bool(kept[:, :3].isfinite().all()) is masked
        assert bool(kept[:, 3].isnan().all())
