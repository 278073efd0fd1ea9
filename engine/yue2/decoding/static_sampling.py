"""Drawing the next tokens of several songs with static shapes and nothing that waits for the device.

What `engine.yue2.decoding.sampling` does for one row on a processor, for a device and for graphs: settings lie in tensors, so
that one captured graph serves all of them, and rows are sorted whole, since how many ids tie is not known beforehand.
"""

from collections.abc import Sequence

import torch

from engine.yue2.decoding.sampling import COOLEST, NOT_FINITE, Rule, in_nucleus, penalised
from engine.yue2.vocabulary import TokenRows

LONGEST_WINDOW = 100
"""The longest penalty window that a request may have."""


class Settings:
    """Sampling settings on the device, all () float32 or int64; owner of their memory."""

    def __init__(self, device: torch.device) -> None:
        real = torch.zeros(5, device=device)
        whole = torch.zeros(3, dtype=torch.int64, device=device)
        self._real, self._whole = real, whole
        self.temperature, self.top_p, self.penalty, self.guidance = real[0], real[1], real[2], real[3]
        self.last_rank, self.min_tokens, self.fewest = whole[0], whole[1], whole[2]
        self.weights = torch.zeros(LONGEST_WINDOW, device=device)
        """1 for the places of a history (LONGEST_WINDOW,), newest last, that the penalty looks at, else 0."""

    def set(self, rule: Rule, guidance: float) -> None:
        """Take the settings of a rule, in the same memory."""
        sampling = rule.sampling
        limit = sampling.top_p if sampling.top_p < 1 else torch.inf
        temperature = max(sampling.temperature, COOLEST)
        self._real.copy_(torch.tensor([temperature, limit, sampling.repetition_penalty, guidance, 0.0]))
        rank = min(sampling.top_k, rule.rows.count) - 1
        self._whole.copy_(torch.tensor([rank, sampling.min_tokens, rule.fewest]))
        self.weights.zero_()[LONGEST_WINDOW - sampling.penalty_window :] = 1


class Past:
    """What songs have drawn so far, on the device; owner of its memory.

    `recent` (S, LONGEST_WINDOW) are places in the row, newest last, `rows.count` where there is none yet; `drawn`
    (S,) counts the tokens.
    """

    def __init__(self, songs: int, rows: TokenRows, device: torch.device) -> None:
        self.rows = rows
        self.recent = torch.zeros(songs, LONGEST_WINDOW, dtype=torch.int64, device=device)
        self.drawn = torch.zeros(songs, dtype=torch.int64, device=device)

    def begin(self, histories: Sequence[Sequence[int]]) -> None:
        """Take the songs' tokens so far, in the same memory."""
        recent = torch.full(self.recent.shape, self.rows.count)
        for song, history in enumerate(histories):
            latest = history[-LONGEST_WINDOW:]
            if latest:
                recent[song, -len(latest) :] = torch.tensor(latest) - self.rows.first
        self.recent.copy_(recent)
        self.drawn.copy_(torch.tensor([len(history) for history in histories]))

    def add(self, places: torch.Tensor) -> None:
        """Take the places (S,) in the row that were drawn."""
        self.recent.copy_(torch.cat((self.recent[:, 1:], places.unsqueeze(1)), dim=1))
        self.drawn.add_(1)


def guided(logits: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Guidance of logits (2 S, count), the negative branches last: (S, count), as `sampling.guided`."""
    likely, unlikely = logits.chunk(2)
    return unlikely + ((likely - unlikely).float() * scale).to(logits.dtype)


def scored(logits: torch.Tensor, legacy: bool, settings: Settings, past: Past) -> torch.Tensor:
    """Scores (S, count) before temperature, as `sampling.scored`."""
    rows = past.rows
    scores = logits.clone() if legacy else logits.to(torch.float32, copy=True)
    scores[:, rows.barred_places].fill_(-torch.inf)
    scores[:, rows.end_id - rows.first].masked_fill_(past.drawn < settings.min_tokens, -torch.inf)
    counts = torch.zeros(scores.shape[0], rows.count + 1, device=scores.device)
    counts.scatter_add_(1, past.recent, settings.weights.expand_as(past.recent))
    return penalised(scores, counts[:, : rows.count], settings.penalty)


def picked(
    logits: torch.Tensor, scores: torch.Tensor, exponentials: torch.Tensor | None, settings: Settings
) -> torch.Tensor:
    """Places (S,) in the row of the tokens drawn; `NOT_FINITE` where the logits are not. All others are (S, count).

    Without exponentials the likeliest are taken.
    """
    places = scores.argmax(1) if exponentials is None else _drawn(scores, exponentials, settings)
    return places.masked_fill(~logits.amax(1).isfinite(), NOT_FINITE)


def _drawn(scores: torch.Tensor, exponentials: torch.Tensor, settings: Settings) -> torch.Tensor:
    limits, last = torch.finfo(scores.dtype), scores.shape[1] - 1
    warm = (scores.float() / settings.temperature).to(scores.dtype).clamp_(max=limits.max)
    ordered, order = warm.sort(dim=1, descending=True, stable=True)
    lowest = ordered.index_select(1, settings.last_rank.view(1))  # (S, 1)
    ordered = ordered.masked_fill(ordered < lowest, -torch.inf)
    ordered = ordered.masked_fill(~in_nucleus(ordered, settings.top_p, settings.fewest), -torch.inf)
    chances = ordered.softmax(1) / exponentials.gather(1, order)
    beaten = chances < chances.amax(1, keepdim=True)
    return order.masked_fill(beaten, last).amin(1)  # of equal chances the first id
