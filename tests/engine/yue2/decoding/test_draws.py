import pytest
import torch

from engine.yue2.decoding.draws import WordDraws, all_exponentials, exponentials
from engine.yue2.vocabulary import SEMANTIC_ROWS, VOCABULARY
from tests.engine.yue2.conftest import Golden


@pytest.mark.parametrize("seed", [0, 831_001, 2**63 - 1])
def test_words_give_every_exponential_of_consecutive_draws(seed: int) -> None:
    words, torchs = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
    for _ in range(3):
        ours = exponentials(
            torch.empty(VOCABULARY, dtype=torch.int64).random_(generator=words), torch.float32
        )
        assert torch.equal(ours, torch.empty(VOCABULARY).exponential_(generator=torchs))
    assert torch.equal(words.get_state(), torchs.get_state())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_words_give_half_precision_exponentials_too(dtype: torch.dtype) -> None:
    draws, torchs = WordDraws(5), torch.Generator().manual_seed(5)
    draws.advance()
    ours = draws.at(torch.arange(VOCABULARY), dtype)
    assert torch.equal(ours, torch.empty(VOCABULARY, dtype=dtype).exponential_(generator=torchs))


def test_draws_are_the_reference_s(golden: Golden) -> None:
    draws = WordDraws(7)
    draws.advance()
    assert draws.at(torch.arange(16), torch.float32).tolist() == (
        golden.arrays("sampling")["exp_seed7_first16"].tolist()
    )


def test_each_song_has_its_own_stream() -> None:
    ids = torch.arange(SEMANTIC_ROWS.count) + SEMANTIC_ROWS.first
    generators = [torch.Generator().manual_seed(seed) for seed in (1, 2)]
    alone = [WordDraws(1), WordDraws(2)]
    for _ in range(2):
        together = all_exponentials(generators, SEMANTIC_ROWS, torch.float32)  # (2, count)
        for song, draws in enumerate(alone):
            draws.advance()
            assert torch.equal(together[song], draws.at(ids, torch.float32))
