"""Notes read as words and lines."""

from engine.score.model import TimedNote
from engine.sketch.voice.lines import SungWord, sung_lines
from tests.engine.sketch.voice.songs import melody


def _texts(notes: list[TimedNote]) -> list[list[str]]:
    return [[word.text for word in line] for line in sung_lines(notes)]


def _sung(words: str, lengths: list[float] | None = None) -> list[list[str]]:
    count = len(words.split())
    return _texts(melody(words, [60] * count, lengths or [0.4] * count))


def test_hyphens_join_syllables_to_words() -> None:
    assert _sung("Morn- ing has bro- ken") == [["Morning", "has", "broken"]]


def test_a_rest_ends_a_line_but_not_a_word() -> None:
    assert _sung("one . two") == [["one"], ["two"]]
    assert _sung("o . ver") == [["o"], ["ver"]]
    assert _sung("o- . ver") == [["over"]]


def test_a_held_syllable_takes_its_notes_along() -> None:
    (line,) = sung_lines(melody("glo- _ _ ria", [60, 62, 64, 60], [0.4] * 4))
    assert [[note.midi for note in notes] for notes in line[0].syllables] == [[60, 62, 64], [60]]


def test_a_note_without_words_is_left_out_and_ends_a_word() -> None:
    notes = melody("a- x b", [60] * 3, [0.4] * 3)
    notes[1] = TimedNote("Vocal", 60, notes[1].start, notes[1].end, 0, "")
    assert _texts(notes) == [["a"], ["b"]]


def test_a_hold_after_a_note_without_words_is_silent_too() -> None:
    notes = melody("a x _ b", [60] * 4, [0.1] * 4)
    notes[1] = TimedNote("Vocal", 60, notes[1].start, notes[1].end, 0, "")
    words = [word for line in sung_lines(notes) for word in line]
    assert [len(word.syllables[0]) for word in words] == [1, 1]


def test_of_notes_that_sound_together_the_highest_is_sung() -> None:
    chord = [TimedNote("Vocal", key, 0.0, 0.5, 0, "oh") for key in (60, 67, 64)]
    (line,) = sung_lines(chord)
    assert [note.midi for note in line[0].syllables[0]] == [67]


def test_lines_in_other_scripts_are_left_out() -> None:
    assert _sung("one . 你 好 . two") == [["one"], ["two"]]


def test_a_mere_sign_is_left_out() -> None:
    assert _sung("one — two") == [["one"], ["two"]]


def test_endless_lines_and_words_are_cut() -> None:
    lines = _sung(" ".join(["la"] * 100), [0.2] * 100)
    assert sum(map(len, lines)) == 100
    assert max(map(len, lines)) <= 40
    assert len(_sung("x" * 500)[0][0]) <= 48


def test_a_word_lasts_from_its_first_note_to_its_last() -> None:
    notes = melody("glo- ria", [60, 62], [0.4, 0.6])
    word = SungWord("gloria", [[notes[0]], [notes[1]]])
    assert (word.start, word.end) == (notes[0].start, notes[1].end)
