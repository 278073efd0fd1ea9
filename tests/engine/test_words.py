"""Words and when they are heard."""

from engine.words import Word, WordAnswer, word_answers, words_as_json

WORDS = (Word("One.", 0.12345, 0.98765), Word("two", 1.0004, 1.9996))


def test_words_are_told_to_the_millisecond() -> None:
    assert words_as_json(WORDS) == [
        {"word": "One.", "start": 0.123, "end": 0.988},
        {"word": "two", "start": 1.0, "end": 2.0},
    ]
    assert word_answers(iter(WORDS))[0] == WordAnswer(word="One.", start=0.123, end=0.988)
    assert words_as_json(()) == []
