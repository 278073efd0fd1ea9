"""What OpenAI's `/v1/audio/transcriptions` and `/v1/audio/translations` are asked for, and what that means here.

Fields, bounds and defaults: `CreateTranscriptionRequest` and `CreateTranslationRequest` of openai/openai-openapi. They
come as texts of a form. Fields that nobody here knows are passed over, since clients send such of other servers; an
empty text stands for a field left out.
"""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from engine.catalogue import Catalogue
from engine.errors import InvalidRequest, MissingInput
from engine.request_errors import refusal
from engine.request_types import Text, contradiction, ruled_out
from engine.transcription.languages import HOW_TO_LEARN_LANGUAGES
from engine.transcription_request import MOST_PROMPT_CHARACTERS, TranscriptionRequest, read_transcription
from server.compatible.fields import renamed
from server.compatible.names import Kind, names_of, telling, transcription_model
from server.transcription_operations import TranscriptionOperations
from server.uploads import LooseForm
from server.work import Prepared

Task = Literal["transcribe", "translate"]
UPLOAD: Final = "file"
LEAST_SECONDS: Final = 0.1
_LISTS: Final = ("languages", "keywords", "timestamp_granularities", "include")
_SPEAKERS: Final = ("known_speaker_names", "known_speaker_references")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*", re.ASCII)
_NO_TRANSLATION: Final = (
    f"The model that listens here knows English only and cannot translate; {HOW_TO_LEARN_LANGUAGES}, or send the "
    "recording to /v1/audio/transcriptions."
)


def _language(code: str) -> str:
    if not _LANGUAGE.fullmatch(code):
        raise ruled_out("{field} must be an ISO 639-1 code, such as en; you sent {sent}.")
    return code


def _languages(codes: tuple[str, ...]) -> tuple[str, ...]:
    if not all(map(_LANGUAGE.fullmatch, codes)):
        raise ruled_out("{field} must be ISO 639-1 codes, such as en.")
    return codes


def _granularities(names: tuple[str, ...]) -> tuple[str, ...]:
    if not set(names) <= {"word", "segment"}:
        raise ruled_out("{field} must be word, segment or both.")
    return names


def _told_apart(name: object) -> object:
    if name == "diarized_json":
        raise ruled_out(
            "No model here tells speakers apart; set {field} to json, text, srt, verbose_json or vtt."
        )
    return name


def _probabilities(names: tuple[str, ...]) -> tuple[str, ...]:
    if names:
        raise ruled_out(
            "{field} asks for what no model here tells; leave it out. The mean log probability of each segment's "
            "tokens stands in verbose_json."
        )
    return names


class TranscriptionCall(BaseModel):
    """Fields of `POST /v1/audio/transcriptions` and `/v1/audio/translations` beside the file."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    task: Task = "transcribe"
    model: Text = Field(default="", max_length=200)
    language: Annotated[Text, AfterValidator(_language)] = ""
    languages: Annotated[tuple[Text, ...], AfterValidator(_languages)] = ()
    prompt: Text = ""
    keywords: tuple[Text, ...] = ()
    temperature: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    response_format: Annotated[
        Literal["json", "text", "srt", "verbose_json", "vtt"], BeforeValidator(_told_apart)
    ] = "json"
    timestamp_granularities: Annotated[tuple[Text, ...], AfterValidator(_granularities)] = ()
    include: Annotated[tuple[Text, ...], AfterValidator(_probabilities)] = ()
    stream: bool = False

    @property
    def names_languages(self) -> bool:
        """Whether it is said which languages may be spoken."""
        return bool(self.language or self.languages)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.stream and self.response_format not in ("json", "text"):
            raise contradiction(
                "stream",
                f"{self.response_format} cannot be sent while the recording is written down; set stream to false, or "
                "response_format to json.",
            )
        if "word" in self.timestamp_granularities and self.response_format != "verbose_json":
            raise contradiction(
                "timestamp_granularities",
                "Times of words stand in verbose_json; set response_format to that.",
            )
        return self


FIELDS: Final = frozenset(TranscriptionCall.model_fields) - {"task"}
"""Of a form, what is read as text."""


def read_transcription_call(form: LooseForm, task: Task) -> tuple[TranscriptionCall, io.BytesIO]:
    """What a form asks for, and its recording. Raises InvalidRequest, MissingInput."""
    for name in _SPEAKERS:
        if name in form.names:
            raise InvalidRequest(name, f"No model here tells speakers apart; leave {name} out.")
    try:
        call = TranscriptionCall.model_validate({"task": task, **_values(form.texts)})
    except ValidationError as error:
        raise refusal(TranscriptionCall, error) from error
    if form.file is None or not form.file.getbuffer().nbytes:
        raise MissingInput(UPLOAD, "Send the recording as file; it is missing or empty.")
    return call, form.file


def _values(texts: Mapping[str, tuple[str, ...]]) -> dict[str, object]:
    """The fields that were filled in; raises InvalidRequest for one that stands twice and is no list."""
    filled = {name: tuple(text for text in found if text.strip()) for name, found in texts.items()}
    values: dict[str, object] = {}
    for name, found in filled.items():
        if name in _LISTS:
            values[name] = found
        elif len(found) > 1:
            raise InvalidRequest(name, f"{name} stands {len(found)} times in the form; send it once.")
        elif found:
            values[name] = found[0] if name == "prompt" else found[0].strip()
    return values


class Transcribing:
    """Turns calls into work for the queue."""

    def __init__(self, catalogue: Catalogue, operations: TranscriptionOperations) -> None:
        self._operations = operations
        self._names = names_of(catalogue.describe(), Kind.TRANSCRIPTION)

    def prepare(self, call: TranscriptionCall, recording: io.BytesIO) -> Prepared:
        """The work. Raises InvalidRequest, UnknownModel in the caller's words."""
        # One of several languages is a native request's only one.
        fields = {"audio": UPLOAD} | ({} if call.language else {"language": "languages"})
        with renamed(fields), _task_in_words(), telling(self._names):
            return self._operations.transcribe(request_of(call), recording, LEAST_SECONDS)


def request_of(call: TranscriptionCall) -> TranscriptionRequest:
    """The call as a native request. Raises InvalidRequest for a vendor's model of another kind, and for a long prompt."""
    languages = {call.language} if call.language else set(call.languages)
    prompt = " ".join(filter(None, (call.prompt, ", ".join(call.keywords))))
    if call.keywords and len(prompt) > MOST_PROMPT_CHARACTERS:
        raise InvalidRequest(
            "keywords", f"prompt and keywords must have at most {MOST_PROMPT_CHARACTERS} characters together."
        )
    return read_transcription(
        {
            "model": transcription_model(call.model),
            # Of several the one that is spoken is detected, as it is where none is named.
            "language": languages.pop() if len(languages) == 1 else "",
            "task": call.task,
            "prompt": prompt,
            "temperature": call.temperature,
        }
    )


@contextmanager
def _task_in_words() -> Iterator[None]:
    """The task stands in the path: what is to blame where a model lacks it is the model."""
    try:
        yield
    except InvalidRequest as error:
        if error.field == "task":
            raise InvalidRequest("model", _NO_TRANSLATION) from error
        raise
