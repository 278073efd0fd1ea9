"""What speaks, sings and listens here, for `yue2-studio doctor`: packaged weights, further voices, further formats."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from engine.errors import CheckpointError
from engine.speech.kokoro_files import voices_in
from engine.transcription.weights import packaged, weights_in
from server.commands.voice_files import missing_model
from server.settings import Settings

DAMAGED = "cannot be used (see below)"


@dataclass(frozen=True, slots=True)
class SoundCheckup:
    """A line for each thing that makes or hears sound without YuE2, and what is wrong with them."""

    speech: str
    voices: str
    transcription: str
    recordings: str
    problems: tuple[str, ...]

    def rows(self) -> Iterator[tuple[str, str]]:
        """Name and words of each line."""
        yield "Speech", self.speech
        yield "Voices", self.voices
        yield "Transcription", self.transcription
        yield "Recordings", self.recordings


def check_sound(settings: Settings) -> SoundCheckup:
    """Look at everything; the packaged weights are read and their digests compared (0.2 s)."""
    problems: list[str] = []

    def found(words: str, look: Callable[[], object]) -> str:
        try:
            look()
        except CheckpointError as error:
            problems.append(str(error))
            return DAMAGED
        return words

    folder = settings.whisper.absolute() if settings.whisper else None
    return SoundCheckup(
        speech=found("the built-in voice, which speaks and sings English; its files are right", _read_voice),
        voices=_voices(settings.voices_directory),
        transcription=found(_listener(folder), lambda: _read_listener(folder)),
        recordings=_recordings(),
        problems=tuple(problems),
    )


def _read_voice() -> None:
    """Raise CheckpointError where a file of the voice is not the one that was tried."""
    from engine.speech.lexicon_files import verify
    from engine.speech.network import ALPHABET, WEIGHTS

    WEIGHTS.verified()
    ALPHABET.verified()
    verify(british=False)


def _read_listener(folder: Path | None) -> None:
    """Raise CheckpointError where a file of what listens is missing, or not the one that was tried."""
    from engine.transcription.voice_activity import SpeechDetector

    (packaged() if folder is None else weights_in(folder)).located()
    SpeechDetector()


def _voices(folder: Path) -> str:
    """Further voices, and what they lack."""
    there = voices_in(folder)
    if not there:
        return "none but the built-in one; 'yue2-studio voices' fetches more"
    return f"{len(there)} more in {folder}" + (
        f", but not usable: {lack}" if (lack := missing_model()) else ""
    )


def _listener(folder: Path | None) -> str:
    if folder is None:
        return "Whisper tiny.en, built in, English; its files are right"
    return f"the Whisper model in {folder}, as YUE2_WHISPER says"


def _recordings() -> str:
    known = "WAV, FLAC, MP3, Ogg"
    if find_spec("av"):
        return f"{known}; also M4A, WebM and video, since the extra containers is installed"
    return f"{known}; the extra containers reads M4A, WebM and video too"
