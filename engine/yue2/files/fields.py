"""Reads the JSON files of a checkpoint, value by value, within bounds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from pydantic import JsonValue

from engine.errors import CheckpointError
from engine.yue2.files.faults import unreadable, unusable
from engine.yue2.files.regular import open_regular

MOST_JSON_BYTES = 64 * 2**20  # an index of a million tensors is smaller


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def parse_object(raw: bytes) -> dict[str, JsonValue]:
    """A JSON object without duplicate keys and without infinite numbers; raises ValueError for anything else."""
    try:
        value = json.loads(raw, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("it holds no object")
    return value


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name occurs twice")
    return values


class Fields:
    """The values of one JSON object of a checkpoint; every look-up raises CheckpointError for a wrong value."""

    def __init__(self, folder: Path, file: str, values: Mapping[str, JsonValue], prefix: str = "") -> None:
        self._folder = folder
        self._file = file
        self._values = values
        self._prefix = prefix  # names of the objects around this one, each with a dot

    @classmethod
    def read(cls, folder: Path, file: str) -> "Fields":
        """The object in a file; raises CheckpointError where it is missing, unreadable or no JSON object."""
        try:
            with open_regular(folder / file) as stream:
                raw = stream.read(MOST_JSON_BYTES + 1)
        except FileNotFoundError as error:
            raise unusable(folder, f"{file} is missing" if folder.is_dir() else "it is no folder") from error
        except NotADirectoryError as error:
            raise unusable(folder, "it is no folder") from error
        except OSError as error:
            raise unreadable(folder, file, error) from error
        if len(raw) > MOST_JSON_BYTES:
            raise unusable(folder, f"{file} is larger than {MOST_JSON_BYTES >> 20} MiB")
        try:
            return cls(folder, file, parse_object(raw))
        except ValueError as error:
            raise unusable(folder, f"{file} is damaged ({error})") from error

    @property
    def values(self) -> Mapping[str, JsonValue]:
        """All of them, unchecked."""
        return self._values

    def wrong(self, name: str, rule: str) -> CheckpointError:
        """The error for the value of `name`, which must be what `rule` says."""
        if name not in self._values:
            return unusable(self._folder, f"{self._prefix}{name} is missing from {self._file}")
        shown = json.dumps(self._values[name])
        shown = shown if len(shown) <= 60 else shown[:60] + "…"
        return unusable(self._folder, f"{self._prefix}{name} in {self._file} must be {rule}, but is {shown}")

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number within bounds."""
        value = self._values.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(name, f"a whole number from {least} to {most}")
        return value

    def real(self, name: str, above: float, most: float) -> float:
        """A number greater than `above` and at most `most`."""
        value = self._values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not above < value <= most:
            raise self.wrong(name, f"a number above {above:g} and up to {most:g}")
        return float(value)

    def text(self, name: str) -> str:
        """A string."""
        value = self._values.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a text")
        return value

    def wholes(self, name: str, least: int, most: int) -> tuple[int, ...]:
        """A list of at least one whole number within bounds."""
        value = self._values.get(name)
        if not isinstance(value, list) or not 1 <= len(value) <= 64:
            raise self.wrong(name, "a list of whole numbers")
        numbered = Fields(
            self._folder, self._file, dict(zip(map(str, range(64)), value, strict=False)), f"{name}."
        )
        return tuple(numbered.whole(str(position), least, most) for position in range(len(value)))

    def fixed(self, name: str, value: JsonValue) -> None:
        """Refuse any value but this one, the only one that the engine can compute."""
        sent = self._values.get(name)
        if name not in self._values or type(sent) is not type(value) or sent != value:
            raise self.wrong(name, json.dumps(value))

    def inner(self, name: str) -> "Fields":
        """The fields of an object within."""
        value = self._values.get(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "an object")
        return Fields(self._folder, self._file, value, f"{self._prefix}{name}.")
