"""Speech into a sink, sentence by sentence as it is made."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO, Final

from engine.audio import AudioForm, open_writer
from engine.control import Check, unchecked
from engine.speech_model import Spoken
from engine.words import Word
from storage.growth import nobody

CHANNELS: Final = 1


@dataclass(frozen=True, slots=True)
class Voiced:
    """Length of what was written, and its words, timed from the start of the audio."""

    seconds: float
    words: tuple[Word, ...]


def write_speech(
    sentences: Iterable[Spoken],
    rate_hz: int,
    form: AudioForm,
    sink: BinaryIO,
    check: Check = unchecked,
    written: Callable[[], None] = nobody,
) -> Voiced:
    """Encode each sentence in the form as soon as it is there, and tell `written` that it is in the sink.

    Raises what the sentences, the encoder, the sink and `check` raise.
    """
    words: list[Word] = []
    with open_writer(rate_hz, CHANNELS, form, sink, check) as writer:
        for spoken in sentences:
            writer.write(spoken.samples)
            words.extend(spoken.words)
            written()
    return Voiced(writer.frames / rate_hz, tuple(words))
