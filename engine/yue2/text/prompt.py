"""Prefixes of the two language stages as the YuE2 protocol has them, and whether a request fits the context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.errors import InvalidRequest
from engine.request import (
    CODES_PER_SECOND,
    CONTEXT_TOKENS,
    AbcSampling,
    SemanticSampling,
    SongRequest,
)
from engine.yue2.vocabulary import END_OF_DOCUMENT, MUSIC_START, SCORE_END, SCORE_START, Ids

Cot = Literal["full", "melody", "off"]

INSTRUCTIONS: Mapping[Cot, str] = {
    "off": "Generate music with codec tokens from the given conditions.",
    "melody": "Generate a melody-only ABC transcription without chord symbols, "
    "then generate music with codec tokens from the given conditions.",
    "full": "Generate a chord-annotated ABC transcription, "
    "then generate music with codec tokens from the given conditions.",
}
GUIDANCE: Mapping[Cot, float] = {"full": 1.0, "melody": 1.0, "off": 1.01}
PROTOCOL_GUIDANCE = -1.0  # a request's word for the protocol's own value
SOUND_TOKENS = 5  # a code, music end, a frame's row and its two markers: the least of the acoustic stage
SCORE_CLOSING = (SCORE_END, MUSIC_START)


class TextIds(Protocol):
    """Text to ids and back, as `engine.yue2.text.tokenizer.Tokenizer` does it."""

    def encode(self, text: str) -> Ids:
        """Ids of ordinary text."""

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids."""


def score_text(tokenizer: TextIds, ids: Sequence[int]) -> str:
    """The score that the ids spell, fit for a request: U+FFFD stands for the NUL character, which requests refuse."""
    return tokenizer.decode(ids).replace("\0", "\N{REPLACEMENT CHARACTER}")


def prompt_text(style: str, lyrics: str, cot: Cot) -> str:
    """The text that conditions both stages; style and lyrics go in as they are."""
    return f"{INSTRUCTIONS[cot]}\n[Tags]\n{style}\n[Lyrics]\n{lyrics}\n"


def guidance(cot: Cot, cfg_scale: float) -> float:
    """The scale of the semantic stage's guidance, 1 for none; the score stage is never guided."""
    return GUIDANCE[cot] if cfg_scale == PROTOCOL_GUIDANCE else cfg_scale


def semantic_budget(request: SongRequest) -> int:
    """The most codes a song of this request may have: `max_tokens`, and no more than its duration, but at least 1."""
    frames = int(round(min(request.duration, CONTEXT_TOKENS) * CODES_PER_SECOND, 6))  # 1.16 s are 29 frames
    return max(1, min(request.semantic_sampling.max_tokens, frames))


class Prompts:
    """Builds prefixes with a tokenizer."""

    def __init__(self, tokenizer: TextIds) -> None:
        self._tokenizer = tokenizer

    def score_ids(self, abc: str, drawn: Sequence[int] = ()) -> Ids:
        """Ids of a score's text: `drawn`, the ids that the model wrote it with, where they spell it.

        A blank text that no drawn ids spell is an empty score.
        """
        if drawn and score_text(self._tokenizer, drawn) == abc:
            return tuple(drawn)
        return self._tokenizer.encode(abc) if abc.strip() else ()

    def given_ids(self, request: SongRequest) -> Ids:
        """Ids of the score that a request brings; with `cot` off it has none."""
        return () if request.cot == "off" else self.score_ids(request.abc, request.score_ids)

    def open_prefix(self, style: str, lyrics: str, cot: Cot) -> Ids:
        """What the score stage goes on from; without a score stage, what the semantic stage goes on from."""
        if cot == "off":
            return self.semantic_prefix(style, lyrics, cot, ())
        return (END_OF_DOCUMENT, *self._tokenizer.encode(prompt_text(style, lyrics, cot)), SCORE_START)

    def semantic_prefix(self, style: str, lyrics: str, cot: Cot, score_ids: Sequence[int]) -> Ids:
        """What the semantic stage goes on from; the score's ids without its start and end."""
        text = self._tokenizer.encode(prompt_text(style, lyrics, cot))
        return (END_OF_DOCUMENT, *text, SCORE_START, *score_ids, *SCORE_CLOSING)

    def negative_prefix(self, cot: Cot, score_ids: Sequence[int]) -> Ids:
        """What the branch of the guidance that knows neither style nor lyrics goes on from; the shorter of the two."""
        instruction = self._tokenizer.encode(INSTRUCTIONS[cot])  # no end of line: not a slice of the other
        score = () if cot == "off" else (SCORE_START, *score_ids, SCORE_END)
        return (END_OF_DOCUMENT, *instruction, *score, MUSIC_START)

    def check(self, request: SongRequest) -> None:
        """Raise InvalidRequest unless everything the request may draw fits into the model's context.

        A score that is still to be drawn counts with all it may have. Nothing is drawn where the request brings
        all of its codes; then the acoustic stage needs room for a frame at a time.
        """
        score_ids = self.given_ids(request)
        prefix = len(self.semantic_prefix(request.style, request.lyrics, request.cot, score_ids))
        replayed = bool(request.semantic_tokens.strip()) and not request.keep_codes
        written = not replayed and request.cot != "off" and not request.abc.strip()
        budgets = [_score_budget(request)] if written else []
        if not replayed:
            tokens = semantic_budget(request)
            budgets.append(Budget("semantic_sampling.max_tokens", tokens, SemanticSampling().max_tokens))
        self._check_budgets(request, prefix, budgets)

    def check_plan(self, request: SongRequest) -> None:
        """As `check`, for drawing the score alone; a request that brings its score needs no room."""
        if not request.abc.strip() and request.cot != "off":
            prefix = len(self.open_prefix(request.style, request.lyrics, request.cot))
            self._check_budgets(request, prefix, [_score_budget(request)])

    def _check_budgets(self, request: SongRequest, prefix: int, budgets: Sequence["Budget"]) -> None:
        *earlier, wanted = (0, *(budget.tokens for budget in budgets))  # what was drawn earlier is read again
        if prefix + sum(earlier) + max(wanted, SOUND_TOKENS) > CONTEXT_TOKENS:
            texts = {field: getattr(request, field) for field in ("style", "lyrics", "abc")}
            lengths = {field: len(self._tokenizer.encode(text)) for field, text in texts.items() if text}
            raise _too_long(prefix, lengths, budgets)


@dataclass(frozen=True, slots=True)
class Budget:
    """A request's field that says how many tokens a stage may draw; `usual` is its default."""

    field: str
    tokens: int
    usual: int


def _score_budget(request: SongRequest) -> Budget:
    return Budget("abc_sampling.max_tokens", request.abc_sampling.max_tokens, AbcSampling().max_tokens)


def _too_long(prefix: int, lengths: Mapping[str, int], budgets: Sequence[Budget]) -> InvalidRequest:
    """The refusal; a budget is to blame where its default would have fitted, else the longest text."""
    longest = max(lengths, key=lambda field: lengths[field])
    usual = prefix + sum(min(budget.tokens, budget.usual) for budget in budgets)
    raised = max(budgets, key=lambda budget: budget.tokens - budget.usual, default=None)
    left = max(0, CONTEXT_TOKENS - prefix)
    parts = ", ".join(f"{field} {length}" for field, length in lengths.items())
    asked = [f"{budget.tokens} for {budget.field}" for budget in budgets]
    if not budgets or budgets[-1].tokens < SOUND_TOKENS:
        asked.append(f"{SOUND_TOKENS} for the sound")
    said = (
        f"The prompt has {prefix} tokens ({parts}), which leaves {left} of the model's {CONTEXT_TOKENS}; "
        f"it needs {' and '.join(asked)}."
    )
    if raised is not None and usual <= CONTEXT_TOKENS and raised.tokens > raised.usual:
        return InvalidRequest(raised.field, f"{said} Lower {raised.field}, or shorten {longest}.")
    lower = " or lower ".join(budget.field for budget in budgets)
    return InvalidRequest(longest, f"{said} Shorten {longest}" + (f", or lower {lower}." if lower else "."))
