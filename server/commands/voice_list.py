"""The voices among the models that a server or this process tells of."""

from collections.abc import Iterator

from pydantic import JsonValue


def voices_in(models: JsonValue) -> list[tuple[str, str]]:
    """Name and description of every voice of the models, in their order, each once."""
    found: dict[str, str] = {}
    for voice in _voices(models):
        match voice:
            case str():
                found.setdefault(voice, "")
            case {"id": str(name), **rest}:
                found.setdefault(name, ", ".join(word for word in rest.values() if isinstance(word, str)))
    return list(found.items())


def _voices(models: JsonValue) -> Iterator[JsonValue]:
    for model in models if isinstance(models, list) else []:
        voices = model.get("voices") if isinstance(model, dict) else None
        yield from voices if isinstance(voices, list) else []
