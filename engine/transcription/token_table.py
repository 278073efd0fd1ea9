"""What Whisper's tokens spell, read out of tokenizer.json without the library, which lets no other thread run meanwhile.

Format: `tokenizers` (huggingface.co/docs/tokenizers): `model.vocab` holds tokens by ids, `added_tokens` those beside it. A
token's letters are bytes, as byte-level BPE writes them (`bytes_to_unicode` of openai/gpt-2, encoder.py).
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from engine import json_slices
from engine.errors import CheckpointError

_PLAIN: Final = (
    *range(0x21, 0x7F),
    *range(0xA1, 0xAD),
    *range(0xAE, 0x100),
)  # bytes that are written as they are
_FIRST_OTHER: Final = 0x100  # the letter that stands for the first of the others
_OTHERS: Final = tuple(byte for byte in range(0x100) if byte not in _PLAIN)
_BYTES: Final = {byte: byte for byte in _PLAIN} | {_FIRST_OTHER + at: byte for at, byte in enumerate(_OTHERS)}
_LETTERS: Final = frozenset(map(chr, _BYTES))
_MOST_TOKENS: Final = 1 << 20
_MARK: Final = "<|"


@dataclass(frozen=True, slots=True)
class TokenTable:
    """What tokens spell, nothing for special ones; ids of those that steer, by names. Read only."""

    spelled: bytes  # of all tokens by their ids, one behind the other: objects of their own would take ten times as much
    ends: "array[int]"  # where each ends in it
    marks: Mapping[str, int]

    def special(self, name: str) -> int:
        """The id of a token such as <|en|>. Raises CheckpointError where there is none."""
        found = self.marks.get(name)
        if found is None:
            raise CheckpointError(f"The model's tokenizer.json has no token {name}; fetch the model again.")
        return found

    def text(self, tokens: Iterable[int]) -> str:
        """What they spell, U+FFFD for what is no whole character; nothing for those that are not known."""
        return b"".join(map(self._spelling, tokens)).decode("utf-8", "replace")

    def _spelling(self, token: int) -> bytes:
        if not 0 <= token < len(self.ends):
            return b""
        return self.spelled[self.ends[token - 1] if token else 0 : self.ends[token]]


def read_table(path: Path) -> TokenTable:
    """The table of a tokenizer.json. Raises CheckpointError where it is not Whisper's."""
    try:
        content = _members(json_slices.loads(path.read_bytes()))
        vocabulary = {
            str(token): _number(number)
            for token, number in _members(_members(content["model"])["vocab"]).items()
        }
        spellings = {number: _spelling(token) for token, number in vocabulary.items()}
        marks = {token: number for token, number in vocabulary.items() if token.startswith(_MARK)}
        if _members(content["decoder"])["type"] != "ByteLevel":
            raise ValueError("Tokens are not spelled byte by byte.")
        _add(content["added_tokens"], spellings, marks)
    except (KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is not Whisper's; copy it from the model.") from error
    return TokenTable(*_packed(spellings), marks)


def _add(added: object, spellings: dict[int, bytes], marks: dict[str, int]) -> None:
    """Put in what is listed beside the vocabulary; special tokens spell nothing."""
    for entry in added if isinstance(added, list) else []:
        token = _members(entry)
        name, number = str(token["content"]), _number(token["id"])
        marks[name] = number
        if token.get("special"):
            spellings.pop(number, None)
        else:
            spellings[number] = _spelling(name)


def _spelling(token: str) -> bytes:
    return token.translate(_BYTES).encode("latin-1") if _LETTERS.issuperset(token) else token.encode()


def _packed(spellings: dict[int, bytes]) -> "tuple[bytes, array[int]]":
    """All of them by their ids, and where each ends."""
    spelled = [spellings.get(token, b"") for token in range(max(spellings, default=-1) + 1)]
    return b"".join(spelled), array("I", accumulate(map(len, spelled)))


def _members(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("An object is expected.")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < _MOST_TOKENS:
        raise ValueError("The id of a token is expected.")
    return value
