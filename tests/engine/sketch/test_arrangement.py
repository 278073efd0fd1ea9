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


def test_without_chords_or_accompaniment_only_the_voices_play() -> None:
    assert roles(arrange(song(chords=False), POP, 5)) == [POP.band.lead.name]
    assert roles(arrange(song(), POP, 5, accompaniment=False)) == [POP.band.lead.name]


def test_the_singer_leads_and_other_voices_get_other_instruments() -> None:
    voices = ("B", "Vocal", "A", "C", "D", "E", "F", "G", "H")
    score = melody(*(note(60, 0, 1, voice) for voice in voices))
    cast = roles(arrange(score, POP, 1))
    assert len(cast) == len(voices)
    assert cast[0] == POP.band.lead.name
    assert cast[1] == POP.band.comp.name
    assert len(set(cast[:5])) == 5
    assert roles(arrange(score, POP, 1, voices=["Vocal"])) == [POP.band.lead.name]
    assert len(arrange(score, POP, 1, voices=["A", "C"])) == 2


def test_the_accompaniment_strays_by_milliseconds_and_by_seed() -> None:
    first, again, other = (arrange(song(), POP, seed)[1] for seed in (1, 1, 2))
    assert first == again
    shifts = [a.start - b.start for a, b in zip(first.strikes, other.strikes, strict=True)]
    assert 0 < max(map(abs, shifts)) < 0.02
    assert min(strike.start for strike in first.strikes) >= 0


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
