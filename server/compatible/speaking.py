"""Calls of OpenAI's `/v1/audio/speech` turned into work for the queue."""

from dataclasses import replace
from typing import Final

from engine.catalogue import YUE2, Catalogue
from server.compatible.fields import renamed
from server.compatible.names import Kind, music_model, names_of, speech_model, telling, vendor_kind
from server.compatible.speech import WORDS_OF_SONGS, WORDS_OF_SPEECH, SpeechCall, fitting, song_of, speech_of
from server.compatible.voices import voice_named, voices_of
from server.operations import Operations
from server.speech_operations import SpeechOperations
from server.work import Prepared

NOT_FOLLOWED: Final = "No voice here follows instructions; they were left out."


class Speaking:
    """Checks calls against the models present and says what work they mean."""

    def __init__(self, catalogue: Catalogue, speech: SpeechOperations, songs: Operations) -> None:
        self._catalogue = catalogue
        self._speech = speech
        self._songs = songs
        # Of YuE2, whose weights may not be here, the songs' part of the catalogue knows how to get them.
        self._singers = {YUE2, *names_of(catalogue.describe(), Kind.MUSIC)}
        self._names = names_of(catalogue.describe(), Kind.SPEECH, Kind.MUSIC)

    def prepare(self, call: SpeechCall) -> Prepared:
        """The work: speech, or one song where the model named makes songs.

        Raises InvalidRequest, MissingInput, UnknownModel in the caller's words.
        """
        is_song = call.model in self._singers or vendor_kind(call.model) is Kind.MUSIC
        with telling(self._names):
            return self._song(call) if is_song else self._said(call)

    def _song(self, call: SpeechCall) -> Prepared:
        asked = song_of(call, music_model(call.model))
        with renamed(WORDS_OF_SONGS), fitting():
            return self._songs.synth(asked, form=call.form)

    def _said(self, call: SpeechCall) -> Prepared:
        name = speech_model(call.model)
        with renamed(WORDS_OF_SPEECH):
            model = self._catalogue.speech(name)
            asked = speech_of(call, name, voice_named(call.voice, voices_of(model.describe())))
            prepared = self._speech.speech(asked, call.form)
        if not call.instructions.strip():
            return prepared
        return replace(prepared, notes=(*prepared.notes, NOT_FOLLOWED))
