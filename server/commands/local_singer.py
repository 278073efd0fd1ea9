"""Singing in this process, without a server: with the models that the settings name, or with the built-in band."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pydantic import JsonValue

from engine.audio import encode
from engine.catalogue import Catalogue, open_catalogue
from engine.errors import UnknownModel
from engine.request import read_song, resolve_seeds
from engine.song_model import SongModel
from server.commands.bar import Bar
from server.commands.endings import say
from server.commands.local_models import OF_WHISPER, OF_YUE2
from server.commands.song import Sung
from server.serve import sound_of, weights_of
from server.settings import Settings, load
from server.work import form_of

HOW_TO_GET_YUE2 = "set YUE2_MODEL and YUE2_VAE (see the README), or use --server"


@dataclass(frozen=True, slots=True)
class LocalSinger:
    """Sings with a model of a catalogue."""

    catalogue: Catalogue

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
        """Make the song here; the payload carries its seeds. Raises EngineError."""
        request = resolve_seeds(read_song(payload), lambda: 0)
        model = self._model(request.model)
        model.check(request)
        early = model.notes(request)
        for note in early:
            say(note)
        track = next(iter(model.generate(request, bar)))
        bar.report("encoding", 0.0)
        encode(track.samples, track.sample_rate_hz, form_of(request), sink)
        return Sung(track.seconds, track.replay, tuple(note for note in track.notes if note not in early))

    def _model(self, name: str) -> SongModel:
        """The model of that id. Raises UnknownModel."""
        try:
            return self.catalogue.model(name)
        except UnknownModel:
            if name != "yue2":
                raise
            raise UnknownModel(name, (), HOW_TO_GET_YUE2) from None


def local_singer(environ: Mapping[str, str] = os.environ, *, alone: bool = False) -> LocalSinger:
    """The singer that the settings ask for; with `alone` the band's, which needs none of those of YuE2.

    Raises SettingsError, CheckpointError, DeviceError, MissingExtra.
    """
    ignored = (OF_WHISPER, *OF_YUE2) if alone else (OF_WHISPER,)
    settings = load({name: value for name, value in environ.items() if name not in ignored})
    weights = weights_of(settings)
    if weights is not None:
        weights = replace(weights, digest_file=_digest_file(settings, environ))
    return LocalSinger(open_catalogue(weights, sound_of(settings)))


def _digest_file(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Where it is kept which weights have been verified: nothing is written into the folder one happens to be in."""
    if settings.data_dir is not None:
        return settings.data_directory / "digests.json"
    cache = environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(cache) if cache else Path.home() / ".cache") / "yue2-studio" / "digests.json"
