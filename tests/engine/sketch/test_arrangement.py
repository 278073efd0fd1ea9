"""Parts: the score's notes exactly where they are, the band around them, loosened by the seed."""

from dataclasses import replace

import pytest

from engine.score import TimedNote
from engine.sketch.arrangement import Part, arrange
from engine.sketch.style import read_style
from tests.engine.sketch.sounds import melody, note, song

POP = read_style("pop, piano, violin lead, strings, bass, drums")


def roles(parts: tuple[Part, ...]) -> list[str]:
    return [part.instrument.name for part in parts]


def test_notes_of_the_score_are_not_moved() -> None:
    score = song()
    lead = arrange(score, POP, 5)[0]
    assert [(strike.start, strike.length, strike.key) for strike in lead.strikes] == [
        (one.start, one.end - one.start, one.midi) for one in score.notes
    ]
    assert lead.exact


def test_the_band_plays_around_the_melody() -> None:
    parts = arrange(song(), POP, 5)
    band = POP.band
    assert band.pad is not None
    assert band.bass is not None
    assert band.drums is not None
    assert roles(parts) == [
        band.lead.name, band.comp.name, band.pad.name, band.bass.name, band.drums.name
    ]  # fmt: skip
    assert not any(part.exact for part in parts[1:])


def test_without_chords_the_band_plays_to_guessed_ones() -> None:
    assert roles(arrange(song(chords=False), POP, 5)) == roles(arrange(song(), POP, 5))


def test_without_accompaniment_only_the_voices_play() -> None:
    assert roles(arrange(song(), POP, 5, accompaniment=False)) == [POP.band.lead.name]


def test_the_singer_leads_and_other_voices_get_other_instruments() -> None:
    voices = ("B", "Vocal", "A", "C", "D", "E", "F", "G", "H")
    score = melody(*(note(60, 0, 1, voice) for voice in voices))
    cast = roles(arrange(score, POP, 1, accompaniment=False))
    assert len(cast) == len(voices)
    assert cast[0] == POP.band.lead.name
    assert cast[1] == POP.band.comp.name
    assert len(set(cast[:5])) == 5
    assert roles(arrange(score, POP, 1, voices=["Vocal"]))[:2] == [POP.band.lead.name, POP.band.comp.name]
    assert len(arrange(score, POP, 1, voices=["A", "C"], accompaniment=False)) == 2


def test_the_accompaniment_strays_by_milliseconds_and_by_seed() -> None:
    first, again, other = (arrange(song(), POP, seed)[1] for seed in (1, 1, 2))
    assert first == again
    shifts = [a.start - b.start for a, b in zip(first.strikes, other.strikes, strict=True)]
    assert 0 < max(map(abs, shifts)) < 0.02
    assert min(strike.start for strike in first.strikes) >= 0


def test_what_is_struck_at_one_instant_strays_together() -> None:
    for part in arrange(song(), POP, 3)[1:]:
        exact: dict[int, list[float]] = {}
        for strike in part.strikes:
            exact.setdefault(round(strike.start / 0.0625), []).append(strike.start)
        strums = 3 * 0.012 + 1e-6
        assert all(max(starts) - min(starts) <= strums for starts in exact.values())
    drums = arrange(song(), POP, 3)[-1]
    assert len({round(strike.start * 16) for strike in drums.strikes}) == len(
        {strike.start for strike in drums.strikes}
    )


def test_machines_keep_time() -> None:
    parts = {part.instrument.name: part for part in arrange(song(), read_style("edm"), 3)}
    for name in ("tr-808", "synth bass"):
        assert {strike.start % 0.0625 for strike in parts[name].strikes} == {0.0}
    assert {strike.start % 0.0625 for strike in parts["electric piano"].strikes} != {0.0}


@pytest.mark.parametrize(
    ("style", "raised"),
    [("flute, folk, male vocal", 12), ("cello lead, male vocal", 0), ("flute, folk", 12)],
)
def test_a_low_voice_is_led_where_the_instrument_can_play_it(style: str, raised: int) -> None:
    (lead,) = arrange(melody(note(50, 0, 1), note(62, 1, 2)), read_style(style), 1, accompaniment=False)
    assert [strike.key for strike in lead.strikes] == [50 + raised, 62 + raised]


def test_the_work_is_checked_every_few_bars() -> None:
    checks: list[int] = []
    arrange(song(64), POP, 1, check=lambda: checks.append(0))
    assert len(checks) > 4 * 64


def test_a_chorus_is_played_louder_than_a_verse() -> None:
    strikes = arrange(song(), POP, 1)[1].strikes
    verse = [strike.weight for strike in strikes if strike.bar < 2]
    chorus = [strike.weight for strike in strikes if strike.bar >= 2]
    assert sum(chorus) / len(chorus) > 1.1 * sum(verse) / len(verse)


def test_the_beat_is_accented() -> None:
    score = replace(song(1), notes=(*song(1).notes, TimedNote("Vocal", 72, 0.9, 1.0, 0)))
    velocities = [strike.velocity for strike in arrange(score, POP, 1)[0].strikes]
    assert velocities[0] > velocities[1] > velocities[-1]


@pytest.mark.parametrize("seed", [0, 2**63 - 1])
def test_any_seed_of_a_request_will_do(seed: int) -> None:
    assert arrange(song(1), POP, seed)


def test_what_is_sung_no_instrument_doubles() -> None:
    low = replace(song(), notes=(*song().notes, note(60, 0, 1, "Ins"), note(62, 1, 2, "Ins")))
    sung = [one for one in low.notes if one.voice == "Vocal"]
    (lead,) = arrange(low, POP, 1, accompaniment=False, sung=sung)
    assert lead.instrument == POP.band.lead  # which has nothing to do but the other voice
    assert [strike.key for strike in lead.strikes] == [60, 62]
    voice, other = arrange(low, POP, 1, accompaniment=False, sung=sung[4:])
    assert (len(voice.strikes), voice.instrument) == (4, POP.band.lead)
    assert other.instrument == POP.band.comp
