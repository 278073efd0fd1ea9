"""What each tool is called with: its JSON Schema, and the reading of what an agent sent.

What a native request has too keeps its name, bounds and default from there; only the descriptions are an agent's own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from engine.errors import UnknownField
from engine.request import SketchRequest, SongRequest
from engine.request_errors import printable, refusal
from engine.request_types import Real, Strict, Text, ruled_out
from engine.speech_request import SpeechRequest
from engine.transcription_request import TranscriptionRequest
from server.addresses import MCP_PATH
from server.limits import MAX_WAIT_SECONDS
from storage.entry import JSON

Own = TypeVar("Own", bound=Strict)
MAX_TITLE_CHARACTERS: Final = 80
TRANSCRIPT_FORMATS: Final = ("text", "json", "srt", "vtt")
_NUMERAL: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{0,9})?", re.ASCII)
_JOB: Final = "The job_id that the tool which began the job answered."


def _visible(key: str) -> str:
    if not all("!" <= letter <= "~" for letter in key):
        raise ruled_out("{field} must be visible ASCII characters without spaces; you sent {sent}.")
    return key


def _seconds(sent: object) -> object:
    """Seconds to wait: also where they are written as text, and of too many as many as there may be."""
    if isinstance(sent, str) and _NUMERAL.fullmatch(sent.strip()):
        sent = float(sent)
    if isinstance(sent, int | float) and not isinstance(sent, bool) and sent > MAX_WAIT_SECONDS:
        return MAX_WAIT_SECONDS
    return sent


class Nothing(Strict):
    """The arguments of a tool that takes none."""


class Titled(Strict):
    """What is made gets a name."""

    title: Text = Field(
        default="",
        max_length=MAX_TITLE_CHARACTERS,
        description="What to call the result; it names the file and is not sung or said.",
    )


class Creating(Titled):
    """What every tool that begins a job takes beside its request."""

    idempotency_key: Annotated[Text, AfterValidator(_visible)] = Field(
        default="",
        max_length=255,
        json_schema_extra={"pattern": "^[!-~]*$"},
        description="Any word of your own for this one job: calling again with the same key and the same arguments "
        "answers with the same job in place of a second one. Send one if you may have to repeat the call.",
    )


class Writing(Titled):
    """How a recording is to be written down, beside its request."""

    format: Literal["text", "json", "srt", "vtt"] = Field(
        default="text",
        description="text alone, json with the times of all words, or subtitles as srt or vtt.",
    )


class Transcribing(Creating, Writing):
    """What `transcribe` takes beside its request."""

    job_id: Text = Field(
        max_length=64,
        description="A finished job whose audio is to be written down: a song, preview or speech.",
    )


class Naming(Strict):
    """One job."""

    job_id: Text = Field(max_length=64, description=_JOB)


class Watching(Naming):
    """One job, and how long to wait for its end."""

    wait_seconds: Annotated[Real, BeforeValidator(_seconds)] = Field(
        default=0,
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="Answer as soon as the job has ended, at the latest after so many seconds; 0 answers at once, and "
        f"more than {MAX_WAIT_SECONDS} is taken as {MAX_WAIT_SECONDS}.",
    )


class Choosing(Strict):
    """Which guide."""

    topic: Literal["lyrics", "style", "score"] = Field(
        description="lyrics: sections and lines that sing well; style: words that are understood; score: the ABC dialect."
    )


@dataclass(frozen=True, slots=True)
class Inputs:
    """What one tool takes: its own arguments and, of the native request it stands for, the fields of these names.

    `never` are values of fields that the request has but the tool cannot do, `described` what is told of a field here in
    other words than elsewhere, and `elsewhere` where to turn with arguments that others may have but this has not.
    """

    own: type[Strict]
    request: type[BaseModel] | None = None
    fields: tuple[str, ...] = ()
    never: Mapping[str, str] = field(default_factory=dict)
    described: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Every argument: what has to be there, then the request's, then what is the tool's own."""
        own = self.own.model_fields
        needed = [name for name, known in own.items() if known.is_required()]
        return (*needed, *self.fields, *(name for name in own if name not in needed))


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments as they were read: those of the tool itself, and the payload of the native request."""

    own: Strict
    payload: Mapping[str, JSON]

    def own_as(self, kind: type[Own]) -> Own:
        """The tool's own, which were read as this kind."""
        if not isinstance(self.own, kind):
            raise TypeError(f"These are no arguments of {kind.__name__}.")
        return self.own


_SOUND: Final = ("output_format", "mp3_bitrate")
_LISTENING: Final = ("language", "task", "prompt", "model")
_UPLOAD: Final = f"name an earlier job by its job_id, or send a recording's bytes to this server with POST {MCP_PATH}/transcribe."
RECORDING: Final = Inputs(Writing, TranscriptionRequest, _LISTENING)
"""What may be said of a recording that is sent in place of an earlier job's id."""
INPUTS: Final[Mapping[str, Inputs]] = {
    "create_song": Inputs(
        Creating,
        SongRequest,
        ("style", "lyrics", "abc", "cot", "duration", "lm_seed", "seed", "model", "steps", *_SOUND),
    ),
    "plan_score": Inputs(
        Creating,
        SongRequest,
        ("style", "lyrics", "cot", "duration", "lm_seed", "model"),
        never={"cot": "off"},
        described={"cot": "What the score holds: full with chords, melody without."},
    ),
    "preview_score": Inputs(
        Creating,
        SketchRequest,
        ("abc", "style", "lyrics", "from_bar", "bars", "duration", "lm_seed", "seed", *_SOUND),
    ),
    "speak": Inputs(Creating, SpeechRequest, ("text", "voice", "speed", "seed", "model", *_SOUND)),
    "transcribe": Inputs(
        Transcribing,
        TranscriptionRequest,
        _LISTENING,
        elsewhere=dict.fromkeys(("file", "audio", "path", "url"), _UPLOAD),
    ),
    "job_status": Inputs(Watching),
    "cancel_job": Inputs(Naming),
    "list_models": Inputs(Nothing),
    "server_status": Inputs(Nothing),
    "writing_guide": Inputs(Choosing),
}

_TOLD: Final[Mapping[str, str]] = {
    "style": "How it is to sound, as tags with commas between them: genre, mood, tempo in BPM, instruments, kind of voice. "
    "Example: 'folk, warm, 84 BPM, acoustic guitar, female voice'.",
    "lyrics": "The words to sing, one sung line a line, with a heading such as [Verse], [Chorus] or [Bridge] on a line of "
    "its own before each section and an empty line between sections. Empty for an instrumental.",
    "abc": "A score in ABC to perform as it is, such as one from plan_score that you have edited. Empty to have one written.",
    "cot": "Whether a score is planned first: full with chords, melody without, off none.",
    "duration": "The longest wanted length in seconds; the lyrics decide the length, this only bounds it. "
    "A song lasts at most 360 seconds.",
    "lm_seed": "Decides the melody: the same seed and words give the same tune; -1 draws one.",
    "seed": "Decides the sound of the performance; -1 draws one.",
    "model": "A model's id from list_models; leave it out for the best one here.",
    "steps": "Only for the model yue2: how finely the sound is worked out; more is slower.",
    "output_format": "The one file that is made: mp3 or opus (small), flac (lossless), wav16, wav24 or wav32.",
    "mp3_bitrate": "Of mp3 and opus, in kbit/s.",
    "text": "What to say, in English; numbers, dates and abbreviations are read as words.",
    "voice": "A voice's id from list_models; leave it out for the default one.",
    "language": "The language that is spoken or sung, as an ISO 639-1 code such as en; leave it out to have it detected.",
    "bars": "How many bars to play; leave it out to play on to the end.",
}
_DRAFT_WORDS: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def input_schema(tool: str) -> dict[str, JSON]:
    """The JSON Schema (2020-12) of a tool's arguments, without references; KeyError for a tool that is none."""
    return input_schema_of(INPUTS[tool])


def input_schema_of(inputs: Inputs) -> dict[str, JSON]:
    """As `input_schema`, for whatever takes these inputs."""
    own = inputs.own.model_json_schema()
    known = own["properties"] | (inputs.request.model_json_schema()["properties"] if inputs.request else {})
    properties: dict[str, JSON] = {
        name: _plain(name, known[name], inputs.never.get(name)) | _described(name, inputs)
        for name in inputs.names
    }
    required: list[JSON] = list(own.get("required", ()))
    schema: dict[str, JSON] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | {"required": required} if required else schema


def _plain(name: str, schema: Mapping[str, JSON], never: str | None) -> dict[str, JSON]:
    """One argument's schema as clients of every kind read it: no titles, no choice between a value and null."""
    plain = dict(schema)
    choices, values = plain.pop("anyOf", None), plain.get("enum")
    if isinstance(choices, list):
        first = choices[0]
        plain |= first if isinstance(first, dict) else {}
    if isinstance(values, list):
        plain["enum"] = [value for value in values if value != never]
    plain = {_DRAFT_WORDS.get(word, word): value for word, value in plain.items() if word != "title"}
    if plain.get("default") in (None, ""):
        plain.pop("default", None)
    return plain


def _described(name: str, inputs: Inputs) -> dict[str, JSON]:
    """What agents are told of an argument, where that is not what everybody is told."""
    told = inputs.described.get(name) or _TOLD.get(name)
    return {"description": told} if told else {}


def read_arguments(tool: str, sent: Mapping[str, JSON]) -> Arguments:
    """What an agent sent, null being the same as nothing.

    The payload is only told apart: whoever makes the job reads it. Raises UnknownField, InvalidRequest, MissingInput;
    KeyError for a tool that is none.
    """
    return read_as(INPUTS[tool], tool, sent)


def read_as(inputs: Inputs, what: str, sent: Mapping[str, JSON]) -> Arguments:
    """As `read_arguments`, for whatever takes these inputs."""
    given = {name: value for name, value in sent.items() if value is not None}
    unknown = sorted(given.keys() - set(inputs.names))
    if unknown:
        name = printable(unknown[0])
        raise UnknownField(name, _no_such(what, name, inputs))
    own = {name: given[name] for name in inputs.own.model_fields if name in given}
    try:
        read = inputs.own.model_validate(own)
    except ValidationError as error:
        raise refusal(inputs.own, error) from error
    return Arguments(read, {name: given[name] for name in inputs.fields if name in given})


def _no_such(what: str, name: str, inputs: Inputs) -> str:
    names = inputs.names
    if name in inputs.elsewhere:
        return f"{what} has no argument {name!r}; {inputs.elsewhere[name]}"
    near = get_close_matches(name, names, n=1)
    takes = f"it takes {', '.join(names)}" if names else "it takes none"
    advice = f"did you mean {near[0]}?" if near else f"{takes}."
    return f"{what} has no argument {name!r}; {advice}"
