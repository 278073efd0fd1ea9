"""Text into tokens and back."""

import pytest
from tokenizers import Tokenizer

from engine.errors import CheckpointError
from engine.transcription.alignment import Spelling
from engine.transcription.tokens import MOST_PROMPT_TOKENS, TokenText
from engine.transcription.weights import packaged


def test_text_comes_back_from_its_tokens(text: TokenText) -> None:
    assert text.text(text.encode("Good morning, Zoë!")) == " Good morning, Zoë!"
    assert text.encode("  ") == []


def test_text_cannot_steer_the_model(text: TokenText) -> None:
    assert max(text.encode("<|nospeech|> <|startoftranscript|> <|endoftext|> hello")) < text.end


def test_timestamps_and_marks_of_the_model_are_no_text(text: TokenText) -> None:
    tokens = [text.first_timestamp, *text.encode("yes"), text.first_timestamp + 40, text.end]
    assert text.text(tokens) == " yes"


def test_words_have_their_marks(text: TokenText) -> None:
    tokens = text.encode('He said, "Well done," didn\'t he?')
    words = text.words(tokens, "en")
    assert [word.text for word in words] == [" He", " said,", ' "Well', ' done,"', " didn't", " he?"]
    assert sum(word.tokens for word in words) == len(tokens)


def test_letters_of_several_tokens_are_kept_whole(text: TokenText) -> None:
    tokens = text.encode("Ψυχή 漢字")
    words = text.words(tokens, "en")
    assert "".join(word.text for word in words) == " Ψυχή 漢字"
    assert sum(word.tokens for word in words) == len(tokens)
    assert len(text.words(tokens, "zh")) > len(words)


def test_a_broken_letter_at_the_end_is_a_word_or_part_of_one(text: TokenText) -> None:
    tokens = text.encode("漢")[:-1]
    assert sum(word.tokens for word in text.words(tokens, "en")) == len(tokens)
    assert text.words([], "en") == []
    assert text.words(text.encode("a"), "en") == [Spelling(" a", 1)]


def test_the_prompt_is_what_is_wanted_and_what_fits_of_the_text_before(text: TokenText) -> None:
    marker = text.special("<|startofprev|>")
    assert text.prompt([], []) == []
    assert text.prompt([1, 2], [3]) == [marker, 1, 2, 3]
    long = text.prompt([1, 2], list(range(1_000)))
    assert len(long) == 1 + MOST_PROMPT_TOKENS
    assert (long[1:3], long[-1]) == ([1, 2], 999)
    assert len(text.prompt(list(range(1_000)), [5])) == 1 + MOST_PROMPT_TOKENS


def test_a_window_opens_with_language_and_task_only_where_there_is_a_choice(text: TokenText) -> None:
    assert text.opening("", "transcribe") == [text.start]
    assert text.opening("en", "translate") == [
        text.start,
        text.special("<|en|>"),
        text.special("<|translate|>"),
    ]


def test_a_token_that_is_not_there_is_named(text: TokenText) -> None:
    with pytest.raises(CheckpointError, match=r"no token <.xx.>"):
        text.special("<|xx|>")


def test_the_tokenizer_is_opened_for_the_first_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    class Library:
        @staticmethod
        def from_file(path: str) -> object:
            opened.append(path)
            return Tokenizer.from_file(path)

    monkeypatch.setattr("engine.transcription.tokens.Tokenizer", Library)
    text = TokenText(packaged().located() / "tokenizer.json")
    assert text.encode("\n ") == []
    assert text.words([text.start, 39, 72], "en")
    assert opened == []
    assert text.text(text.encode("one")) + text.text(text.encode("two")) == " one two"
    assert len(opened) == 1
