"""Speech into a sink, sentence by sentence as it is made."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from engine.audio import AudioForm, Samples, open_writer
from engine.control import Check, unchecked
from engine.speech_model import Spoken
from engine.words import Word
from storage.growth import nobody

CHANNELS: Final = 1
BLOCK_SECONDS: Final = 0.5  # of which the slowest encoder makes 15 ms
SHORT_SECONDS: Final = 5.0
# Codecs whose files begin with how long they are.
WITH_LENGTH: Final = ("mp3", "flac", "wav16", "wav24", "wav32")


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
    """Encode each sentence in the form as soon as it is there, block by block, and tell `written` of each in the sink.

    One short sentence that is all there is will be complete so soon that nobody is told, where the head of a finished
    file tells its length: whoever asked for it gets that. Raises what the sentences, the encoder, the sink and `check` raise.
    """
    words: list[Word] = []
    with open_writer(rate_hz, CHANNELS, form, sink, check) as writer:
        for spoken in sentences:
            words.extend(spoken.words)
            is_short = spoken.is_whole and len(spoken.samples) <= SHORT_SECONDS * rate_hz
            for block in _blocks(spoken.samples, round(BLOCK_SECONDS * rate_hz)):
                writer.write(block)
                if not (is_short and form.codec in WITH_LENGTH):
                    written()
    return Voiced(writer.frames / rate_hz, tuple(words))


def _blocks(samples: Samples, frames: int) -> Iterator[Samples]:
    return (samples[start : start + frames] for start in range(0, len(samples), frames))
