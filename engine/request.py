"""Typed requests of every operation: fields, defaults and bounds.

A request is a JSON object. Types are taken as JSON Schema takes them: `true` and `"32"` are no whole numbers, `32.0`
is one (up to 2^53), a whole number is a number, no number is infinite, and `null` stands for nothing. Leaving a field out equals sending its
default; a field nobody knows is refused by name. `read_song` and `read_sketch` turn a payload into a request or
raise one of `InvalidRequest`, `UnknownField`, `MissingInput` with a sentence that says what to change.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from engine.bitrates import MP3_BITRATES_KBPS
from engine.request_errors import refusal

CODES = 32_768  # size of the semantic codebook
CODES_PER_SECOND = 25
CONTEXT_TOKENS = 24_576  # the longest sequence the backbone reads
SEED_LIMIT = 2**63
DRAWN_SEED_LIMIT = 2**52  # drawn seeds and the few after them survive a reader that keeps numbers as doubles
EXACT_FLOAT = 2**53  # up to here every whole number has a double of its own


def _contradiction(field: str, sentence: str) -> PydanticCustomError:
    return PydanticCustomError("contradiction", "{sentence}", {"field": field, "sentence": sentence})


def _sentence(sentence: str) -> PydanticCustomError:
    return PydanticCustomError("rule", "{sentence}", {"sentence": sentence})


def _plain_text(text: str) -> str:
    if "\0" in text:
        raise _sentence("{field} must not contain the NUL character; remove it.")
    return text


def _guidance(scale: float) -> float:
    if -1 < scale < 0:
        raise _sentence("{field} must be -1 (the protocol's own value) or between 0 and 20; you sent {sent}.")
    return scale


def _mp3_bitrate(rate: int) -> int:
    if rate not in MP3_BITRATES_KBPS:
        rates = ", ".join(str(known) for known in MP3_BITRATES_KBPS)
        raise _sentence(f"{{field}} must be one of {rates}; you sent {{sent}}.")
    return rate


def _codes(text: str) -> str:
    parse_codes(text)
    return text


def _whole(value: object) -> object:
    """The integer of a float without a fraction, as JSON counts it; other values are left to the strict type."""
    exact = isinstance(value, float) and abs(value) <= EXACT_FLOAT and value.is_integer()
    return int(value) if exact and isinstance(value, float) else value


def _forgotten(_: object) -> object:
    return None


def parse_codes(text: str) -> tuple[int, ...]:
    """Read comma-separated semantic codes (25 a second of audio, each 0 to 32767); blank text has none."""
    if not text.strip():
        return ()
    words = text.split(",")
    if len(words) > CONTEXT_TOKENS:
        raise _sentence(f"{{field}} must hold at most {CONTEXT_TOKENS} codes; you sent {len(words)}.")
    return tuple(_code(word.strip(), position) for position, word in enumerate(words, start=1))


def _code(word: str, position: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 5 and int(word) < CODES):
        shown = word[:20].encode("ascii", "backslashreplace").decode()
        raise _sentence(
            f"{{field}} must be comma-separated whole numbers from 0 to {CODES - 1}; number {position} is '{shown}'."
        )
    return int(word)


Whole = Annotated[int, Field(strict=True), BeforeValidator(_whole)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, Field(strict=True), AfterValidator(_plain_text)]
Temperature = Annotated[
    Real, Field(ge=0, le=5, description="Softens the distribution; 0 always takes the likeliest token.")
]
TopP = Annotated[Real, Field(gt=0, le=1, description="Share of the probability that stays in play.")]
TopK = Annotated[
    Whole, Field(ge=1, le=2**31 - 1, description="Number of likeliest tokens that stay in play.")
]
Penalty = Annotated[
    Real, Field(gt=0, description="Divides the logits of tokens drawn lately; 1 is no penalty.")
]
Window = Annotated[
    Whole, Field(ge=1, le=100, description="How many of the last tokens the penalty looks at.")
]
FewestTokens = Annotated[
    Whole, Field(ge=0, le=CONTEXT_TOKENS, description="The stage does not end before so many tokens.")
]
MostTokens = Annotated[
    Whole, Field(ge=1, le=CONTEXT_TOKENS, description="The stage stops after so many tokens.")
]
Seed = Annotated[Whole, Field(ge=-1, lt=SEED_LIMIT)]
ONE_OR_GUIDANCE: dict[str, JsonValue] = {"anyOf": [{"const": -1}, {"minimum": 0}]}
ONE_OF_RATES: dict[str, JsonValue] = {"enum": list(MP3_BITRATES_KBPS)}


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Sampling(_Strict):
    """How tokens are drawn in one stage; the stages differ in their defaults."""

    temperature: Temperature
    top_p: TopP
    top_k: TopK
    repetition_penalty: Penalty
    penalty_window: Window
    min_tokens: FewestTokens
    max_tokens: MostTokens

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_tokens > self.max_tokens:
            raise _contradiction(
                "min_tokens",
                f"{{field}} must not exceed max_tokens; you sent {self.min_tokens} and a max_tokens of {self.max_tokens}.",
            )
        return self


class AbcSampling(Sampling):
    """Drawing of the score's tokens."""

    temperature: Temperature = 0.7
    top_p: TopP = 0.9
    top_k: TopK = 30
    repetition_penalty: Penalty = 1.005
    penalty_window: Window = 100
    min_tokens: FewestTokens = 32
    max_tokens: MostTokens = 4096


class SemanticSampling(Sampling):
    """Drawing of the semantic codes, 25 a second of audio."""

    temperature: Temperature = 1.0
    top_p: TopP = 0.95
    top_k: TopK = 100
    repetition_penalty: Penalty = 1.2
    penalty_window: Window = 50
    min_tokens: FewestTokens = 200
    max_tokens: MostTokens = 9000


class Lora(_Strict):
    """An adapter and how strongly each half of the model feels it."""

    id: Text = Field(min_length=1, max_length=200, description="An adapter listed in /props.")
    backbone: Real = Field(
        default=1.0, ge=-10, le=10, description="Strength in the half that writes score and codes."
    )
    acoustic: Real = Field(
        default=1.0, ge=-10, le=10, description="Strength in the half that makes the sound."
    )


class SongRequest(_Strict):
    """Body of `/synth` and `/plan`. One of `style`, `lyrics` and `abc` must not be blank."""

    model: Text = Field(
        default="", max_length=200, description="A model id from /props; empty takes the server's default."
    )
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
    cfg_scale: Annotated[Real, AfterValidator(_guidance)] = Field(
        default=-1.0,
        ge=-1,
        le=20,
        json_schema_extra=ONE_OR_GUIDANCE,
        description="Guidance; -1 takes the protocol's own value.",
    )
    semantic_tokens: Annotated[Text, AfterValidator(_codes)] = Field(
        default="",
        max_length=262_144,
        pattern=r"^\s*([0-9]{1,5}\s*(,\s*[0-9]{1,5}\s*)*)?$",
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
    peak_clip: Whole = Field(
        default=10,
        ge=0,
        le=999_999,
        description="Millionths of the samples that may clip; 0 is the true peak.",
    )
    output_format: Literal["mp3", "opus", "flac", "wav16", "wav24", "wav32"] = Field(
        default="mp3", description="Format of the audio."
    )
    mp3_bitrate: Annotated[Whole, AfterValidator(_mp3_bitrate)] = Field(
        default=128, json_schema_extra=ONE_OF_RATES, description="Bit rate of mp3 and opus in kbit/s."
    )
    words: Annotated[object, AfterValidator(_forgotten)] = Field(
        default=None,
        exclude=True,
        description="Word times of a replay; read by clients, accepted and ignored here.",
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
            raise _contradiction(
                "abc", "{field} needs a score stage; set cot to full or melody, or leave abc out."
            )
        self._check_kept_codes()
        self._check_seed("lm_seed", self.lm_seed, self.lm_batch_size)
        self._check_seed("seed", self.seed, self.synth_batch_size)
        return self

    def _check_kept_codes(self) -> None:
        held = len(self.codes) if self.keep_codes else 0
        if self.keep_codes and not held:
            raise _contradiction(
                "keep_codes", "{field} needs semantic_tokens to keep; send them, or leave keep_codes out."
            )
        if self.keep_codes > held:
            raise _contradiction(
                "keep_codes",
                f"{{field}} must not exceed the {held} codes in semantic_tokens; you sent {self.keep_codes}.",
            )

    @staticmethod
    def _check_seed(field: str, seed: int, count: int) -> None:
        if seed + count > SEED_LIMIT:
            raise _contradiction(
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
    abc: str = "",
    codes: Sequence[int] = (),
    words: JsonValue = None,
) -> dict[str, JsonValue]:
    """The request that gives this one track again.

    `request` has its seeds resolved; `song` and `variation` count from 0; `abc` and `codes` are what the track was
    made of; `words` are its word times, where they are known.
    """
    replay: dict[str, JsonValue] = request.model_dump(mode="json")
    for name in ("from_bar", "bars"):  # only /sketch reads them: a whole track's replay fits every operation
        if name in replay and replay[name] == type(request).model_fields[name].default:
            del replay[name]
    replay |= {
        "lm_seed": request.lm_seed + song,
        "seed": request.seed + variation,
        "lm_batch_size": 1,
        "synth_batch_size": 1,
        "abc": "" if request.cot == "off" else abc,
        "semantic_tokens": ",".join(map(str, codes)),
        "keep_codes": 0,
    }
    return replay if words is None else replay | {"words": words}
