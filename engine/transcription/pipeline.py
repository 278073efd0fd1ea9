"""Speech written down by Whisper: the packaged tiny.en, or any of Whisper's models that was converted for CTranslate2."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from pydantic import JsonValue

from engine.audio.reading import AudioStream, listening
from engine.control import Control
from engine.errors import InvalidRequest
from engine.song_model import Expected
from engine.sound_options import cores
from engine.transcription.detection import NOBODY, Language, detect
from engine.transcription.device import chosen, opened
from engine.transcription.features import RATE_HZ
from engine.transcription.languages import NAMES, language_code
from engine.transcription.progress import Progress
from engine.transcription.scribe import Scribe
from engine.transcription.voice_activity import SpeechDetector
from engine.transcription.weights import Weights, packaged, weights_in
from engine.transcription.whisper import Whisper
from engine.transcription.windows import Windows
from engine.transcription_model import Heard, Segment, Transcript, unheard
from engine.transcription_request import MOST_SECONDS, TranscriptionRequest

LISTENING: Final = "listening"
_FIELD: Final = "audio"


class WhisperTranscription:
    """Owns the model and the detector of speech, which are opened with the first recording; one thread's.

    `folder` is one that a CTranslate2 converter wrote, None for the packaged tiny.en; `device` is "auto", "cpu", "cuda" or
    "cuda:N", in whose place the processor is taken where the card cannot be used; `threads` are those that compute on a
    processor, by default one fewer than there are cores, so that whoever waits for the server meanwhile gets an answer.
    Raises CheckpointError for a folder that lacks a file.
    """

    def __init__(
        self, folder: Path | None = None, *, device: str = "auto", compute_type: str = "", threads: int = 0
    ) -> None:
        self._weights: Weights = packaged() if folder is None else weights_in(folder)
        self._device = chosen(device, compute_type)
        self._threads = threads or max(1, cores() - 1)
        self._whisper: Whisper | None = None
        self._detector: SpeechDetector | None = None
        self.id = self._weights.id

    @property
    def rates_id(self) -> str:
        """The id with device and number format, as they are by now."""
        return f"{self.id} {self._device.name} {self._device.compute_type}"

    def describe(self) -> dict[str, JsonValue]:
        """What a client is told: id, kind, a sentence, languages by code, tasks, operations, what it accepts."""
        weights = self._weights
        return {
            "id": self.id,
            "kind": "transcription",
            "description": (
                "Writes down what is said and when, word by word. "
                + (
                    f"Knows {len(weights.languages)} languages."
                    if weights.multilingual
                    else "Knows English only."
                )
            ),
            "languages": list(weights.languages),
            "language_names": {code: NAMES[code] for code in weights.languages},
            "tasks": self._tasks(),
            "operations": ["transcribe"],
            "accepts": ["language", "task", "prompt", "temperature"],
            "device": self._device.name,
            "compute_type": self._device.compute_type,
        }

    def _tasks(self) -> list[JsonValue]:
        return ["transcribe", "translate"] if self._weights.multilingual else ["transcribe"]

    def check(self, request: TranscriptionRequest) -> None:
        """Raise InvalidRequest, naming the field, for a language or a task the model lacks."""
        language_code(request.language, self._weights.languages)
        if request.task not in self._tasks():
            raise InvalidRequest(
                "task",
                f"The model {self.id!r} knows English only and cannot translate; set task to transcribe, or choose "
                "another model.",
            )

    def stages(self, request: TranscriptionRequest, seconds: float) -> list[Expected]:
        """One phase, its size the seconds of audio."""
        return [Expected(LISTENING, seconds, "score")]

    def unload(self) -> None:
        """Close the model and the detector."""
        self._whisper = None
        self._detector = None

    def transcribe(
        self, audio: BinaryIO, request: TranscriptionRequest, control: Control, heard: Heard = unheard
    ) -> Transcript:
        """What an audio file says; an empty transcript where nobody speaks. `heard` is called with each segment of it.

        Raises InvalidRequest for what `check` refuses and for audio that cannot be read to its end, CheckpointError
        and DeviceError where the model cannot be opened, OutOfMemory.
        """
        self.check(request)
        control.report(LISTENING, 0.0, seconds=0)
        whisper = self._opened()
        whisper.begin()
        language = self._language(whisper, audio, request, control)
        scribe = Scribe(whisper, request, language)
        segments: list[Segment] = []
        with self._windows(audio, control) as (stream, windows):
            progress = Progress(control, LISTENING, windows, stream.seconds)
            while (window := windows.next(progress.tell)) is not None:
                for segment in scribe.write(window, windows, control.check_cancelled):
                    segments.append(segment)
                    heard(segment)
                progress.tell()
            seconds = windows.heard / RATE_HZ
        control.report(LISTENING, 1.0, seconds=int(seconds))
        if not segments and self._is_detected(request):
            language = NOBODY  # what music sounds like
        text = "".join(segment.blank + segment.text for segment in segments)
        notes = (self._device.note,) if self._device.note else ()
        return Transcript(text, language.code, language.probability, seconds, tuple(segments), notes)

    def _opened(self) -> Whisper:
        if self._whisper is None:
            self._whisper, self._device = opened(self._weights, self._device, self._threads)
        return self._whisper

    @contextmanager
    def _windows(self, audio: BinaryIO, control: Control) -> Iterator[tuple[AudioStream, Windows]]:
        if self._detector is None:
            self._detector = SpeechDetector()
        check = control.check_cancelled
        with listening(audio, field=_FIELD, most_seconds=MOST_SECONDS, check=check) as stream:
            yield stream, Windows(stream.blocks, self._detector.recording())

    def _is_detected(self, request: TranscriptionRequest) -> bool:
        return self._weights.multilingual and not request.language.strip()

    def _language(
        self, whisper: Whisper, audio: BinaryIO, request: TranscriptionRequest, control: Control
    ) -> Language:
        """The one asked for, the only one there is, or the one that the first windows sound like."""
        if not self._is_detected(request):
            asked = language_code(request.language, self._weights.languages)
            return Language(asked or "en", 1.0, told=self._weights.multilingual)
        with self._windows(audio, control) as (_, windows):
            return detect(whisper, windows, control.check_cancelled)
