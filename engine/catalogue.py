"""Which models are present, and what a client is told about them."""

from pydantic import JsonValue

from engine.errors import UnknownModel
from engine.sketch.pipeline import SketchModel


class Catalogue:
    """Owns the models; one of them is the default."""

    def __init__(self, sketch: SketchModel | None = None) -> None:
        self.sketch = sketch or SketchModel()
        self._models = {self.sketch.id: self.sketch}

    @property
    def default_id(self) -> str:
        """The model of requests that name none."""
        return self.sketch.id

    def model(self, name: str) -> SketchModel:
        """The model of that id, or the default for an empty one. Raises UnknownModel."""
        found = self._models.get(name or self.default_id)
        if found is None:
            raise UnknownModel(name, tuple(self._models))
        return found

    def describe(self) -> list[dict[str, JsonValue]]:
        """Each model's id, kind, description, languages and operations, the default first."""
        return [model.describe() for model in self._models.values()]
