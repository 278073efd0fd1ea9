"""Tokens spell what the library that they come from says."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from engine.errors import CheckpointError
from engine.transcription.token_table import TokenTable, read_table
from engine.transcription.weights import packaged

LETTERS = {
    "a": 0,
    "Ġ": 1,
    "Ã": 2,
    "©": 3,
    "æ": 4,
    "¼": 5,
    "¢": 6,
    "ð": 7,
    "í": 8,
    "ł": 9,
    "ô": 10,
    "漢 b": 11,
    "<|endoftext|>": 12,
    "<|x|>": 13,
}
ADDED = (
    {"id": 12, "content": "<|endoftext|>", "special": True},
    {"id": 14, "content": "an added\xadword", "special": False},
)
FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def written(path: Path, **changed: object) -> Path:
    """A small tokenizer.json."""
    model = {"type": "BPE", "vocab": LETTERS, "merges": []}
    added = [{**token, **FLAGS} for token in ADDED]
    content = {
        "version": "1.0",
        "added_tokens": added,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": model,
    }
    file = path / "tokenizer.json"
    file.write_text(json.dumps({**content, **changed}), "utf-8")
    return file


@pytest.fixture(scope="module")
def file() -> Path:
    """The packaged model's."""
    return packaged().located() / "tokenizer.json"


@pytest.fixture(scope="module")
def table(file: Path) -> TokenTable:
    """What is read of it."""
    return read_table(file)


@pytest.fixture(scope="module")
def library(file: Path) -> Tokenizer:
    """The same by the library."""
    return Tokenizer.from_file(str(file))


def test_each_token_spells_what_it_spells_for_the_library(table: TokenTable, library: Tokenizer) -> None:
    tokens = range(library.get_vocab_size() + 5)
    assert [table.text([token]) for token in tokens] == [library.decode([token]) for token in tokens]


def test_marks_have_the_ids_that_they_have_for_the_library(table: TokenTable, library: Tokenizer) -> None:
    names = [name for name in library.get_vocab() if name.startswith("<|")]
    assert len(names) > 100
    assert {name: table.special(name) for name in names} == {
        name: library.token_to_id(name) for name in names
    }


@given(st.lists(st.integers(0, 300) | st.integers(0, 52_000), max_size=30))
def test_tokens_together(table: TokenTable, library: Tokenizer, tokens: list[int]) -> None:
    assert table.text(tokens) == library.decode(tokens)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With tokens that byte-level BPE would not write."""
    return written(tmp_path_factory.mktemp("odd"))


@given(st.lists(st.integers(0, 15), max_size=12))
def test_broken_letters_and_tokens_of_other_letters(odd: Path, tokens: list[int]) -> None:
    assert read_table(odd).text(tokens) == Tokenizer.from_file(str(odd)).decode(tokens)


@pytest.mark.parametrize(
    "changed",
    [
        {"model": {}},
        {"model": {"vocab": {"a": "b"}}},
        {"model": {"vocab": {"a": -1}}},
        {"model": {"vocab": {"a": 10**9}}},
        {"model": []},
        {"decoder": None},
        {"decoder": {"type": "WordPiece"}},
        {"added_tokens": [1]},
    ],
)
def test_what_is_not_whispers_is_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    with pytest.raises(CheckpointError, match=r"tokenizer.json is not Whisper's"):
        read_table(written(tmp_path, **changed))


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_bytes(b'{"model": \xff}')
    with pytest.raises(CheckpointError, match="not Whisper's"):
        read_table(file)
