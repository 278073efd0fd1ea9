"""Words as the network's phonemes, with the vowels that carry the notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.score.model import TimedNote
from engine.sketch.voice.lines import Line
from engine.speech.network import MOST_PHONEMES
from engine.speech.phonemes import PUNCTUATION, Phonemic, Phonemiser

VOWELS = frozenset("AIOQWYaæɑɐɔəɛɜɪiʊuʌᵻᵊɒoeɚ")  # of the network's alphabet; capitals are diphthongs
_STRESSES = "ˈˌ"
_WEAK = frozenset("əᵊᵻɐ")
_HUMS = frozenset("mnŋlɹ")  # carry a note where a word has no vowel
_END = "."


@dataclass(frozen=True, slots=True)
class Nucleus:
    """A vowel that is held: where its stress mark and its letter stand in the text, and the notes it is sung to."""

    mark: int
    vowel: int
    notes: tuple[TimedNote, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """What a line sounds like: phonemes with spaces between words and a full stop behind, and the vowels held."""

    phonemes: str
    nuclei: tuple[Nucleus, ...]


def phonemes_of(line: Line, phonemiser: Phonemiser, known: Callable[[str], str]) -> Text:
    """The line's text; every held vowel has a mark of stress before it, since the network draws a vowel out there.

    Empty where nothing of it is said. Raises CheckpointError.
    """
    said = [_sound(word, known) for word in _said(line, phonemiser)]
    room = (MOST_PHONEMES - 2) // max(len(said), 1) - 2
    if sum(len(sound) for sound in said) + 2 * sum(len(word.syllables) for word in line) > MOST_PHONEMES - 50:
        said = [sound[: max(room // 2, 1)] for sound in said]
    text, nuclei = "", list[Nucleus]()
    for word, sound in zip(line, said, strict=True):
        if not sound:
            continue
        text += " " if text else ""
        sound, places = _carriers(sound, len(word.syllables))
        for place, notes in zip(places, _shared(word.syllables, len(places)), strict=True):
            nuclei.append(Nucleus(len(text) + place - 1, len(text) + place, notes))
        text += sound
    return Text(text + _END if text else "", tuple(nuclei))


def _said(line: Line, phonemiser: Phonemiser) -> list[str]:
    """What is said for each word; read as a whole line, where that gives as many words."""
    counts = [max(len(word.text.split()), 1) for word in line]
    read = [entry for entry in phonemiser.read(" ".join(word.text for word in line)) if entry.text]
    if len(read) != sum(counts):
        return [_joined(phonemiser.read(word.text)) for word in line]
    said, place = [], 0
    for count in counts:
        said.append(_joined(read[place : place + count]))
        place += count
    return said


def _joined(entries: Sequence[Phonemic]) -> str:
    return " ".join(entry.phonemes for entry in entries if entry.phonemes)


def _sound(phonemes: str, known: Callable[[str], str]) -> str:
    """The phonemes the network knows, without punctuation, stress marks only before vowels."""
    plain = " ".join("".join(letter for letter in known(phonemes) if letter not in PUNCTUATION).split())
    return "".join(
        letter
        for place, letter in enumerate(plain)
        if letter not in _STRESSES or plain[place + 1 : place + 2] in VOWELS
    )


def _carriers(sound: str, syllables: int) -> tuple[str, list[int]]:
    """A word's phonemes with a mark before each vowel that carries a syllable, and where those vowels are.

    As many as there are syllables, or all vowels where there are fewer; where there are more, the strongest of each
    group of neighbours.
    """
    vowels = [place for place, letter in enumerate(sound) if letter in VOWELS]
    if not vowels:
        hum = max((place for place, letter in enumerate(sound) if letter in _HUMS), default=-1)
        sound, vowels = (sound, [hum]) if hum >= 0 else (sound + "ə", [len(sound)])
    count = min(syllables, len(vowels))
    edges = [group * len(vowels) // count for group in range(count + 1)]
    chosen = [
        max(vowels[left:right], key=lambda place: _weight(sound, place)) for left, right in pairwise(edges)
    ]
    return _marked(sound, chosen)


def _weight(sound: str, place: int) -> int:
    before = sound[place - 1 : place]
    return 3 if before == "ˈ" else 2 if before == "ˌ" else 0 if sound[place] in _WEAK else 1


def _marked(sound: str, chosen: Sequence[int]) -> tuple[str, list[int]]:
    marked, places = "", list[int]()
    for place, letter in enumerate(sound):
        if place in chosen:
            marked += "" if marked[-1:] in tuple(_STRESSES) else "ˌ"
            places.append(len(marked))
        marked += letter
    return marked, places


def _shared(syllables: Sequence[Sequence[TimedNote]], count: int) -> list[tuple[TimedNote, ...]]:
    """The notes of each of `count` vowels: one syllable each, and the last takes what is left."""
    groups = [tuple(notes) for notes in syllables[: count - 1]]
    return [*groups, tuple(note for notes in syllables[count - 1 :] for note in notes)]
