"""What `/transcribe` is asked for, beside the audio."""

from typing import Literal

from pydantic import Field, ValidationError

from engine.request_errors import refusal
from engine.request_types import Model, Real, Strict, Text

MOST_PROMPT_CHARACTERS = 4_000
MOST_SECONDS = 24 * 3600  # of a recording


class TranscriptionRequest(Strict):
    """Options of `/transcribe`."""

    model: Model = ""
    language: Text = Field(
        default="",
        max_length=32,
        description="Language spoken, as an ISO 639-1 code; detected where it is left out.",
    )
    task: Literal["transcribe", "translate"] = Field(
        default="transcribe",
        description="Write down what is said, or translate it into English where the model can.",
    )
    prompt: Text = Field(
        default="",
        max_length=MOST_PROMPT_CHARACTERS,
        description="Words and names that may be said, in the spelling wanted.",
    )
    temperature: Real = Field(
        default=0.0, ge=0, le=1, description="0 searches for the likeliest words; more draws them."
    )


def read_transcription(payload: object) -> TranscriptionRequest:
    """Read the options, as JSON values; raises InvalidRequest, UnknownField."""
    try:
        return TranscriptionRequest.model_validate(payload)
    except ValidationError as error:
        raise refusal(TranscriptionRequest, error) from error
