"""Whole bars shared out among the sections of a song."""

from collections.abc import Sequence
from itertools import accumulate, pairwise


def shared_out(wanted: Sequence[float], needed: Sequence[int], budget: int) -> list[int]:
    """Bars of each section, so that sections begin near to where it is `wanted`; nowhere fewer than are `needed`.

    Together they are as many as are wanted, within the budget; more than that only where more are needed. Of all such
    divisions it is one whose boundaries miss those that are wanted by the least sum of squares; where the budget is a
    bar or more too small, all that is wanted is drawn together first.
    """
    total = min(budget, max(1, round(sum(wanted))))
    left = total - sum(needed)
    if left <= 0:
        return list(needed)
    scale = budget / sum(wanted) if sum(wanted) >= budget + 1 else 1.0
    taken = list(accumulate(needed))
    # What is left over before each boundary never falls, so the nearest such course is an isotonic regression.
    course = [end * scale - least for end, least in zip(accumulate(wanted), taken, strict=True)]
    over = [min(max(round(spare), 0), left) for spare in rising(course[:-1])]
    ends = [0, *(least + spare for least, spare in zip(taken, (*over, left), strict=True))]
    return [stop - start for start, stop in pairwise(ends)]


def rising(values: Sequence[float]) -> list[float]:
    """The sequence that never falls and is nearest to `values` by the sum of squares: pool adjacent violators.

    Barlow, Bartholomew, Bremner and Brunk, Statistical Inference under Order Restrictions (1972), section 1.2.
    """
    pools: list[tuple[float, int]] = []  # mean, and how many values
    for value in values:
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            before, several = pools.pop()
            mean, count = (before * several + mean * count) / (several + count), several + count
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]
