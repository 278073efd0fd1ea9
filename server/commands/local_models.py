"""The models that speak and listen, in this process."""

from collections.abc import Mapping
from typing import Final

from engine.catalogue import Catalogue, open_catalogue
from engine.yue2.machine.outlook import MODEL_SETTING, VAE_SETTING
from server.serve import sound_of
from server.settings import load

OF_YUE2: Final = (MODEL_SETTING, VAE_SETTING)
OF_WHISPER: Final = "YUE2_WHISPER"
OF_VOICES: Final = "YUE2_VOICES"


def speaking(environ: Mapping[str, str]) -> Catalogue:
    """A catalogue for whoever speaks. What is set of other models need not be right. Raises SettingsError, CheckpointError."""
    return _opened(environ, *OF_YUE2, OF_WHISPER)


def listening(environ: Mapping[str, str]) -> Catalogue:
    """The same for whoever listens."""
    return _opened(environ, *OF_YUE2, OF_VOICES)


def _opened(environ: Mapping[str, str], *ignored: str) -> Catalogue:
    settings = load({name: value for name, value in environ.items() if name not in ignored})
    return open_catalogue(None, sound_of(settings))
