"""What `/vae` is asked for: the options of its query, typed and bounded like those of songs."""

import re
from collections.abc import Iterable
from typing import TypeVar

from pydantic import ValidationError

from engine.errors import InvalidRequest
from engine.request_errors import refusal
from engine.request_types import Bitrate, Model, OutputFormat, PeakClip, Strict

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBERS = ("mp3_bitrate", "peak_clip")


class EncodeRequest(Strict):
    """Options of audio into latents."""

    model: Model = ""


class DecodeRequest(Strict):
    """Options of latents into audio."""

    model: Model = ""
    output_format: OutputFormat = "mp3"
    mp3_bitrate: Bitrate = 128
    peak_clip: PeakClip = 10


Options = TypeVar("Options", EncodeRequest, DecodeRequest)


def read_encode(query: Iterable[tuple[str, str]]) -> EncodeRequest:
    """Read the options of `op=encode` from a query; raises InvalidRequest, UnknownField."""
    return _read(EncodeRequest, query)


def read_decode(query: Iterable[tuple[str, str]]) -> DecodeRequest:
    """Read the options of `op=decode` from a query; raises InvalidRequest, UnknownField."""
    return _read(DecodeRequest, query)


def _read(shape: type[Options], query: Iterable[tuple[str, str]]) -> Options:
    options: dict[str, object] = {}
    for name, value in query:
        if name in options:
            raise InvalidRequest(name, f"{name} stands twice in the query; send it once.")
        is_number = name in _NUMBERS and _WHOLE_NUMBER.fullmatch(value)
        options[name] = int(value) if is_number else value
    try:
        return shape.model_validate(options)
    except ValidationError as error:
        raise refusal(shape, error) from error
