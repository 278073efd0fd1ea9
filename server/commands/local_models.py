"""The models that speak and listen, in this process."""

from collections.abc import Mapping

from engine.catalogue import Catalogue, open_catalogue
from engine.yue2.machine.outlook import MODEL_SETTING, VAE_SETTING
from server.serve import sound_of
from server.settings import load

OF_YUE2 = (MODEL_SETTING, VAE_SETTING)


def sound_models(environ: Mapping[str, str]) -> Catalogue:
    """A catalogue without YuE2, whose settings need not be right. Raises SettingsError, CheckpointError."""
    settings = load({name: value for name, value in environ.items() if name not in OF_YUE2})
    return open_catalogue(None, sound_of(settings))
