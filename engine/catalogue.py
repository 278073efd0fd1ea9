"""Which models are present, and what a client is told about them."""

from typing import Final

from pydantic import JsonValue

from engine.errors import InvalidRequest, MissingExtra, UnknownModel
from engine.sketch.pipeline import SketchModel
from engine.song_model import SongCodec, SongModel
from engine.yue2.options import Yue2Options

YUE2: Final = "yue2"
HOW_TO_GET_YUE2: Final = "the server has no model of YuE2; set YUE2_MODEL and YUE2_VAE to the folders of its weights and restart it"


class Catalogue:
    """Owns the models; YuE2 is the default where it is present, else the built-in band."""

    def __init__(self, sketch: SketchModel | None = None, yue2: SongCodec | None = None) -> None:
        self.sketch = sketch or SketchModel()
        self._yue2 = yue2
        models: list[SongModel] = [self.sketch] if yue2 is None else [yue2, self.sketch]
        self._models = {model.id: model for model in models}

    @property
    def default_id(self) -> str:
        """The model of requests that name none."""
        return next(iter(self._models))

    def model(self, name: str) -> SongModel:
        """The model of that id, or the default for an empty one. Raises UnknownModel."""
        found = self._models.get(name or self.default_id)
        if found is None:
            raise UnknownModel(name, tuple(self._models), HOW_TO_GET_YUE2 if name == YUE2 else "")
        return found

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
        """Each model's id, kind, description, languages and operations, the default first."""
        return [model.describe() for model in self._models.values()]

    def unload(self) -> None:
        """Have every model give its memory back; on the working thread."""
        for model in self._models.values():
            model.unload()


def open_catalogue(options: Yue2Options | None) -> Catalogue:
    """The built-in band and, with options, YuE2, whose folders are checked but not yet loaded.

    Raises CheckpointError, DeviceError, MissingExtra.
    """
    return Catalogue(yue2=None if options is None else _open_yue2(options))


def _open_yue2(options: Yue2Options) -> SongCodec:
    """Imports torch, which takes seconds and may not be there."""
    try:
        from engine.yue2.pipeline import open_yue2
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "torch") from error
    return open_yue2(options)
