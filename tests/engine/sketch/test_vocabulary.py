"""The words of styles: complete, unambiguous, and about instruments the sound bank has."""

from collections import Counter

from engine.sketch.vocabulary import GENERIC_WORDS, INSTRUMENT_WORDS, INSTRUMENTS, METER_WORDS, METERS


def test_every_preset_of_the_bank_is_there_once() -> None:
    places = {(instrument.bank, instrument.program) for instrument in INSTRUMENTS.values()}
    assert len(places) == len(INSTRUMENTS) == 26
    assert all(
        (instrument.bank == 128) == (instrument.role == "drums") for instrument in INSTRUMENTS.values()
    )


def test_every_instrument_has_words_and_every_word_one_instrument() -> None:
    assert INSTRUMENT_WORDS.keys() == INSTRUMENTS.keys()
    words = Counter(word for words in INSTRUMENT_WORDS.values() for word in words)
    assert max(words.values()) == 1
    assert GENERIC_WORDS.keys() <= words.keys()


def test_words_are_written_as_tags_are_read() -> None:
    words = [word for words in INSTRUMENT_WORDS.values() for word in words]
    assert all(
        word == word.lower() and "-" not in word and "_" not in word for word in [*words, *METER_WORDS]
    )


def test_meter_words_name_meters_that_can_be_composed() -> None:
    assert set(METER_WORDS.values()) <= METERS
