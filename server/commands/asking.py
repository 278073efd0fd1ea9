"""The request that `yue2-studio sing` sends or performs: from its options, or from a replay."""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from engine.errors import InvalidRequest
from server.commands.reading import given, text_of

SEED_BITS = 52  # what every reader of JSON numbers keeps


def requested(
    fields: Mapping[str, JsonValue],
    lyrics: str,
    lyrics_file: Path | None,
    abc_file: Path | None,
    seed: int | None,
) -> dict[str, JsonValue]:
    """The request with both seeds in it, so that the seed that is told makes the same song again.

    Fields that are None or empty are left to the defaults. Raises InvalidRequest, OSError.
    """
    chosen = secrets.randbits(SEED_BITS) if seed is None else seed
    told = {name: value for name, value in fields.items() if value not in ("", None)}
    words: dict[str, JsonValue] = {
        "style": "",
        "lyrics": given(lyrics, lyrics_file),
        "abc": text_of(abc_file) if abc_file else "",
        "lm_seed": chosen,
        "seed": chosen,
    }
    return words | told


def replayed(file: Path, changes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The request that a replay is, with the changes that are not None. Raises InvalidRequest, OSError."""
    try:
        found = json.loads(text_of(file))
    except ValueError as error:
        raise InvalidRequest("replay", f"{file} is no replay: it is not JSON ({error}).") from error
    if not isinstance(found, dict):
        raise InvalidRequest("replay", f"{file} is no replay: it holds no JSON object.")
    for name in ("lm_batch_size", "synth_batch_size"):
        if found.get(name, 1) not in (1, None):
            raise InvalidRequest(
                name,
                f"{file} asks for several tracks, of which one can be written here; set its {name} to 1.",
            )
    return found | {name: value for name, value in changes.items() if value is not None}
