"""Words become phonemes as hibari reads them, and stay the words that were written."""

import re
from collections.abc import Sequence

import pytest
from hibari.g2p import G2P, Context
from hibari.g2p.lexicon import Lexicon
from hibari.g2p.token import Tok

from engine.speech.alignment import shared_out
from engine.speech.phonemes import Phonemic, Phonemiser
from engine.speech.sentences import sentences
from tests.engine.speech.passages import LISTENED

PLAIN = (
    "Hello there.",
    "On the 3rd of March 2024, 1,250 people paid $9.99 each to hear it read at 7:30 pm.",
    "“Well,” she said, “I don't know (really).”",
    "Dr. Smith lives at 5 Main St. near the lake, with 3 dogs & a cat.",
    "The wind can wind through the gap; I read what you read.",
    "An apple, the orange, the pear: used to be used to it!",
    "Is it 50% off? No — it's £3.50, or half of 7.",
    "In 1969 they went, and by 2001 they had come back from the U.S. to stay.",
)


@pytest.fixture(scope="module")
def reference(phonemiser: Phonemiser) -> G2P:
    """hibari's own reading, by the dictionaries that are open."""
    return phonemiser._opened()


def side_by_side(entries: tuple[Phonemic, ...]) -> str:
    return "".join(entry.phonemes + entry.after for entry in entries)


def sounds(phonemiser: Phonemiser, line: str) -> str:
    """The phonemes of a line without stress and marks."""
    return re.sub("[ˈˌ]", "", "".join(entry.phonemes + entry.after for entry in phonemiser.read(line)))


@pytest.mark.parametrize("line", [*PLAIN, *(sentence.text for sentence in sentences(LISTENED))])
def test_a_line_is_read_as_hibari_reads_it(phonemiser: Phonemiser, reference: G2P, line: str) -> None:
    assert side_by_side(phonemiser.read(line)) == re.sub(" +", " ", reference(line))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Hello there.", ["Hello", "there"]),
        ("“Well,” she said (twice)…", ["Well", "she", "said", "twice"]),
        ("It costs $9.99 or 50%.", ["It", "costs", "$9.99", "or", "50%"]),
        ("In the U.S. it is -5 °C.", ["In", "the", "U.S.", "it", "is", "-5", "°C"]),
    ],
)
def test_words_stay_as_they_were_written(phonemiser: Phonemiser, line: str, words: list[str]) -> None:
    entries = phonemiser.read(line)
    assert [entry.text for entry in entries if entry.text] == words
    assert all(entry.phonemes for entry in entries if entry.text)


def test_a_number_is_one_word_of_several_spoken(phonemiser: Phonemiser) -> None:
    first, second = phonemiser.read("1969, yes")
    assert (first.text, first.after) == ("1969", ", ")
    assert first.phonemes.count(" ") == 2
    assert second == Phonemic("yes", "jˈɛs", "")


def test_punctuation_that_opens_a_line_has_an_entry_without_text(phonemiser: Phonemiser) -> None:
    opening, word = phonemiser.read("(yes)")
    assert opening == Phonemic("", "", "(")
    assert word == Phonemic("yes", "jˈɛs", ")")


def test_a_blank_line_has_no_words(phonemiser: Phonemiser) -> None:
    assert phonemiser.read(" \t ") == ()


def test_a_link_does_not_set_the_phonemes(phonemiser: Phonemiser) -> None:
    assert "zzz" not in side_by_side(phonemiser.read("[cat](/zzz/)"))


def test_british_english() -> None:
    assert Phonemiser(british=True).read("car") == (Phonemic("car", "kˈɑː", ""),)


def test_dictionaries_are_opened_once_until_they_are_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[bool] = []

    class Reader:
        def __init__(self, british: bool) -> None:
            opened.append(british)

        def tokenize(self, line: str) -> list[str]:
            return line.split()

        def phonemize_tokens(self, tokens: list[str]) -> list[Tok]:
            return [Tok(token, whitespace=" ", phonemes="x") for token in tokens]

    monkeypatch.setattr("engine.speech.phonemes.open_reader", Reader)
    reader = Phonemiser(british=True)
    assert reader.read("car") == reader.read("car") == (Phonemic("car", "x", ""),)
    reader.unload()
    reader.read("car")
    assert opened == [True, True]


@pytest.mark.parametrize(
    "unit",
    ["a-.", "a@", "1/2/", "a@a.", "‘’a", "and/or/", "1,", "$1,1", "1.1,", "½", "\u0301", "9", "aB1", "$$1"],
)
def test_a_sentence_without_spaces_takes_few_tries(
    monkeypatch: pytest.MonkeyPatch, phonemiser: Phonemiser, unit: str
) -> None:
    tried: list[str] = []
    plainly = Lexicon.__call__

    def counted(self: Lexicon, token: Tok, context: Context) -> tuple[str | None, int | None]:
        tried.append(token.text)
        read: tuple[str | None, int | None] = plainly(self, token, context)
        return read

    monkeypatch.setattr(Lexicon, "__call__", counted)
    phonemiser.read((unit * 300)[:300])
    assert len(tried) < 300 * 10
    assert max(map(len, tried), default=0) <= 36


def test_a_number_without_a_name_is_said(phonemiser: Phonemiser) -> None:
    (word,) = phonemiser.read("x" + "1.1" * 20)
    assert len(word.phonemes.split()) > 20


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("1,2,3,4", "one, two, three, four"),
        ("Pick 1,2,30.", "Pick one, two, thirty."),
        ("It was 2024-13-45.", "It was twenty twenty four, thirteen, forty five."),
        ("We won 3-2.", "We won three to two."),
        ("It was $5-10.", "It was five to ten dollars."),
        ("From 1,000–2,500 people.", "From one thousand to two thousand five hundred people."),
    ],
)
def test_numbers_side_by_side_are_several(phonemiser: Phonemiser, written: str, spoken: str) -> None:
    assert sounds(phonemiser, written) == sounds(phonemiser, spoken)


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("My iPhone 15 has USB-C.", "My eye phone fifteen has U.S.B. C."),
        ("A 4x4 truck, open 24/7.", "A four by four truck, open twenty four seven."),
        ("It cost $3.5M in the '90s.", "It cost three point five million dollars in the nineties."),
        ("I ran 10k at 3-4 pm.", "I ran ten thousand at three to four P.M."),
        ("See p. 12 on Tue.", "See page twelve on Tuesday."),
        ("On St. Paul St. Dr. Dr. Lee is No. 5.", "On Saint Paul Street Doctor Doctor Lee is Number five."),
        ("He is 6'2\" and it is -5 °C.", "He is six foot two and it is minus five degrees Celsius."),
        ('Add ½ cup to a 10" pan.', "Add one half cup to a ten inch pan."),
        ("I know C++, C# and .NET.", "I know C. plus plus, C. sharp and dot net."),
        ("Ask @john, we are #1.", "Ask at john, we are number one."),
        ("It pays $20/hr.", "It pays twenty dollars per hour."),
    ],
)
def test_everyday_writing_is_said_in_full(phonemiser: Phonemiser, written: str, spoken: str) -> None:
    heard, wanted = (re.sub("[ ,.]", "", sounds(phonemiser, line)) for line in (written, spoken))
    assert heard == wanted


def test_a_list_of_any_length_is_read(phonemiser: Phonemiser) -> None:
    (word,) = phonemiser.read(",".join("1" * 60))
    assert word.phonemes.count("wˈʌn") == 60


def test_a_line_of_many_words_is_read_in_stretches(
    monkeypatch: pytest.MonkeyPatch, phonemiser: Phonemiser
) -> None:
    lengths: list[int] = []

    def counted(written: Sequence[str], spoken: Sequence[str]) -> list[range]:
        lengths.append(len(written))
        return shared_out(written, spoken)

    monkeypatch.setattr("engine.speech.phonemes.shared_out", counted)
    words = phonemiser.read("we go " * 400)
    assert [word.text for word in words] == ["we", "go"] * 400
    assert all(word.phonemes for word in words)
    assert max(lengths) <= 300
    assert sum(lengths) == 800
