"""Which notes are for the singer."""

from engine.score import TimedNote, Timeline
from engine.sketch.singing import remark, singable
from tests.engine.sketch.sounds import melody


def note(lyric: str, start: float, end: float, midi: int = 60, voice: str = "Vocal") -> TimedNote:
    return TimedNote(voice, midi, start, end, 0, lyric)


def lyrics(score: Timeline, *strange: str) -> list[str]:
    return [one.lyric for one in singable(score, lambda word: word not in strange).notes]


def test_notes_with_words_are_sung_and_others_played() -> None:
    score = melody(
        note("morn-", 0, 1), note("ing", 1, 2), note("_", 2, 3), note("", 3, 4), note("", 0, 4, 40, "Ins")
    )
    assert lyrics(score) == ["morn-", "ing", "_"]
    assert singable(melody(note("", 0, 1)), lambda _: True).notes == ()


def test_a_line_with_a_word_in_a_strange_script_is_played_as_a_whole() -> None:
    score = melody(
        note("hel-", 0, 1), note("lo", 1, 2), note("good", 3, 4), note("東", 4, 5), note("京", 5, 6)
    )
    found = singable(score, str.isascii)
    assert [one.lyric for one in found.notes] == ["hel-", "lo"]
    assert found.unsung == ("東", "京")
    assert found.lines_played == 1
    assert "the whole line with “東”, “京” is played" in remark(found.unsung, ["Chinese characters"], 1)
    said = remark(found.unsung, ["Chinese characters"], 2)
    assert "does not read Chinese characters: the whole lines" in said
    assert "“東”, “京” are played" in said
    assert remark((), (), 0) == ""
    assert "and 2 more" in remark("abcde", (), 2)


def test_all_scripts_that_are_not_read_are_named() -> None:
    assert "does not read Cyrillic or Greek:" in remark(["да", "ναι"], ["Cyrillic", "Greek"], 1)
    assert "does not read Thai, Cyrillic or Greek:" in remark(["да"], ["Thai", "Cyrillic", "Greek"], 1)
    assert "does not read all of the words:" in remark(["?"], [], 1)


def test_signs_do_not_keep_a_line_from_being_sung() -> None:
    score = melody(note("love", 0, 1), note("♪", 1, 2), note("you", 2, 3), note("♪", 5, 6))
    assert [one.lyric for one in singable(score, str.isascii).notes] == ["love", "♪", "you"]
    assert singable(score, str.isascii).unsung == ()


def test_words_are_judged_whole() -> None:
    score = melody(note("mor-", 0, 1), note("ning", 1, 2), note("star", 4, 5))
    assert lyrics(score, "morning") == ["star"]


def test_one_voice_sings_and_of_a_chord_its_highest_note() -> None:
    score = melody(note("la", 0, 1, 60), note("la", 0, 1, 64), note("lo", 1, 2, 62, "Alto"))
    (one,) = singable(score, lambda _: True).notes
    assert (one.midi, one.voice) == (64, "Vocal")
