"""Whole bars shared out among the sections of a song."""

from collections.abc import Sequence
from itertools import accumulate, pairwise


def shared_out(wanted: Sequence[float], needed: Sequence[int], budget: int) -> list[int]:
    """Bars of each section: near to what is `wanted`, nowhere fewer than are `needed`.

    Together they are as many as are wanted, within the budget; more than that only where more are needed.
    """
    total = min(budget, max(1, round(sum(wanted))))
    scale = total / sum(wanted)
    spare = [max(0.0, bars * scale - least) for bars, least in zip(wanted, needed, strict=True)]
    left = max(0, total - sum(needed))
    if not left or not sum(spare):
        return list(needed)
    ends = [round(end) for end in accumulate((share * left / sum(spare) for share in spare), initial=0.0)]
    return [least + stop - start for least, (start, stop) in zip(needed, pairwise(ends), strict=True)]
