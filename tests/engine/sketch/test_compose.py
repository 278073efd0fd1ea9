"""Composed songs: full bars, words on notes, harmony met, form kept, an ending."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.score import Bar, Note, Score, Timeline, parse, timeline, validate, write
from engine.sketch.compose import compose, left_out, outline
from engine.sketch.genres import GENRES
from engine.sketch.lyrics import read_lyrics
from engine.sketch.vocabulary import METERS

LYRICS = """[Verse 1]
The morning light is on the sea
Ships are coming home
All the gulls are singing free
Over fields of foam

[Chorus]
Carry me, carry me, over the water
Carry me home to the shore

[Verse 2]
I have been a wanderer
Sleeping under stars

[Bridge]
And if the wind should turn

[Chorus]
Carry me, carry me, over the water
Carry me home to the shore
"""
STYLES = st.builds(
    "{}, {}, {}/{}, {} bpm".format,
    st.sampled_from([genre.words[0] for genre in GENRES]),
    st.sampled_from(["C", "F#", "Ebm", "Bb", "G#m", "sad", "male vocal"]),
    st.shared(st.sampled_from(sorted(METERS)), key="meter").map(lambda meter: meter[0]),
    st.shared(st.sampled_from(sorted(METERS)), key="meter").map(lambda meter: meter[1]),
    st.integers(40, 220),
)


def notes_of(score: Score, voice: str) -> Iterator[Note]:
    return (note for part in score.voices if part.id == voice for bar in part.bars for note in bar.notes)


def section_bars(score: Score, name: str) -> list[tuple[tuple[Bar, ...], ...]]:
    """For each section of the name, the bars of each voice."""
    starts = [section.bar for section in score.sections] + [score.bar_count]
    spans = [
        span for span, section in zip(pairwise(starts), score.sections, strict=True) if section.name == name
    ]
    return [tuple(voice.bars[first:after] for voice in score.voices) for first, after in spans]


def share_of_chord_tones(played: Timeline, voice: str) -> float:
    """How many notes that begin a bar are tones of the chord that sounds."""
    starts = {round(start, 6) for start, _ in played.bars}
    heard = [
        (note.midi - chord.root) % 12 in {interval % 12 for interval in chord.intervals}
        for note in played.notes
        for chord in played.chords
        if note.voice == voice
        and round(note.start, 6) in starts
        and chord.start <= note.start + 1e-6 < chord.end
    ]
    return sum(heard) / len(heard)


@settings(max_examples=25, deadline=None)
@given(
    STYLES,
    st.sampled_from([LYRICS, "", "[Verse]\n[Chorus]", "la la la"]),
    st.integers(0, 10**9),
    st.floats(1, 200),
)
def test_every_song_is_a_score_of_the_dialect_that_fits_its_time(
    style: str, lyrics: str, seed: int, seconds: float
) -> None:
    score = compose(style, lyrics, seed, seconds)
    validate(score)
    assert parse(write(score)) == score
    assert score.bar_count == 1 or timeline(score).duration <= seconds + 1e-6


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=60), st.text(max_size=120), st.integers())
def test_any_text_becomes_a_song(style: str, lyrics: str, seed: int) -> None:
    score = compose(style, lyrics, seed, 60)
    validate(score)
    assert parse(write(score)) == score


def test_the_same_seed_gives_the_same_song_and_another_another() -> None:
    songs = [compose("folk", LYRICS, seed, 360) for seed in (1, 1, 2, 3)]
    assert songs[0] == songs[1]
    assert songs[0] != songs[2] != songs[3]


def test_asked_sections_come_in_order() -> None:
    score = compose("folk", LYRICS, 1, 360)
    assert [section.name for section in score.sections] == [
        "intro",
        "verse 1",
        "chorus",
        "verse 2",
        "bridge",
        "chorus",
        "outro",
    ]


@pytest.mark.parametrize("seed", range(4))
def test_one_note_for_every_syllable_in_order(seed: int) -> None:
    asked = [
        part.text if part.ends_word else f"{part.text}-"
        for section in read_lyrics(LYRICS)
        for line in section.lines
        for part in line.syllables
    ]
    sung = [
        note.lyric for note in notes_of(compose("folk, 6/8", LYRICS, seed, 360), "Vocal") if not note.is_rest
    ]
    assert [lyric for lyric in sung if lyric != "_"] == asked
    assert "" not in sung


@pytest.mark.parametrize(
    "style", ["folk", "sad waltz", "jazz", "blues, in E", "rock, 180 bpm", "male vocal, 6/8"]
)
def test_strong_beats_meet_the_harmony_and_the_voice_stays_in_range(style: str) -> None:
    for seed in range(2):
        played = timeline(compose(style, LYRICS, seed, 360))
        assert share_of_chord_tones(played, "Vocal") >= 0.8
        assert share_of_chord_tones(played, "Ins") >= 0.8
        pitches = [
            note.midi + (12 if "male" in style else 0) for note in played.notes if note.voice == "Vocal"
        ]
        low, high = (61, 78) if "male" in style else (52, 70)  # up to a semitone beyond D3-F4 and F3-A4
        assert low <= min(pitches) <= max(pitches) <= high


def test_the_voice_moves_by_step_mostly_and_never_far() -> None:
    for seed in range(5):
        sung = [note for note in timeline(compose("pop", LYRICS, seed, 360)).notes if note.voice == "Vocal"]
        intervals = [
            abs(after.midi - before.midi)
            for before, after in pairwise(sung)
            if after.start - before.end < 0.3  # none that leads into a new line after a breath
        ]
        assert sum(interval <= 2 for interval in intervals) / len(intervals) > 0.5
        assert max(intervals) <= 12


def test_a_chorus_comes_back_as_it_was() -> None:
    first, second = section_bars(compose("pop", LYRICS, 5, 360), "chorus")
    assert first == second


def test_verses_of_the_same_words_are_the_same() -> None:
    score = compose("pop", "[Verse 1]\nover the hill\n[Verse 2]\nunder the sea", 5, 360)
    (first,), (second,) = section_bars(score, "verse 1"), section_bars(score, "verse 2")
    pitches = [[note.pitches for bar in voices[0] for note in bar.notes] for voices in (first, second)]
    assert pitches[0] == pitches[1]


@pytest.mark.parametrize("lyrics", [LYRICS, "", "[Verse]\nthe end is near\n[Outro]\ngoodbye goodbye"])
def test_a_song_ends_on_its_tonic_held(lyrics: str) -> None:
    score = compose("folk, in D", lyrics, 4, 360)
    played = timeline(score)
    last = max(played.notes, key=lambda note: note.end)
    assert last.midi % 12 == 2
    assert last.end == pytest.approx(played.duration)
    assert last.end - last.start >= 1.0
    assert score.voices[0].bars[-1].chords[0].text == "D"


def test_the_instrument_plays_where_nobody_sings() -> None:
    score = compose("folk", "", 1, 360)
    assert all(note.is_rest for note in notes_of(score, "Vocal"))
    assert not all(note.is_rest for note in notes_of(score, "Ins"))
    assert all(bar.chords for bar in score.voices[0].bars)


def test_an_instrumental_style_plays_the_sections_of_the_lyrics() -> None:
    score = compose("folk, instrumental", LYRICS, 1, 360)
    assert all(note.is_rest for note in notes_of(score, "Vocal"))
    assert [section.name for section in score.sections][1:3] == ["verse 1", "chorus"]


def test_chords_can_be_left_out() -> None:
    score = compose("folk", LYRICS, 1, 360, chords=False)
    assert not any(bar.chords for voice in score.voices for bar in voice.bars)
    assert list(notes_of(score, "Vocal")) == list(notes_of(compose("folk", LYRICS, 1, 360), "Vocal"))


def test_the_style_sets_tempo_meter_and_key() -> None:
    score = compose("waltz, 84 BPM, key of E minor", LYRICS, 1, 360)
    assert (score.tempo_bpm, score.meter, score.key, score.unit) == (84, (3, 4), "Em", Fraction(1, 16))


def test_the_work_is_checked_word_by_word_and_bar_by_bar() -> None:
    checks: list[int] = []
    score = compose("folk", LYRICS, 1, 360, check=lambda: checks.append(0))
    assert len(checks) > len(LYRICS.split()) + 2 * score.bar_count


def test_a_short_song_sings_as_many_lines_as_fit() -> None:
    score = compose("folk", "[Intro]\n" + LYRICS, 1, 12)
    sung = [note.lyric for note in notes_of(score, "Vocal") if note.lyric]
    assert [section.name for section in score.sections] == ["verse 1"]
    assert sung[:2] == ["The", "morn-"]


def test_a_very_long_text_ends_with_the_longest_song() -> None:
    assert timeline(compose("folk", "on and on we go\n" * 450, 1, 1e9)).duration <= 1000


def test_stressed_syllables_begin_on_beats_more_often_than_others() -> None:
    stressed, others = list[bool](), list[bool]()
    weights = [
        part.stress for section in read_lyrics(LYRICS) for line in section.lines for part in line.syllables
    ]
    for seed in range(4):
        played = timeline(compose("folk", LYRICS, seed, 360))
        beats = {round(beat, 4) for beat in played.beats}
        sung = [note for note in played.notes if note.voice == "Vocal"]
        for note, weight in zip(sung, weights, strict=True):
            if weight != 0.5:
                (stressed if weight else others).append(round(note.start, 4) in beats)
    assert sum(stressed) / len(stressed) > 0.85
    assert sum(others) / len(others) < 0.45


def test_gentle_songs_slow_down_at_their_end_and_others_do_not() -> None:
    folk, metal = (compose(style, LYRICS, 1, 360) for style in ("folk, 100 bpm", "metal, 100 bpm"))
    lengths = [round(end - start, 2) for start, end in timeline(folk).bars[-4:]]
    assert lengths[0] == lengths[1] == 2.4 < lengths[2] < lengths[3]
    assert len({round(end - start, 3) for start, end in timeline(metal).bars}) == 1


@pytest.mark.parametrize(
    ("style", "names"),
    [
        ("blues", ["intro", "verse", "verse", "solo", "verse", "outro"]),
        ("bossa nova", ["intro", "head", "head", "bridge", "head", "solo", "bridge", "head", "outro"]),
        ("electronic", ["intro", "build", "drop", "breakdown", "verse", "build", "drop", "outro"]),
        ("hip hop", ["intro", "verse", "hook", "verse", "hook", "breakdown", "hook", "outro"]),
        ("orchestral", ["intro", "theme", "second theme", "development", "theme", "finale", "outro"]),
        ("waltz", ["intro", "verse", "verse", "chorus", "chorus", "verse", "outro"]),
    ],
)
def test_a_genre_has_its_own_form(style: str, names: list[str]) -> None:
    assert [section.name for section in compose(style, "", 1, 400).sections] == names


def test_a_blues_has_twelve_bars_on_three_chords() -> None:
    text = "[Verse]\nI woke up this morning\nI woke up this morning\nand the rain was coming down\n" * 2
    score = compose("blues, in A", text, 1, 300)
    starts = [section.bar for section in score.sections]
    assert [after - first for first, after in pairwise(starts)][1:] == [12, 12]
    for first in starts[1:3]:
        symbols = [bar.chords[0].text for bar in score.voices[0].bars[first : first + 12]]
        assert symbols[:1] + symbols[2:] == ["A7", "A7", "A7", "D7", "D7", "A7", "A7", "E7", "D7", "A7", "A7"]
        assert symbols[1] in ("A7", "D7")


@pytest.mark.parametrize(
    ("one", "other"),
    [("pop", "rock"), ("blues", "bossa nova"), ("electronic", "reggae"), ("folk", "country")],
)
def test_one_seed_sings_another_tune_in_another_genre(one: str, other: str) -> None:
    def tune(style: str, seed: int) -> list[tuple[int, int]]:
        bars = [bar for part in compose(style, LYRICS, seed, 360).voices[:1] for bar in part.bars]
        return [
            (place, note.pitches[0].midi)
            for place, note in enumerate(note for bar in bars for note in bar.notes)
            if note.pitches
        ]

    for seed in range(3):
        here, there = (set(tune(f"{style}, in C", seed)) for style in (one, other))
        assert len(here & there) < 0.5 * len(here)


def test_genres_of_the_offbeat_stress_it() -> None:
    weights = [
        part.stress for section in read_lyrics(LYRICS) for line in section.lines for part in line.syllables
    ]

    def share(style: str) -> float:
        off = list[bool]()
        for seed in range(2):
            played = timeline(compose(f"{style}, 100 bpm", LYRICS, seed, 360))
            beats = {round(beat, 3) for beat in played.beats}
            sung = [note for note in played.notes if note.voice == "Vocal"]
            off += [
                round(note.start, 3) not in beats
                for note, weight in zip(sung, weights, strict=True)
                if weight == 1
            ]
        return sum(off) / len(off)

    print(
        {style: share(style) for style in ("bossa nova", "reggae", "funk", "hip hop", "soul", "jazz", "folk")}
    )
    assert min(share("bossa nova"), share("reggae"), share("funk")) > share("folk") + 0.1


def test_jazz_and_bossa_have_rich_chords_and_folk_has_triads() -> None:
    def rich(style: str) -> float:
        chords = timeline(compose(style, LYRICS, 2, 300)).chords
        return sum(len(chord.intervals) > 3 for chord in chords) / len(chords)

    assert min(rich("jazz, major"), rich("bossa nova, major")) > 0.8
    assert rich("folk, major") == 0


def test_sung_passages_are_filled_up_to_whole_periods() -> None:
    text = "[Verse]\nover the hill\nunder the sea\nhome again\n[Chorus]\nla la la\nla la\n"
    score = compose("pop", text, 1, 300)
    starts = [*(section.bar for section in score.sections), score.bar_count]
    assert all((after - first) % 4 == 0 for first, after in pairwise(starts[1:-1]))


@pytest.mark.parametrize("style", ["ballad", "waltz, 84 bpm", "lullaby, 60 bpm", "pop, 150 bpm", "hymn, 6/8"])
def test_syllables_have_a_length_that_is_understood_and_words_no_rests(style: str) -> None:
    for seed in range(3):
        played = timeline(compose(style, LYRICS, seed, 360))
        sung = [note for note in played.notes if note.voice == "Vocal"]
        for one, after in pairwise(sung):
            inside = one.lyric.endswith("-")
            assert one.end - one.start >= 0.13
            assert not inside or after.start == pytest.approx(one.end)
            assert after.start - one.end > 0.05 or one.end - one.start <= 1.5


def test_slow_lines_fill_their_bars_and_an_upbeat_is_short() -> None:
    text = "[Verse]\nA paper boat along the drain\nA penny in my shoe\nThe city hums beneath the rain\n"
    score = compose("lullaby, 72 bpm, 3/4", text, 4, 300)
    starts = [section.bar for section in score.sections]
    assert starts[2] - starts[1] == 6  # two bars a line
    ups = [note for note in timeline(score).notes if note.lyric in ("A", "The")]
    assert len(ups) == 3
    assert max(note.end - note.start for note in ups) < 0.65


@pytest.mark.parametrize("style", ["folk, 96 BPM", "slow ballad, piano", "rap, boom bap", "punk", "lullaby"])
def test_the_duration_that_is_named_holds_all_lines(style: str) -> None:
    missing, lines, seconds = left_out(style, LYRICS, 8)
    assert 0 < missing < lines == 11
    assert left_out(style, LYRICS, seconds)[0] == 0
    words = [part for section in read_lyrics(LYRICS) for line in section.lines for part in line.syllables]
    sung = [note for note in notes_of(compose(style, LYRICS, 1, seconds), "Vocal") if note.lyric]
    assert len([note for note in sung if note.lyric != "_"]) == len(words)


def test_lines_that_fit_without_an_intro_are_all_sung() -> None:
    text = "[Verse]\nRain on the window, light in the hall\nI hear your footsteps\n[Chorus]\nCarry me over\nCarry me home again\n"
    sung = [note.lyric for note in notes_of(compose("folk, 96 BPM", text, 1, 17.8), "Vocal") if note.lyric]
    assert sung[-2:] == ["a-", "gain"]


@pytest.mark.parametrize("style", ["pop", "slow ballad, piano", "bossa nova", "rap", "waltz"])
def test_the_intro_plays_the_hook_as_it_is_sung(style: str) -> None:
    score = compose(style, LYRICS, 3, 360)
    intro, chorus = section_bars(score, "intro")[0], section_bars(score, "chorus")[0]
    played = [pitch.midi for bar in intro[1] for note in bar.notes if not note.tie for pitch in note.pitches]
    sung = [
        pitch.midi + 12 for bar in chorus[0] for note in bar.notes if not note.tie for pitch in note.pitches
    ]
    count = min(len(played), 4)
    assert count
    assert played[:count] == sung[:count]
    assert [bar.chords for bar in intro[0]] == [bar.chords for bar in chorus[0]][: len(intro[0])]


def test_the_outline_tells_what_will_be_composed() -> None:
    told = outline("folk", LYRICS, 360)
    played = timeline(parse(write(compose("folk", LYRICS, 3, 360))))
    assert [part.name for part in told] == [name for name, _, _ in played.sections]
    assert [part.seconds for part in told] == pytest.approx(
        [end - start for _, start, end in played.sections], abs=0.01
    )
    assert [part.lines for part in told] == [0, 4, 2, 2, 1, 2, 0]
