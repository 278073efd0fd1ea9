"""The protocol's drawing written down plainly, over the whole vocabulary. What is fast is held to it."""

from collections import Counter
from collections.abc import Sequence

import torch

from engine.sampling_request import Sampling
from engine.yue2.decoding.sampling import Rule


def sampling_of(
    temperature: float = 1.0,
    top_p: float = 1.0,
    top_k: int = 100,
    penalty: float = 1.0,
    window: int = 50,
    least: int = 0,
    most: int = 100,
) -> Sampling:
    return Sampling(
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        repetition_penalty=penalty,
        penalty_window=window,
        min_tokens=least,
        max_tokens=most,
    )


def plain_scores(logits: torch.Tensor, rule: Rule, history: Sequence[int]) -> torch.Tensor:
    """Scores of all ids (vocabulary,) before temperature."""
    sampling, rows = rule.sampling, rule.rows
    scores = logits.clone() if rule.legacy else logits.to(torch.float32, copy=True)
    scores[: rows.first] = -torch.inf
    scores[rows.first + rows.count :] = -torch.inf
    scores[rows.barred.start : rows.barred.stop] = -torch.inf
    if len(history) < sampling.min_tokens:
        scores[rows.end_id] = -torch.inf
    for token, count in Counter(history[-sampling.penalty_window :]).items():
        alpha = sampling.repetition_penalty ** torch.tensor(count, dtype=scores.dtype)
        scores[token] = scores[token] * alpha if scores[token] < 0 else scores[token] / alpha
    return scores


def plain_survivors(scores: torch.Tensor, rule: Rule) -> torch.Tensor:
    """Scores of all ids (vocabulary,) after temperature, top-k and nucleus; -inf where dropped."""
    sampling = rule.sampling
    if sampling.temperature != 1:
        scores = scores / sampling.temperature
    lowest = scores.topk(min(sampling.top_k, len(scores))).values[-1]
    scores = scores.masked_fill(scores < lowest, -torch.inf)
    if sampling.top_p < 1:
        ordered, order = scores.sort(descending=True, stable=True)
        chances = ordered.softmax(-1)
        dropped = chances.cumsum(-1) - chances > sampling.top_p
        dropped[: 3 if rule.legacy else 1] = False
        scores = scores.scatter(0, order[dropped], -torch.inf)
    return scores


def plain_pick(logits: torch.Tensor, rule: Rule, history: Sequence[int], generator: torch.Generator) -> int:
    """The next token after `history`, from logits (vocabulary,)."""
    scores = plain_scores(logits, rule, history)
    if rule.sampling.temperature == 0:
        return int(scores.argmax())
    chances = plain_survivors(scores, rule).softmax(-1)
    return int(torch.multinomial(chances, 1, generator=generator))
