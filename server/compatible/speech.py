"""What OpenAI's `/v1/audio/speech` is asked for, and what that means here: speech, or a song where the model sings.

Fields, bounds and defaults: `CreateSpeechRequest` of openai/openai-openapi. Fields that nobody here knows are passed
over, since clients send such of other servers; null stands for a field left out.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from engine.audio import AudioForm
from engine.errors import InvalidRequest, MissingInput
from engine.request import SongRequest, read_song
from engine.request_errors import refusal
from engine.request_types import OutputFormat, Real, Text, ruled_out
from engine.speech_request import SpeechRequest, read_speech
from server.compatible.fields import renamed
from storage.entry import JSON

Format = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
PCM_HZ: Final = 24_000
PCM_CHANNELS: Final = 1
MOST_INSTRUCTIONS: Final = 4096
_FORMS: Final[Mapping[Format, AudioForm]] = {
    "mp3": AudioForm("mp3"),
    "opus": AudioForm("opus"),
    "aac": AudioForm("aac"),
    "flac": AudioForm("flac"),
    "wav": AudioForm("wav16"),
    "pcm": AudioForm("pcm", rate_hz=PCM_HZ, channels=PCM_CHANNELS),
}
# What a replay asks for, which is a native request; of AAC and bare samples the nearest that it can name.
_REPLAYED: Final[Mapping[Format, OutputFormat]] = {
    "mp3": "mp3",
    "opus": "opus",
    "aac": "mp3",
    "flac": "flac",
    "wav": "wav16",
    "pcm": "wav16",
}
_BUDGETS: Final = ("semantic_sampling.", "abc_sampling.")
WORDS_OF_SPEECH: Final = {"text": "input", "output_format": "response_format", "": "input"}
"""The caller's name of each field of a native request that a call becomes."""

WORDS_OF_SONGS: Final = {
    "lyrics": "input",
    "style": "instructions",
    "output_format": "response_format",
    "": "input",
}


def _voice_id(sent: object) -> object:
    """The id of a voice that is told as an object, as custom ones are."""
    if not isinstance(sent, dict):
        return sent
    id_ = sent.get("id")
    if not isinstance(id_, str):
        raise ruled_out('{field} must be the name of a voice, or an object such as {"id": "heart"}.')
    return id_


class SpeechCall(BaseModel):
    """Body of `POST /v1/audio/speech`; `voice` is the name or the id, and it or `model` empty for the default one."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    model: Text = Field(default="", max_length=200)
    input: Text
    voice: Annotated[Text, BeforeValidator(_voice_id)] = ""
    instructions: Text = Field(default="", max_length=MOST_INSTRUCTIONS)
    response_format: Format = "mp3"
    speed: Real = Field(default=1.0, ge=0.25, le=4.0)
    stream_format: Literal["audio", "sse"] = "audio"

    @property
    def form(self) -> AudioForm:
        """How its audio is stored."""
        return _FORMS[self.response_format]


def read_speech_call(payload: Mapping[str, JSON]) -> SpeechCall:
    """Read the body, as JSON values; a blank model counts as left out. Raises InvalidRequest, MissingInput."""
    given = {name: value for name, value in payload.items() if value is not None}
    if _is_blank(given.get("input", "")):
        raise MissingInput(
            "input", "Send the text to say, or the lyrics to sing, as input; it is missing or blank."
        )
    if _is_blank(given.get("model", "")):
        given.pop("model", None)
    try:
        return SpeechCall.model_validate(given)
    except ValidationError as error:
        raise refusal(SpeechCall, error) from error


def _is_blank(value: JSON) -> bool:
    return isinstance(value, str) and not value.strip()


@contextmanager
def fitting() -> Iterator[None]:
    """Let the refusal of a song for its length name nothing that a call has no field for, as the model's budgets are."""
    try:
        yield
    except InvalidRequest as error:
        if not any(field in str(error) for field in _BUDGETS):
            raise
        raise InvalidRequest(
            "input", "The song is longer than the model can keep in mind; shorten input, or instructions."
        ) from error


def speech_of(call: SpeechCall, model: str, voice: str) -> SpeechRequest:
    """The call as a native request to that model in that voice. Raises InvalidRequest in the caller's words."""
    with renamed(WORDS_OF_SPEECH):
        return read_speech(
            {
                "model": model,
                "text": call.input,
                "voice": voice,
                "speed": call.speed,
                "output_format": _REPLAYED[call.response_format],
            }
        )


def song_of(call: SpeechCall, model: str) -> SongRequest:
    """The call as one song of that model: the input is its lyrics, the instructions are its style.

    Raises InvalidRequest in the caller's words, for another pace than 1 too.
    """
    if call.speed != 1:
        raise InvalidRequest("speed", "Songs have the speed of their style; leave speed out, or set it to 1.")
    with renamed(WORDS_OF_SONGS):
        return read_song(
            {
                "model": model,
                "lyrics": call.input,
                "style": call.instructions,
                "output_format": _REPLAYED[call.response_format],
            }
        )
