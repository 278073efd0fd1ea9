"""Which models are present, and what a client is told about them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import JsonValue

from engine.errors import InvalidRequest, MissingExtra, UnknownModel
from engine.sketch.pipeline import SketchModel
from engine.sketch.voice import Singer, SungNetwork
from engine.song_model import SongCodec, SongModel
from engine.sound_options import SoundOptions
from engine.speech.kokoro import kokoro_speakers
from engine.speech.network import SpeechNetwork
from engine.speech.phonemes import Phonemiser
from engine.speech.pipeline import HibariSpeech
from engine.speech_model import SpeechModel
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription_model import TranscriptionModel
from engine.yue2.options import Yue2Options

YUE2: Final = "yue2"
HOW_TO_GET_YUE2: Final = "the server has no model of YuE2; set YUE2_MODEL and YUE2_VAE to the folders of its weights and restart it"
SPEAKS, LISTENS, SINGS = "speaks", "writes down speech", "makes songs"

Model = SongModel | SpeechModel | TranscriptionModel
OneKind = TypeVar("OneKind", SongModel, SpeechModel, TranscriptionModel)


class Catalogue:
    """Owns the models of songs, speech and transcription; of each kind the first one is the default.

    YuE2 comes first where it is present, else the built-in band.
    """

    def __init__(
        self,
        sketch: SketchModel | None = None,
        yue2: SongCodec | None = None,
        *,
        speech: Sequence[SpeechModel] = (),
        transcription: Sequence[TranscriptionModel] = (),
    ) -> None:
        self.sketch = sketch or SketchModel()
        self._yue2 = yue2
        songs: list[SongModel] = [self.sketch] if yue2 is None else [yue2, self.sketch]
        self._songs = {model.id: model for model in songs}
        self._speech = {model.id: model for model in speech}
        self._transcription = {model.id: model for model in transcription}

    @property
    def default_id(self) -> str:
        """The model of songs that name none."""
        return next(iter(self._songs))

    @property
    def default_ids(self) -> dict[str, str]:
        """The model that each operation takes where none is named; those that no model can do are left out."""
        firsts: dict[str, Mapping[str, object]] = {
            "synth": self._songs,
            "plan": self._songs,
            "sketch": {self.sketch.id: self.sketch},
            "speech": self._speech,
            "transcribe": self._transcription,
        }
        return {operation: next(iter(models)) for operation, models in firsts.items() if models}

    def model(self, name: str) -> SongModel:
        """The model of songs of that id, or the default for an empty one.

        Raises UnknownModel, and InvalidRequest for a model of another kind.
        """
        return self._chosen(self._songs, name, SINGS, HOW_TO_GET_YUE2 if name == YUE2 else "")

    def speech(self, name: str) -> SpeechModel:
        """The model of speech of that id, or the default for an empty one. Raises as `model`."""
        return self._chosen(self._speech, name, SPEAKS)

    def transcription(self, name: str) -> TranscriptionModel:
        """The model of transcription of that id, or the default for an empty one. Raises as `model`."""
        return self._chosen(self._transcription, name, LISTENS)

    def codec(self, name: str) -> SongCodec:
        """The model of that id for its audio codec, or the one there is for an empty id.

        Raises UnknownModel, and InvalidRequest for a model without a codec.
        """
        if self._yue2 is None:
            raise UnknownModel(name or YUE2, (), HOW_TO_GET_YUE2)
        if self.model(name) is not self._yue2:
            raise InvalidRequest(
                "model", f"The model {name!r} has no audio codec; name {self._yue2.id!r} or leave model out."
            )
        return self._yue2

    def describe(self) -> list[dict[str, JsonValue]]:
        """Each model's id, kind, description, languages and operations: songs first, the default of each kind first."""
        return [model.describe() for model in self._all()]

    def unload(self) -> None:
        """Have every model give its memory back; on the working thread."""
        for model in self._all():
            model.unload()

    def _all(self) -> Iterator[Model]:
        yield from self._songs.values()
        yield from self._speech.values()
        yield from self._transcription.values()

    def _chosen(self, models: Mapping[str, OneKind], name: str, deed: str, remedy: str = "") -> OneKind:
        """The model of that name among those of one kind, which is told by what they do."""
        found = models.get(name) if name else next(iter(models.values()), None)
        if found is not None:
            return found
        if not remedy and any(model.id == name for model in self._all()):
            choice = (
                f"name {' or '.join(map(repr, models))}, or leave model out" if models else "none does here"
            )
            raise InvalidRequest("model", f"The model {name!r} is not one that {deed}; {choice}.")
        raise UnknownModel(name, tuple(models), remedy or ("" if models else f"no model here {deed}"))


def open_catalogue(options: Yue2Options | None, sound: SoundOptions | None = None) -> Catalogue:
    """The built-in models and, with options, YuE2, whose folders are checked. None is loaded yet.

    Raises CheckpointError, DeviceError, MissingExtra.
    """
    chosen = sound or SoundOptions()
    phonemiser = Phonemiser()
    further = kokoro_speakers(chosen.voices_folder, phonemiser, chosen.worker_threads)
    return Catalogue(
        SketchModel(Singer(SungNetwork(), phonemiser)),
        None if options is None else _open_yue2(options),
        speech=[HibariSpeech(SpeechNetwork(), phonemiser, further)],
        transcription=[_open_transcription(chosen)],
    )


def _open_transcription(sound: SoundOptions) -> TranscriptionModel:
    return WhisperTranscription(sound.whisper_folder, device=sound.device, threads=sound.worker_threads)


def _open_yue2(options: Yue2Options) -> SongCodec:
    """Imports torch, which takes seconds and may not be there."""
    try:
        from engine.yue2.pipeline import open_yue2
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "torch") from error
    return open_yue2(options)
