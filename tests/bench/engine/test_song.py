"""A toy song through the whole model."""

import pytest
import torch

from bench.engine.checkpoints import Pair
from bench.engine.song import PHASES, Singing, Stopwatch, needed_bytes, sing
from engine.yue2.network.precision import choose


def toy_song(pair: Pair) -> Singing:
    return Singing(str(pair.model), str(pair.vae), "cpu", "auto", 1, score_tokens=2, frames=3, steps=1)


def test_every_phase_of_a_song_is_told(pair: Pair) -> None:
    told = sing(toy_song(pair))
    assert told.keys() >= {*PHASES, "opening", "peak", "peak on the card", "needed"}
    assert all(told[phase] > 0 for phase in PHASES)
    assert told["sound"] == (3 * 1920 - 64) / 48_000


def test_weights_and_cache_are_counted(pair: Pair) -> None:
    exact = choose(torch.device("cpu"), "fp32")
    needed = needed_bytes(pair.model, pair.vae, exact, toy_song(pair))
    stored = sum((folder / "model.safetensors").stat().st_size for folder in (pair.model, pair.vae))
    assert 1.9 * stored < needed < 2.0 * stored


def test_a_phase_lasts_until_the_next_and_adds_up() -> None:
    watch = Stopwatch()
    for phase in ("loading", "score", "score", "loading", "semantic"):
        watch.report(phase, 0.5)
    assert [phase for phase, _ in watch.marks] == ["loading", "score", "loading", "semantic"]
    ended = watch.marks[-1][1] + 2.0
    taken = watch.seconds(ended)
    assert taken["semantic"] == 2.0
    assert sum(taken.values()) == pytest.approx(ended - watch.marks[0][1])
