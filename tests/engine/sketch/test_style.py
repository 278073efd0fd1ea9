"""Style tags become tempo, meter, key, genre, voice and band."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.style import can_be_left_out, genres_named, names_tempo, read_style


def seats(style: str) -> list[str]:
    band = read_style(style).band
    return [seat.name if seat else "" for seat in (band.lead, band.comp, band.pad, band.bass, band.drums)]


@pytest.mark.parametrize(
    ("style", "tempo"),
    [
        ("folk, 84 BPM", 84),
        ("84bpm", 84),
        ("BPM: 92.5", 92.5),
        ("tempo 140", 140),
        ("999 bpm", 220),
        ("3 bpm", 40),
        ("rock", 124),
        ("slow rock", 96.72),
        ("rock, fast", 161.2),
        ("andante", 92),
        ("adagio, 100 bpm", 100),
    ],
)
def test_a_tempo_is_a_number_a_word_or_the_genres(style: str, tempo: float) -> None:
    assert read_style(style).tempo_bpm == tempo


@pytest.mark.parametrize(
    ("style", "meter"),
    [
        ("folk", (4, 4)),
        ("folk, 6/8", (6, 8)),
        ("time signature 3 / 4", (3, 4)),
        ("13/17", (4, 4)),
        ("waltz", (3, 4)),
        ("jazz waltz", (3, 4)),
        ("rock, waltz time", (3, 4)),
        ("lullaby", (3, 4)),
        ("lullaby in 4/4", (4, 4)),
    ],
)
def test_a_meter_is_a_fraction_a_word_or_the_genres(style: str, meter: tuple[int, int]) -> None:
    assert read_style(style).meter == meter


@pytest.mark.parametrize(
    ("style", "key", "mode"),
    [
        ("key of A minor", "Am", "minor"),
        ("A minor", "Am", "minor"),
        ("Am", "Am", "minor"),
        ("Bb", "Bb", "major"),
        ("in D", "D", "major"),
        ("in the key of Eb", "Eb", "major"),
        ("F sharp minor", "F#m", "minor"),
        ("c♯ minor", "C#m", "minor"),
        ("D dorian", "Dm", "minor"),
        ("pop, b major", "B", "major"),
        ("pop", "", "major"),
        ("metal", "", "minor"),
        ("sad pop", "", "minor"),
        ("happy metal", "", "major"),
        ("a, am i, bass", "", "major"),
    ],
)
def test_a_key_is_named_or_left_to_the_composer(style: str, key: str, mode: str) -> None:
    read = read_style(style)
    assert (read.key, read.mode) == (key, mode)
    assert read.progressions is (read.genre.minor if mode == "minor" else read.genre.major)


@pytest.mark.parametrize(
    ("style", "genre"),
    [
        ("", "pop"),
        ("indie folk", "folk"),
        ("folk rock", "rock"),
        ("jazz waltz", "jazz"),
        ("Hip-Hop", "hip hop"),
        ("bossa_nova", "bossa nova"),
        ("piano; reggae; metal", "reggae"),
        ("lo-fi beats", "hip hop"),
        ("rockabye", "pop"),
        ("acoustic guitar, soft pop", "pop"),
        ("church organ, rock", "rock"),
        ("slow acoustic guitar ballad", "ballad"),
        ("choral", "hymn"),
    ],
)
def test_the_first_tag_with_a_genre_decides_and_its_last_noun(style: str, genre: str) -> None:
    assert read_style(style).genre.name == genre


def test_named_instruments_take_their_seats_and_the_genre_fills_the_rest() -> None:
    assert seats("pop, electric piano, trumpet, strings, upright bass, brushes") == [
        "trumpet",
        "electric piano",
        "strings",
        "acoustic bass",
        "brush kit",
    ]
    assert seats("pop")[2:] == seats("pop, violin")[2:]


def test_a_second_chord_instrument_leads_and_a_second_lead_goes_behind() -> None:
    assert seats("guitar and piano, folk")[:2] == ["piano", "steel guitar"]
    assert seats("flute, cello")[0::2][:2] == ["flute", "cello"]


def test_a_family_name_keeps_the_genres_own_instrument() -> None:
    assert seats("metal, guitar, drums, bass") == seats("metal")
    assert seats("pop, guitar")[1] == "steel guitar"


@pytest.mark.parametrize(
    ("style", "band"),
    [
        ("piano", ["piano", "piano", "", "", ""]),
        ("solo acoustic guitar, 90 bpm", ["steel guitar", "steel guitar", "", "", ""]),
        ("violin, sad", ["violin", "piano", "", "", ""]),
        ("strings", ["strings", "piano", "strings", "", ""]),
        ("upright bass and guitar", ["steel guitar", "steel guitar", "", "acoustic bass", ""]),
    ],
)
def test_instruments_without_a_genre_play_alone(style: str, band: list[str]) -> None:
    assert seats(style) == band


def test_drums_alone_do_not_make_a_band() -> None:
    assert seats("808") == [*seats("pop")[:4], "tr-808"]


def test_instruments_can_be_sent_away() -> None:
    assert seats("rock, no drums, without bass") == [*seats("rock")[:3], "", ""]


@pytest.mark.parametrize(
    ("style", "register"),
    [
        ("female vocal", "middle"),
        ("male baritone", "low"),
        ("soprano", "high"),
        ("", "middle"),
        ("male vocals, pop", "low"),
        ("jazz, tenor sax", "middle"),
    ],
)
def test_the_singers_register(style: str, register: str) -> None:
    assert read_style(style).register == register


def test_an_instrumental_is_asked_for_in_words() -> None:
    assert read_style("folk, instrumental").instrumental
    assert read_style("no vocals").instrumental
    assert not read_style("folk, female vocal, instrumental break").instrumental


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_style_and_the_same_text_the_same_style(text: str) -> None:
    style = read_style(text)
    assert style == read_style(text)
    assert 40 <= style.tempo_bpm <= 220
    assert style.groove.pattern(style.meter).comp


def test_the_genres_of_a_style_are_named_in_order() -> None:
    assert genres_named("folk rock, warm, sad jazz, Rock, piano") == ("rock", "jazz")
    assert genres_named("acoustic guitar") == ()


@pytest.mark.parametrize(
    ("sound", "can"),
    [("drums", True), ("Bass", True), ("strings", True), ("guitar", False), ("autotune", False), ("", False)],
)
def test_some_of_the_band_can_be_left_out(sound: str, can: bool) -> None:
    assert can_be_left_out(sound) is can


@pytest.mark.parametrize(
    ("style", "does"), [("folk, 84 BPM", True), ("allegro", True), ("slow pop", False), ("", False)]
)
def test_some_tags_set_a_tempo(style: str, does: bool) -> None:
    assert names_tempo(style) is does
