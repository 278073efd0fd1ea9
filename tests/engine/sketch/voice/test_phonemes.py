"""Words as phonemes, and which vowels carry which notes."""

import pytest

from engine.sketch.voice.lines import sung_lines
from engine.sketch.voice.network import SungNetwork
from engine.sketch.voice.phonemes import VOWELS, Text, phonemes_of
from engine.speech.network import MOST_PHONEMES
from engine.speech.phonemes import Phonemiser
from tests.engine.sketch.voice.songs import melody


class Reader:
    """Reads words with one note a syllable, each a key higher than the one before."""

    def __init__(self, network: SungNetwork, phonemiser: Phonemiser) -> None:
        self.network, self.phonemiser = network, phonemiser

    def text(self, words: str) -> Text:
        count = len(words.split())
        (line,) = sung_lines(melody(words, [60 + place for place in range(count)], [0.1] * count))
        return phonemes_of(line, self.phonemiser, self.network.known)

    def keys(self, words: str) -> list[list[int]]:
        return [[note.midi - 60 for note in nucleus.notes] for nucleus in self.text(words).nuclei]


@pytest.fixture(scope="module")
def reader(network: SungNetwork, phonemiser: Phonemiser) -> Reader:
    return Reader(network, phonemiser)


def test_every_syllable_has_a_vowel_with_a_mark_before_it(reader: Reader) -> None:
    text = reader.text("Morn- ing has bro- ken")
    assert text.phonemes.endswith(".")
    assert len(text.nuclei) == 5
    for nucleus in text.nuclei:
        assert text.phonemes[nucleus.mark] in "ˈˌ"
        assert text.phonemes[nucleus.vowel] in VOWELS
        assert nucleus.vowel == nucleus.mark + 1


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("fi- re", [[0], [1]]),
        ("fire", [[0]]),
        ("glo- _ _ ria", [[0, 1, 2], [3]]),
        ("b- ee- s", [[0, 1, 2]]),
        ("beautiful day", [[0], [1]]),
        ("9- 9", [[0], [1]]),
    ],
)
def test_notes_are_shared_out_where_spelling_and_sound_disagree(
    reader: Reader, words: str, keys: list[list[int]]
) -> None:
    assert reader.keys(words) == keys


def test_of_several_vowels_on_one_note_the_stressed_one_is_held(reader: Reader) -> None:
    text = reader.text("banana")
    assert text.phonemes[text.nuclei[0].vowel] == "æ"


@pytest.mark.parametrize("word", ["hmm", "shh", "xqzv", "Mr.", "AT&T", "don't", "WE", "(oh)", "of~the"])
def test_any_word_can_carry_a_note(reader: Reader, word: str) -> None:
    assert reader.keys(word) == [[0]]


def test_a_text_never_outgrows_the_network(reader: Reader) -> None:
    text = reader.text(" ".join(["99999999999999"] * 12))
    assert 0 < len(text.phonemes) <= MOST_PHONEMES
    assert text.nuclei
