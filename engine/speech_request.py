"""What `/speech` is asked for."""

from typing import Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from engine.request_errors import refusal
from engine.request_types import Bitrate, Ignored, Model, OutputFormat, Real, Seed, Strict, Text

MOST_CHARACTERS = 100_000  # some two hours of speech
SLOWEST, FASTEST = 0.25, 4.0


class SpeechRequest(Strict):
    """Body of `/speech`. `text` must not be blank."""

    model: Model = ""
    text: Text = Field(default="", max_length=MOST_CHARACTERS, description="What to say.")
    voice: Text = Field(
        default="", max_length=100, description="A voice listed in /props; the default one for none."
    )
    speed: Real = Field(
        default=1.0, ge=SLOWEST, le=FASTEST, description="Pace; 1 is the voice's own, 2 twice as fast."
    )
    seed: Seed = Field(default=-1, description="Seed of the breath in the voice; -1 draws one.")
    output_format: OutputFormat = "mp3"
    mp3_bitrate: Bitrate = 128
    words: Ignored = Field(
        default=None,
        exclude=True,
        description="Word times of a replay; read by clients, accepted and ignored here.",
    )

    @model_validator(mode="after")
    def _something_to_say(self) -> Self:
        if not self.text.strip():
            raise PydanticCustomError("missing_input", "Send the text to say; it is blank.")
        return self


def read_speech(payload: object) -> SpeechRequest:
    """Read the body of `/speech`, as JSON values; raises InvalidRequest, UnknownField, MissingInput."""
    try:
        return SpeechRequest.model_validate(payload)
    except ValidationError as error:
        raise refusal(SpeechRequest, error) from error
