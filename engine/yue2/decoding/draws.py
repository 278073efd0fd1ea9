"""The random numbers behind token draws: one unit exponential for every id of the vocabulary and every draw.

torch.multinomial(p, 1) takes the id with the largest p / E, where E are exponentials drawn for all ids in order from
the generator. Whoever draws from a few ids only has to draw them all the same, or the seed names another song.
"""

from collections.abc import Sequence

import torch

from engine.yue2.vocabulary import VOCABULARY, TokenRows

_MANTISSA = 2**53 - 1


def exponentials(words: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Unit exponentials of a processor's generator from its 64-bit words; any shape.

    As Tensor.exponential_ has them on a processor: u = low 53 bits * 2^-53, E = -log1p(-u) in float64, then rounded.
    """
    uniform = words.bitwise_and(_MANTISSA).double().mul_(-(2.0**-53))
    return uniform.log1p_().neg_().to(dtype)


class WordDraws:
    """One song's draws on a processor; owner of its generator.

    The generator's words are an eighth of the work of its exponentials, and logarithms are needed for few ids.
    """

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self._words = torch.empty(VOCABULARY, dtype=torch.int64)

    def advance(self) -> None:
        """Begin the next draw."""
        self._words.random_(generator=self._generator)

    def at(self, ids: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """This draw's exponentials of vocabulary ids (n,); the result is (n,)."""
        return exponentials(self._words[ids], dtype)


def all_exponentials(
    generators: Sequence[torch.Generator], rows: TokenRows, dtype: torch.dtype
) -> torch.Tensor:
    """The next draw of each song's generator for the ids of `rows`: (S, rows.count), on the generators' device."""
    drawn = slice(rows.first, rows.first + rows.count)
    return torch.stack([_vocabulary(generator, dtype, drawn) for generator in generators])


def _vocabulary(generator: torch.Generator, dtype: torch.dtype, drawn: slice) -> torch.Tensor:
    if generator.device.type == "cpu":
        words = torch.empty(VOCABULARY, dtype=torch.int64).random_(generator=generator)
        return exponentials(words[drawn], dtype)
    whole = torch.empty(VOCABULARY, dtype=dtype, device=generator.device)
    return whole.exponential_(generator=generator)[drawn]
