"""Speaking in this process, without a server."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pydantic import JsonValue

from engine.catalogue import Catalogue
from engine.speech_request import read_speech
from server.commands.bar import Bar
from server.commands.local_models import speaking
from server.commands.speech import Said
from server.serve import draw_seed
from server.speech_writing import write_speech
from server.work import form_of


@dataclass(frozen=True, slots=True)
class LocalSpeaker:
    """Speaks with a model of a catalogue."""

    catalogue: Catalogue

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Said:
        """Say the text here. Raises EngineError."""
        request = read_speech(payload)
        model = self.catalogue.speech(request.model)
        model.check(request)
        if request.seed < 0:
            request = request.model_copy(update={"seed": draw_seed()})
        voiced = write_speech(model.speak(request, bar), model.sample_rate_hz, form_of(request), sink)
        return Said(voiced.seconds, voiced.words, model.notes(request))


def local_speaker(environ: Mapping[str, str] = os.environ) -> LocalSpeaker:
    """The speaker that the settings ask for. Raises SettingsError, CheckpointError."""
    return LocalSpeaker(speaking(environ))
