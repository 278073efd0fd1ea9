"""Typed requests of every operation: fields, defaults and bounds.

A request is a JSON object. Types are taken as JSON Schema takes them: `true` and `"32"` are no whole numbers, `32.0`
is one (up to 2^53), a whole number is a number, no number is infinite, and `null` stands for nothing. Leaving a field out equals sending its
default; a field nobody knows is refused by name. `read_song` and `read_sketch` turn a payload into a request or
raise one of `InvalidRequest`, `UnknownField`, `MissingInput` with a sentence that says what to change.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Self, TypeVar

from pydantic import Field, JsonValue, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from engine.request_errors import refusal
from engine.request_types import (
    CODES,
    CONTEXT_TOKENS,
    ONE_OR_GUIDANCE,
    SEED_LIMIT,
    Bitrate,
    Codes,
    Fingerprint,
    Guidance,
    Ignored,
    Model,
    OutputFormat,
    PeakClip,
    Real,
    Scalar,
    ScoreIds,
    Seed,
    Strict,
    Text,
    Whole,
    contradiction,
    parse_codes,
    parse_score_ids,
)
from engine.sampling_request import AbcSampling, Sampling, SemanticSampling

__all__ = [
    "CODES",
    "CODES_PER_SECOND",
    "CONTEXT_TOKENS",
    "DRAWN_SEED_LIMIT",
    "AbcSampling",
    "Lora",
    "Sampling",
    "Scalar",
    "SemanticSampling",
    "SketchRequest",
    "SongRequest",
    "read_sketch",
    "read_song",
    "replay_of",
    "resolve_seeds",
]

CODES_PER_SECOND = 25
DRAWN_SEED_LIMIT = 2**52  # drawn seeds and the few after them survive a reader that keeps numbers as doubles


class Lora(Strict):
    """An adapter and how strongly each half of the model feels it."""

    id: Text = Field(min_length=1, max_length=200, description="An adapter listed in /props.")
    backbone: Real = Field(
        default=1.0, ge=-10, le=10, description="Strength in the half that writes score and codes."
    )
    acoustic: Real = Field(
        default=1.0, ge=-10, le=10, description="Strength in the half that makes the sound."
    )


class SongRequest(Strict):
    """Body of `/synth` and `/plan`. One of `style`, `lyrics` and `abc` must not be blank."""

    model: Model = ""
    style: Text = Field(
        default="",
        max_length=4_000,
        description="Tags such as 'folk, 84 BPM, acoustic guitar', verbatim to the model.",
    )
    lyrics: Text = Field(
        default="",
        max_length=32_000,
        description="Words to sing, parted by lines such as [Verse] and [Chorus].",
    )
    abc: Text = Field(
        default="",
        max_length=262_144,
        description="An ABC score to sing instead of planning one; not with cot 'off'.",
    )
    abc_tokens: ScoreIds = Field(
        default="",
        max_length=262_144,
        json_schema_extra={"pattern": r"^\s*([0-9]{1,6}\s*(,\s*[0-9]{1,6}\s*)*)?$"},
        description="Of a replay: the score's comma-separated token ids (below 151643), as the model drew them; used only where they spell abc.",
    )
    cot: Literal["full", "melody", "off"] = Field(
        default="full", description="Score to plan first: with chords, melody only, or none."
    )
    duration: Real = Field(
        default=360.0, gt=0, description="Longest wanted length in seconds; the semantic budget caps it too."
    )
    lm_seed: Seed = Field(default=-1, description="Seed of the token draws; -1 draws one.")
    seed: Seed = Field(default=-1, description="Seed of the acoustic noise; -1 draws one.")
    steps: Whole = Field(default=32, ge=1, le=100, description="Midpoint steps of the acoustic solver.")
    lm_batch_size: Whole = Field(
        default=1, ge=1, le=8, description="Songs from one prompt; song i is drawn with lm_seed + i."
    )
    synth_batch_size: Whole = Field(
        default=1, ge=1, le=9, description="Variations of each song; variation j has noise seed + j."
    )
    cfg_scale: Guidance = Field(
        default=-1.0,
        json_schema_extra=ONE_OR_GUIDANCE,
        description="Guidance; -1 takes the protocol's own value.",
    )
    semantic_tokens: Codes = Field(
        default="",
        max_length=262_144,
        json_schema_extra={"pattern": r"^\s*([0-9]{1,5}\s*(,\s*[0-9]{1,5}\s*)*)?$"},
        description="Comma-separated codes (0 to 32767, 25 a second) that skip every stage before the acoustic one.",
    )
    keep_codes: Whole = Field(
        default=0,
        ge=0,
        le=CONTEXT_TOKENS,
        description="Keep so many of semantic_tokens and go on from there.",
    )
    lora: tuple[Lora, ...] = Field(default=(), max_length=16, description="Adapters to apply.")
    output: Literal["audio", "latents"] = Field(
        default="audio", description="'latents' also keeps the acoustic latents as a part."
    )
    peak_clip: PeakClip = 10
    output_format: OutputFormat = "mp3"
    mp3_bitrate: Bitrate = 128
    words: Ignored = Field(
        default=None,
        exclude=True,
        description="Word times of a replay; read by clients, accepted and ignored here.",
    )
    fingerprint: Fingerprint = Field(
        default=None,
        description="Of a replay: the device and settings it was made with; where they differ, a note says so.",
    )
    abc_sampling: AbcSampling = Field(default=AbcSampling(), description="Drawing of the score.")
    semantic_sampling: SemanticSampling = Field(
        default=SemanticSampling(), description="Drawing of the semantic codes."
    )

    @property
    def codes(self) -> tuple[int, ...]:
        """The codes of `semantic_tokens`; shape (frames,), 25 a second."""
        return parse_codes(self.semantic_tokens)

    @property
    def score_ids(self) -> tuple[int, ...]:
        """The ids of `abc_tokens`; the model's own check tells whether they spell `abc`."""
        return parse_score_ids(self.abc_tokens)

    @property
    def longest_seconds(self) -> float:
        """Upper bound of a track: the wanted duration within the semantic budget."""
        return min(self.duration, self.semantic_sampling.max_tokens / CODES_PER_SECOND)

    @model_validator(mode="after")
    def _agreed(self) -> Self:
        if not (self.style.strip() or self.lyrics.strip() or self.abc.strip()):
            raise PydanticCustomError(
                "missing_input", "Send a style, lyrics or a score in abc; all three are blank."
            )
        if self.cot == "off" and self.abc.strip():
            raise contradiction(
                "abc", "{field} needs a score stage; set cot to full or melody, or leave abc out."
            )
        self._check_kept_codes()
        self._check_seed("lm_seed", self.lm_seed, self.lm_batch_size)
        self._check_seed("seed", self.seed, self.synth_batch_size)
        return self

    def _check_kept_codes(self) -> None:
        held = len(self.codes) if self.keep_codes else 0
        if self.keep_codes and not held:
            raise contradiction(
                "keep_codes", "{field} needs semantic_tokens to keep; send them, or leave keep_codes out."
            )
        if self.keep_codes > held:
            raise contradiction(
                "keep_codes",
                f"{{field}} must not exceed the {held} codes in semantic_tokens; you sent {self.keep_codes}.",
            )

    @staticmethod
    def _check_seed(field: str, seed: int, count: int) -> None:
        if seed + count > SEED_LIMIT:
            raise contradiction(
                field, f"{{field}} must leave room for {count} seeds below 2^63; choose a smaller one."
            )


class SketchRequest(SongRequest):
    """Body of `/sketch`: a score in `abc`, or a whole request that is composed first; optionally some bars of it."""

    from_bar: Whole = Field(
        default=1, ge=1, le=2**31 - 1, description="The first bar to play, counted from 1."
    )
    bars: Whole | None = Field(
        default=None, ge=1, le=2**31 - 1, description="How many bars to play; null plays on to the end."
    )


Request = TypeVar("Request", bound=SongRequest)


def read_song(payload: object) -> SongRequest:
    """Read the body of `/synth` or `/plan`, as JSON values; raises InvalidRequest, UnknownField, MissingInput."""
    return _read(SongRequest, payload)


def read_sketch(payload: object) -> SketchRequest:
    """Read the body of `/sketch`, as JSON values; raises InvalidRequest, UnknownField, MissingInput."""
    return _read(SketchRequest, payload)


def _read(shape: type[Request], payload: object) -> Request:
    try:
        return shape.model_validate(payload)
    except ValidationError as error:
        raise refusal(shape, error) from error


def resolve_seeds(request: Request, draw: Callable[[], int]) -> Request:
    """The same request with both seeds fixed; `draw` gives any non-negative integer for each seed that is -1."""
    changes = {
        name: draw() % DRAWN_SEED_LIMIT
        for name, seed in (("lm_seed", request.lm_seed), ("seed", request.seed))
        if seed == -1
    }
    return request.model_copy(update=changes)


def replay_of(
    request: SongRequest,
    song: int,
    variation: int,
    *,
    model: str,
    abc: str = "",
    codes: Sequence[int] = (),
    words: JsonValue = None,
    abc_tokens: Sequence[int] = (),
    fingerprint: Mapping[str, Scalar] | None = None,
) -> dict[str, JsonValue]:
    """The request that gives this one track again.

    `request` has its seeds resolved; `song` and `variation` count from 0; `model` is the id of the one that made it,
    so that a server whose default is another refuses or obeys, but never plays something else; `abc` and `codes` are what the track was
    made of; `words` are its word times, where they are known. `abc_tokens` are the ids that `abc` was drawn as, and
    `fingerprint` says on what the track was made, for models that have them.
    """
    replay: dict[str, JsonValue] = request.model_dump(mode="json", exclude={"abc_tokens", "fingerprint"})
    for name in ("from_bar", "bars"):  # only /sketch reads them: a whole track's replay fits every operation
        if name in replay and replay[name] == type(request).model_fields[name].default:
            del replay[name]
    replay |= {
        "model": model,
        "lm_seed": request.lm_seed + song,
        "seed": request.seed + variation,
        "lm_batch_size": 1,
        "synth_batch_size": 1,
        "abc": "" if request.cot == "off" else abc,
        "semantic_tokens": ",".join(map(str, codes)),
        "keep_codes": 0,
    }
    known: dict[str, JsonValue] = {}
    if abc_tokens and replay["abc"]:
        known["abc_tokens"] = ",".join(map(str, abc_tokens))
    if fingerprint is not None:
        known["fingerprint"] = dict(fingerprint)
    if words is not None:
        known["words"] = words
    return replay | known
