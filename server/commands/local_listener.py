"""Writing down speech in this process, without a server."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from engine.catalogue import Catalogue
from engine.transcription_model import transcript_as_json
from engine.transcription_request import read_transcription
from server.commands.bar import Bar
from server.commands.local_models import listening
from server.commands.recording import opened
from server.commands.transcript import Heard


@dataclass(frozen=True, slots=True)
class LocalListener:
    """Listens with a model of a catalogue."""

    catalogue: Catalogue

    def __call__(self, file: Path, payload: dict[str, JsonValue], bar: Bar) -> Heard:
        """Write the recording down here. Raises EngineError (InvalidRequest for a pipe or a device), OSError."""
        request = read_transcription(payload)
        model = self.catalogue.transcription(request.model)
        model.check(request)
        with opened(file) as audio:
            transcript = model.transcribe(audio, request, bar)
        return Heard(transcript, transcript_as_json(transcript))


def local_listener(environ: Mapping[str, str] = os.environ) -> LocalListener:
    """The listener that the settings ask for. Raises SettingsError, CheckpointError."""
    return LocalListener(listening(environ))
