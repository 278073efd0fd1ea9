"""The jobs of agents: what a tool was called with, as work that writes one file."""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from engine.errors import InvalidRequest, MissingInput
from engine.request import read_sketch, read_song
from engine.speech_request import read_speech
from engine.transcription_request import TranscriptionRequest, read_transcription
from server.agents.arguments import Arguments, Titled, Transcribing, Writing
from server.agents.file_names import stem_of
from server.agents.score_faults import score_faults
from server.operations import Operations
from server.speech_operations import SpeechOperations
from server.transcription_operations import TranscriptFile, TranscriptionOperations
from server.work import Prepared, digest_of, form_of
from storage.entry import JSON

_PLAIN_TEXT: Final = {"text": "txt"}


class AgentWork:
    """Makes of each creating tool's arguments a job with one export; holds no state."""

    def __init__(
        self, songs: Operations, speech: SpeechOperations, transcription: TranscriptionOperations
    ) -> None:
        self._songs = songs
        self._speech = speech
        self._transcription = transcription
        self._makers: Mapping[str, Callable[[Mapping[str, JSON], str], Prepared]] = {
            "create_song": self._song,
            "plan_score": self._score,
            "preview_score": self._preview,
            "speak": self._spoken,
        }

    def prepare(self, tool: str, arguments: Arguments) -> Prepared:
        """The job of a tool that makes something of words or a score.

        Raises InvalidRequest, UnknownField, MissingInput, ScoreError, UnknownModel; KeyError for another tool.
        """
        return self._makers[tool](arguments.payload, _title(arguments))

    def check_transcription(self, arguments: Arguments) -> TranscriptionRequest:
        """What is to be written down how, before there is a recording. Raises as `transcribe`."""
        asked = read_transcription(dict(arguments.payload))
        self._transcription.check(asked)
        return asked

    def transcribe(self, arguments: Arguments, recording: io.BytesIO) -> Prepared:
        """A recording's transcript in the one form asked for. Raises InvalidRequest, UnknownField, UnknownModel."""
        asked, own = self.check_transcription(arguments), arguments.own
        form = arguments.own_as(Writing).format
        ending = _PLAIN_TEXT.get(form, form)
        file = TranscriptFile(ending, f"{stem_of(_title(arguments), 'transcript')}.{ending}")
        try:
            prepared = self._transcription.transcribe(asked, recording, alone=file)
            return (
                replace(prepared, digest=digest_of_job(own, asked))
                if isinstance(own, Transcribing)
                else prepared
            )
        except InvalidRequest as error:
            if not isinstance(own, Transcribing):
                raise
            # Who names a job sends no audio, and so is told of no such field.
            raise InvalidRequest("job_id", f"This job's audio is not written down. {error}") from error

    def _song(self, payload: Mapping[str, JSON], title: str) -> Prepared:
        asked = read_song(dict(payload))
        name = f"{stem_of(title, 'song')}.{form_of(asked).extension}"
        return _with_faults(self._songs.synth(asked, alone=name), asked.abc)

    def _score(self, payload: Mapping[str, JSON], title: str) -> Prepared:
        try:
            asked = read_song(dict(payload))
        except MissingInput:  # whose sentence names the score, which is what is asked for here
            raise MissingInput("", "Send a style or lyrics; both are blank.") from None
        return self._songs.plan(asked, alone=f"{stem_of(title, 'score')}.abc")

    def _preview(self, payload: Mapping[str, JSON], title: str) -> Prepared:
        asked = read_sketch(dict(payload))
        name = f"{stem_of(title, 'preview')}.{form_of(asked).extension}"
        return _with_faults(self._songs.sketch(asked, alone=name), asked.abc)

    def _spoken(self, payload: Mapping[str, JSON], title: str) -> Prepared:
        asked = read_speech(dict(payload))
        return self._speech.speech(asked, alone=f"{stem_of(title, 'speech')}.{form_of(asked).extension}")


def _with_faults(prepared: Prepared, abc: str) -> Prepared:
    """The job with a note on what may be wrong with the score that was sent for it."""
    return replace(prepared, notes=(*prepared.notes, *score_faults(abc)))


def digest_of_job(own: Transcribing, asked: TranscriptionRequest) -> str:
    """What a transcript of a job has to be told from others by: the job in place of its audio, which may be gone by then."""
    return digest_of("transcribe", asked.model_dump() | own.model_dump(exclude={"idempotency_key"}))


def _title(arguments: Arguments) -> str:
    return arguments.own_as(Titled).title
