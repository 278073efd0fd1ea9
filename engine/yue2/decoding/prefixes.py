"""Reading what several sequences begin with; what some of them share is read once."""

from collections.abc import Sequence

import torch

from engine.control import Check
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.kv_cache import KvCache


def read_all(
    decoder: Decoder, sequences: Sequence[tuple[int, ...]], check: Check, *, masked: bool
) -> torch.Tensor:
    """Read sequence i into slot i from its start; the last positions' states (sequences, hidden).

    The songs of a batch mostly have the same prompt, and reading it takes a processor seconds. Where the steps that
    follow are `masked`, they read beyond what is written, so that the slots are cleared first.
    """
    if masked:
        decoder.cache.clear(len(sequences))
    slots: dict[tuple[int, ...], int] = {}
    states: list[torch.Tensor] = []
    for slot, sequence in enumerate(sequences):
        check()
        source = slots.setdefault(sequence, slot)
        if source == slot:
            states.append(decoder.prefill(sequence, slot, 0, check))
        else:
            _copy(decoder.cache, source, slot, len(sequence))
            states.append(states[source])
    return torch.cat(states)


def _copy(cache: KvCache, source: int, target: int, length: int) -> None:
    for kept in (cache.keys, cache.values):
        kept[:, target, :, :length].copy_(kept[:, source, :, :length])
