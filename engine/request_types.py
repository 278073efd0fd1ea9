"""What fields of requests are made of: numbers and text with their bounds and descriptions.

Types are taken as JSON Schema takes them; `engine.request` tells the rules.
"""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
)
from pydantic_core import PydanticCustomError

from engine.bitrates import MP3_BITRATES_KBPS

CODES = 32_768  # size of the semantic codebook
TEXT_IDS = 151_643  # ids of the tokenizer below its control tokens
CONTEXT_TOKENS = 24_576  # the longest sequence the backbone reads
SEED_LIMIT = 2**63
EXACT_FLOAT = 2**53  # up to here every whole number has a double of its own
MOST_GUIDANCE = 20
FINGERPRINT_ENTRIES = 32
FINGERPRINT_CHARACTERS = 200

Scalar = str | bool | int | float | None


def contradiction(field: str, sentence: str) -> PydanticCustomError:
    """What to raise where `field` does not go with another; `{field}` and `{sent}` in the sentence are filled in."""
    return PydanticCustomError("contradiction", "{sentence}", {"field": field, "sentence": sentence})


def ruled_out(sentence: str) -> PydanticCustomError:
    """What to raise for a value that breaks a rule of its own field; the sentence as in `contradiction`."""
    return PydanticCustomError("rule", "{sentence}", {"sentence": sentence})


def _plain_text(text: str) -> str:
    if "\0" in text:
        raise ruled_out("{field} must not contain the NUL character; remove it.")
    return text


def _guidance(scale: float) -> float:
    if scale != -1 and not 0 <= scale <= MOST_GUIDANCE:
        raise ruled_out(
            f"{{field}} must be -1 (the protocol's own value) or between 0 and {MOST_GUIDANCE}; you sent {{sent}}."
        )
    return scale


def _mp3_bitrate(rate: int) -> int:
    if rate not in MP3_BITRATES_KBPS:
        rates = ", ".join(str(known) for known in MP3_BITRATES_KBPS)
        raise ruled_out(f"{{field}} must be one of {rates}; you sent {{sent}}.")
    return rate


def _codes(text: str) -> str:
    parse_codes(text)
    return text


def _score_ids(text: str) -> str:
    parse_score_ids(text)
    return text


def _whole(value: object) -> object:
    """The integer of a float without a fraction, as JSON counts it; other values are left to the strict type."""
    exact = isinstance(value, float) and abs(value) <= EXACT_FLOAT and value.is_integer()
    return int(value) if exact and isinstance(value, float) else value


def _forgotten(_: object) -> object:
    return None


def _fingerprint(value: object) -> dict[str, Scalar] | None:
    """The value where it is null or a small flat object; whoever made the replay knows what it says."""
    if value is None:
        return None
    if isinstance(value, dict) and len(value) <= FINGERPRINT_ENTRIES:
        entries = {key: entry for key, entry in value.items() if _is_short(key) and _is_scalar(entry)}
        if len(entries) == len(value):
            return entries
    raise ruled_out(
        f"{{field}} must be null or a flat JSON object of at most {FINGERPRINT_ENTRIES} short entries, as a replay "
        "holds it; send it as it was or leave it out."
    )


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= FINGERPRINT_CHARACTERS and value.isprintable()


def _is_scalar(value: object) -> bool:
    if isinstance(value, int | float):
        return abs(value) <= EXACT_FLOAT
    return value is None or _is_short(value)


def parse_codes(text: str) -> tuple[int, ...]:
    """Read comma-separated semantic codes (25 a second of audio, each 0 to 32767); blank text has none."""
    return _numbers(text, CODES, "codes")


def parse_score_ids(text: str) -> tuple[int, ...]:
    """Read comma-separated token ids of a score, each below 151643; blank text has none."""
    return _numbers(text, TEXT_IDS, "ids")


def _numbers(text: str, below: int, what: str) -> tuple[int, ...]:
    if not text.strip():
        return ()
    words = text.split(",")
    if len(words) > CONTEXT_TOKENS:
        raise ruled_out(f"{{field}} must hold at most {CONTEXT_TOKENS} {what}; you sent {len(words)}.")
    return tuple(_number(word.strip(), below, position) for position, word in enumerate(words, start=1))


def _number(word: str, below: int, position: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(below)) and int(word) < below):
        shown = word[:20].encode("ascii", "backslashreplace").decode()
        raise ruled_out(
            f"{{field}} must be comma-separated whole numbers from 0 to {below - 1}; number {position} is '{shown}'."
        )
    return int(word)


Whole = Annotated[int, Field(strict=True), BeforeValidator(_whole)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, Field(strict=True), AfterValidator(_plain_text)]
ShortText = Annotated[str, Field(max_length=FINGERPRINT_CHARACTERS)]
Number = Annotated[float, Field(ge=-EXACT_FLOAT, le=EXACT_FLOAT)]
Seed = Annotated[Whole, Field(ge=-1, lt=SEED_LIMIT)]
ONE_OR_GUIDANCE: dict[str, JsonValue] = {
    "anyOf": [{"const": -1}, {"minimum": 0}],
    "minimum": -1,
    "maximum": MOST_GUIDANCE,
}
ONE_OF_RATES: dict[str, JsonValue] = {"enum": list(MP3_BITRATES_KBPS)}
Guidance = Annotated[Real, AfterValidator(_guidance)]
Model = Annotated[
    str,
    Field(
        strict=True, max_length=200, description="A model id from /props; empty takes the server's default."
    ),
    AfterValidator(_plain_text),
]
PeakClip = Annotated[
    Whole,
    Field(ge=0, le=999_999, description="Millionths of the samples that may clip; 0 is the true peak."),
]
OutputFormat = Annotated[
    Literal["mp3", "opus", "flac", "wav16", "wav24", "wav32"], Field(description="Format of the audio.")
]
Bitrate = Annotated[
    Whole,
    AfterValidator(_mp3_bitrate),
    Field(json_schema_extra=ONE_OF_RATES, description="Bit rate of mp3 and opus in kbit/s."),
]
Codes = Annotated[Text, AfterValidator(_codes)]
ScoreIds = Annotated[Text, AfterValidator(_score_ids)]
Fingerprint = Annotated[
    dict[str, Scalar] | None,
    PlainValidator(
        _fingerprint, json_schema_input_type=dict[ShortText, ShortText | bool | Number | None] | None
    ),
]
"""Of a replay: on what it was made, such as device and precision."""
Ignored = Annotated[object, AfterValidator(_forgotten)]


class Strict(BaseModel):
    """A part of a request: immutable, and without fields that nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
