from dataclasses import replace

import pytest
import torch

from engine.yue2.files.config import ModelConfig
from engine.yue2.network.tiles import attention_rows, product_rows, spans

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize(("rows", "at_once"), [(1, 1), (1, 9), (10, 3), (256, 256), (257, 256), (9_002, 256)])
def test_spans_cover_all_rows_evenly(rows: int, at_once: int) -> None:
    parts = list(spans(rows, at_once))
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(rows))
    sizes = [part.stop - part.start for part in parts]
    assert max(sizes) <= at_once
    assert max(sizes) - min(sizes) <= 1


def test_an_accelerator_takes_all_rows_at_once(model_config: ModelConfig) -> None:
    assert len(list(spans(24_576, product_rows(CUDA)))) == 1
    assert len(list(spans(24_576, attention_rows(CUDA, 24_576, model_config)))) == 1


def test_a_processor_takes_fewer_rows_the_longer_a_song_is(model_config: ModelConfig) -> None:
    assert product_rows(CPU) < 1_024
    short, long = (attention_rows(CPU, length, model_config) for length in (1_000, 20_000))
    assert short > long > 0
    assert attention_rows(CPU, 2**40, model_config) == 16


def test_small_heads_are_weighed_by_their_softmax(model_config: ModelConfig) -> None:
    narrow = attention_rows(CPU, 20_000, model_config)  # heads of 8 values
    wide = attention_rows(CPU, 20_000, replace(model_config, head_dim=128))
    assert narrow * 20_000 * model_config.heads < 40 * 10**6  # scores; each takes up to 3 ns on one core
    assert wide * 20_000 * model_config.heads < 10 * 10**6  # and with these up to 10 ns
    assert narrow > wide > 64


def test_threads_share_a_tile(model_config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = attention_rows(CPU, 20_000, model_config)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    assert attention_rows(CPU, 20_000, model_config) == pytest.approx(4 * alone, abs=4)
