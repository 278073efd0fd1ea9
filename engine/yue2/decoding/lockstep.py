"""Drawing the tokens of a stage for several songs in lockstep, with or without guidance."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import torch

from engine.control import Check
from engine.errors import NumericalError
from engine.sampling_request import Sampling
from engine.yue2.decoding.exact_batch import Batch, Drawn, ExactBatch
from engine.yue2.decoding.graphs import Graphs
from engine.yue2.decoding.prefixes import read_all
from engine.yue2.decoding.sampling import NOT_FINITE, Rule
from engine.yue2.decoding.static_batch import Shape, StaticBatch
from engine.yue2.decoding.takes import Decoded, SongPrompt, Take
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.precision import overflow
from engine.yue2.vocabulary import TokenRows


def decode(
    decoder: Decoder,
    songs: Sequence[SongPrompt],
    rows: TokenRows,
    sampling: Sampling,
    *,
    guidance: float = 1.0,
    legacy: bool = False,
    check: Check,
    progress: Callable[[int], None],
    graphs: Graphs | None = None,
) -> list[Decoded]:
    """Draw a stage's tokens for each of one or more songs, until its end or `max_tokens`.

    Song i reads and writes slot i of the decoder's cache, its negative branch (where guidance is not 1) slot S + i;
    the cache grows where it has too few. `check` is called at every step and, where lengths are exact, before each layer,
    as it is while prefixes are read; raising
    from it leaves all fit for the next call. `progress` hears how many tokens the longest song has. Without `graphs`
    a processor computes exact lengths, and another device runs each step as it is.

    Raises:
        NumericalError: the logits are not finite.
        OutOfMemory: the cache has no room for so many songs.
    """
    rule = Rule(rows, sampling, legacy)
    takes = [Take(song, rule) for song in songs]
    branches = (False,) if guidance == 1 else (False, True)
    decoder.cache.reserve(len(takes) * len(branches))
    exact = graphs is None and decoder.cache.device.type == "cpu"
    with torch.inference_mode():  # not around what the cache allocates, which others write too
        sequences = [take.sequence(negative) for negative in branches for take in takes]
        states = read_all(decoder, sequences, check, masked=not exact)  # (slots, hidden)
        if exact:
            batch: Batch = ExactBatch(decoder, takes, rule, guidance, check)
        else:
            batch = _begun(decoder, takes, rule, guidance, graphs)
        for drawn in _draws(batch, states, takes):
            check()
            _accept(drawn(), takes, decoder)
            progress(max(len(take.tokens) for take in takes))
    return [take.decoded() for take in takes]


def _begun(
    decoder: Decoder, takes: Sequence[Take], rule: Rule, guidance: float, graphs: Graphs | None
) -> StaticBatch:
    shape = Shape.of(len(takes), rule, guidance)
    batch = StaticBatch(decoder, shape) if graphs is None else graphs.batch(shape)
    batch.begin(takes, rule, guidance)
    return batch


def _draws(batch: Batch, states: torch.Tensor, takes: Sequence[Take]) -> Iterator[Drawn]:
    """The batch's draws in order, some of them enqueued ahead, until all songs have ended."""
    going = not all(take.ended for take in takes)
    pending = deque([batch.first(states)] if going else ())
    while not all(take.ended for take in takes):
        while len(pending) <= batch.ahead:
            pending.append(batch.next())
        yield pending.popleft()


def _accept(tokens: Sequence[int], takes: Sequence[Take], decoder: Decoder) -> None:
    """Give each song that goes on its token."""
    for token, take in zip(tokens, takes, strict=True):
        if take.ended:
            continue
        if token == NOT_FINITE:
            raise NumericalError(overflow(decoder.weights.precision))
        take.accept(token)
