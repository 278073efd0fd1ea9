"""How the next token is drawn from a row of logits, for one song at a time on a processor.

The order is the protocol's: bar ids, hold the end back, penalise, divide by temperature, top-k, nucleus, draw.
A row holds only the ids that a stage may draw, yet gives what the whole vocabulary would. In off mode (`legacy`) all
is computed in the dtype of the logits and the nucleus holds at least three ids; otherwise in float32, at least one.
`engine.yue2.decoding.static_sampling` is the same for a device that must not be waited for.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.sampling_request import Sampling
from engine.yue2.decoding.draws import WordDraws
from engine.yue2.vocabulary import TokenRows

NOT_FINITE = -1
"""Drawn in place of a token where the logits are not finite."""

COOLEST = 1e-30  # a lower temperature would divide by zero in float32
_TIES = 32  # room for ids that tie with the last of the top-k; more of them cost another pass over the row


@dataclass(frozen=True, slots=True)
class Rule:
    """How a stage draws: from which ids, how, and whether as in off mode."""

    rows: TokenRows
    sampling: Sampling
    legacy: bool = False

    @property
    def greedy(self) -> bool:
        """Whether the likeliest id is always taken."""
        return self.sampling.temperature == 0

    @property
    def fewest(self) -> int:
        """Ids that stay in the nucleus however likely the first is."""
        return 3 if self.legacy else 1


@dataclass(frozen=True, slots=True)
class Survivors:
    """What is left to draw from: places in the row (n,), ascending, and their scores (n,)."""

    places: torch.Tensor
    scores: torch.Tensor

    def probabilities(self) -> torch.Tensor:
        """Of each survivor (n,), in the dtype of the scores."""
        return self.scores.softmax(-1)


def guided(likely: torch.Tensor, unlikely: torch.Tensor, scale: float) -> torch.Tensor:
    """Classifier-free guidance U + s (C - U) in the dtype of the logits; all of one shape."""
    return unlikely + (likely - unlikely) * scale


def pick(logits: torch.Tensor, rule: Rule, history: Sequence[int], draws: WordDraws) -> int:
    """The next token after the generated tokens `history`, from logits (rows.count,); `NOT_FINITE` where they are not.

    Greedy picking draws nothing.
    """
    if not math.isfinite(logits.amax().item()):  # NaN wins every maximum
        return NOT_FINITE
    scores = scored(logits, rule, history)
    if rule.greedy:
        return rule.rows.first + int(scores.argmax())
    left = survivors(scores, rule)
    draws.advance()
    chances = left.probabilities() / draws.at(left.places + rule.rows.first, scores.dtype)
    return rule.rows.first + int(left.places[chances.argmax()])


def scored(logits: torch.Tensor, rule: Rule, history: Sequence[int]) -> torch.Tensor:
    """Scores (rows.count,) before temperature: barred ids out, the end held back, recent ids penalised."""
    rows, sampling = rule.rows, rule.sampling
    scores = logits.clone() if rule.legacy else logits.to(torch.float32, copy=True)
    scores[rows.barred_places] = -torch.inf
    if len(history) < sampling.min_tokens:
        scores[rows.end_id - rows.first] = -torch.inf
    if history and sampling.repetition_penalty != 1:
        _penalise(scores, history[-sampling.penalty_window :], rows.first, sampling.repetition_penalty)
    return scores


def penalised(scores: torch.Tensor, counts: torch.Tensor, penalty: torch.Tensor | float) -> torch.Tensor:
    """Scores made less likely by penalty^count, shapes alike; never infinite where they were not."""
    limits = torch.finfo(scores.dtype)
    factors = torch.pow(penalty, counts.to(scores.dtype)).clamp_(limits.tiny, limits.max)
    weaker = torch.where(scores < 0, scores * factors, scores / factors)
    return torch.where(scores.isinf(), scores, weaker.clamp_(limits.min, limits.max))


def _penalise(scores: torch.Tensor, recent: Sequence[int], first: int, penalty: float) -> None:
    counted = Counter(recent)
    places = torch.tensor([token - first for token in counted])  # (distinct,)
    counts = torch.tensor(list(counted.values()))
    scores[places] = penalised(scores[places], counts, penalty)


def survivors(scores: torch.Tensor, rule: Rule) -> Survivors:
    """What top-k and nucleus leave of scores (rows.count,), which are divided by the temperature in place."""
    sampling = rule.sampling
    if sampling.temperature != 1:
        scores.div_(max(sampling.temperature, COOLEST)).clamp_(max=torch.finfo(scores.dtype).max)
    places = _likeliest(scores, sampling.top_k)
    left = scores[places]
    if sampling.top_p < 1:
        ordered, order = left.sort(descending=True, stable=True)
        kept = order[in_nucleus(ordered, sampling.top_p, rule.fewest)].sort().values
        places, left = places[kept], left[kept]
    return Survivors(places, left)


def in_nucleus(
    ordered: torch.Tensor, limit: torch.Tensor | float, fewest: torch.Tensor | int
) -> torch.Tensor:
    """Which of the scores (..., n), best first, are in the nucleus: those that follow less probability than `limit`."""
    chances = ordered.softmax(-1)
    before = chances.cumsum(-1).sub_(chances)
    ranks = torch.arange(ordered.shape[-1], device=ordered.device)
    return (before <= limit) | (ranks < fewest)


def _likeliest(scores: torch.Tensor, count: int) -> torch.Tensor:
    """Places (n,), ascending, of the `count` highest scores and of all that tie with the last of them."""
    if count >= len(scores):
        return (scores > -torch.inf).nonzero().squeeze(1)
    best, places = scores.topk(min(count + _TIES, len(scores)))
    lowest = best[count - 1]
    if best[-1] == lowest:  # there may be more ties than were looked at
        return ((scores >= lowest) & (scores > -torch.inf)).nonzero().squeeze(1)
    return places[best >= lowest].sort().values
