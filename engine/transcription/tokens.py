"""Whisper's tokens: text into them and back, and those that steer it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from engine.transcription.alignment import Spelling, with_punctuation
from engine.transcription.languages import UNSPACED
from engine.transcription.token_table import read_table

MOST_PROMPT_TOKENS: Final = 223  # half of the 448 places, less the token that begins the prompt
_HALF_A_CHARACTER: Final = "\ufffd"


class TokenText:
    """Owns the tokens of one model, and the tokenizer, opened for the first prompt (0.1 s, no other thread runs)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._table = read_table(path)
        self._tokenizer: Tokenizer | None = None
        self.start = self.special("<|startoftranscript|>")
        self.end = self.special("<|endoftext|>")
        self.first_timestamp = self.special("<|notimestamps|>") + 1

    def special(self, name: str) -> int:
        """The id of a token such as <|en|>. Raises CheckpointError where there is none."""
        return self._table.special(name)

    def opening(self, language: str, task: str) -> list[int]:
        """What a window begins with: language and task where they are asked for, "" where there is no choice."""
        choice = [self.special(f"<|{language}|>"), self.special(f"<|{task}|>")] if language else []
        return [self.start, *choice]

    def prompt(self, wanted: Sequence[int], before: Sequence[int]) -> list[int]:
        """What a window goes on from: spellings that are wanted, always, and as much of the text before it as fits."""
        room = MOST_PROMPT_TOKENS - len(wanted[-MOST_PROMPT_TOKENS:])
        context = [*wanted[-MOST_PROMPT_TOKENS:], *(before[-room:] if room else [])]
        return [self.special("<|startofprev|>"), *context] if context else []

    def encode(self, text: str) -> list[int]:
        """Tokens of text; none of those that steer, whatever it says."""
        if not text.strip():
            return []
        if self._tokenizer is None:
            self._tokenizer = Tokenizer.from_file(str(self._path))
        ids = self._tokenizer.encode(" " + text.strip(), add_special_tokens=False).ids
        return [token for token in ids if token < self.end]

    def text(self, tokens: Sequence[int]) -> str:
        """Text of tokens, those that steer left out."""
        return self._table.text(token for token in tokens if token < self.end)

    def words(self, tokens: Sequence[int], language: str) -> list[Spelling]:
        """Words with the marks that belong to them; characters in languages that are written without blanks."""
        found: list[Spelling] = []
        for part in self._characters(tokens):
            if found and not part.text.startswith(" ") and language not in UNSPACED and _goes_on(part.text):
                found[-1] = Spelling(found[-1].text + part.text, found[-1].tokens + part.tokens)
            else:
                found.append(part)
        return with_punctuation(found)

    def _characters(self, tokens: Sequence[int]) -> list[Spelling]:
        """The least groups of tokens that are whole characters; what stays broken at the end is one group."""
        parts: list[Spelling] = []
        begun: list[int] = []
        for token in tokens:
            begun.append(token)
            text = self.text(begun)
            if _HALF_A_CHARACTER not in text:
                parts.append(Spelling(text, len(begun)))
                begun = []
        return [*parts, Spelling(self.text(begun), len(begun))] if begun else parts


def _goes_on(text: str) -> bool:
    """Whether it is part of the word before it, and no mark of its own."""
    return any(character.isalnum() for character in text) or len(text.strip()) != 1
