"""A score moved by semitones, spelled in a sensible key."""

import re
from dataclasses import replace

from engine.errors import InvalidRequest
from engine.score.chords import read_chord
from engine.score.keys import key_named
from engine.score.model import SEMITONES, Bar, Note, Pitch, Score, Voice

_LETTERS = "CDEFGAB"
_MAJOR_TONICS = ("C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
_MINOR_TONICS = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "G#", "A", "Bb", "B")
_FLAT_NAMES = ("C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B")
_SHARP_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
_LETTER_STEPS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6)  # of the usual interval of so many semitones
_NAME = re.compile(r"([A-G])([#b♯♭]?)")
_ALTERS = {"": 0, "#": 1, "♯": 1, "b": -1, "♭": -1}


def transpose(score: Score, semitones: int) -> Score:
    """The score with every note, chord symbol and key moved up (or, below 0, down).

    Raises InvalidRequest where a note would leave the range of MIDI.
    """
    key = _moved_key(score.key, semitones)
    steps = _letter_steps(score.key, key, semitones)
    flats = min(key_named(key).signature.values(), default=0) < 0
    voices = []
    for voice in score.voices:
        moved = shift_voice(voice, semitones, steps)
        bars = (_with_names(bar, semitones, flats) for bar in moved.bars)
        voices.append(replace(voice, bars=tuple(bars)))
    return replace(score, key=key, voices=tuple(voices))


def shift_voice(voice: Voice, semitones: int, letter_steps: int | None = None) -> Voice:
    """The voice with its notes moved; keys and chord symbols stay. Spelled by `letter_steps` where given."""
    if not semitones:
        return voice
    octaves, rest = divmod(semitones, 12)
    steps = 7 * octaves + _LETTER_STEPS[rest] if letter_steps is None else letter_steps
    return replace(
        voice,
        bars=tuple(
            replace(bar, notes=tuple(_shift_note(note, semitones, steps) for note in bar.notes))
            for bar in voice.bars
        ),
    )


def _shift_note(note: Note, semitones: int, steps: int) -> Note:
    pitches = tuple(_shift_pitch(pitch, semitones, steps) for pitch in note.pitches)
    return replace(
        note, pitches=pitches, grace=tuple(_shift_pitch(pitch, semitones, steps) for pitch in note.grace)
    )


def _shift_pitch(pitch: Pitch, semitones: int, steps: int) -> Pitch:
    midi = pitch.midi + semitones
    if not 0 <= midi <= 127:
        raise InvalidRequest(
            "transpose", "Move the score by fewer semitones; a note would leave the range of MIDI."
        )
    octave, letter = divmod(7 * pitch.octave + _LETTERS.index(pitch.step) + steps, 7)
    natural = Pitch(_LETTERS[letter], octave)
    alter = midi - natural.midi
    if abs(alter) <= 2:
        return replace(natural, alter=alter)
    name = _SHARP_NAMES[midi % 12]
    return Pitch(name[0], midi // 12 - 1, len(name) - 1)


def _moved_key(text: str, semitones: int) -> str:
    match = _NAME.match(text)
    if match is None or text.startswith("HP") or " " in text:  # nothing to move, or accidentals of its own
        return "none" if " " in text or text.startswith("H") else text
    tonic = (SEMITONES[match[1]] + _ALTERS[match[2]] + semitones) % 12
    mode = text[match.end() :]
    names = _MAJOR_TONICS if mode in ("", "mix", "lyd") else _MINOR_TONICS
    return names[tonic] + mode


def _letter_steps(before: str, after: str, semitones: int) -> int:
    """By how many letters the notes move so that the key's own notes stay free of accidentals."""
    octaves, rest = divmod(semitones, 12)
    usual = 7 * octaves + _LETTER_STEPS[rest]
    if not (_NAME.match(before) and _NAME.match(after)):
        return usual
    apart = (_LETTERS.index(after[0]) - _LETTERS.index(before[0]) - usual) % 7
    return usual + (apart if apart <= 3 else apart - 7)


def _with_names(bar: Bar, semitones: int, flats: bool) -> Bar:
    chords = tuple(replace(chord, text=_moved_chord(chord.text, semitones, flats)) for chord in bar.chords)
    return replace(bar, chords=chords, key=_moved_key(bar.key, semitones) if bar.key else None)


def _moved_chord(text: str, semitones: int, flats: bool) -> str:
    chord = read_chord(text)
    match = _NAME.match(text)
    if chord is None or match is None:
        return text
    names = _FLAT_NAMES if flats else _SHARP_NAMES
    quality, slash, bass = text[match.end() :], "", ""
    if chord.bass != chord.root or re.search(r"/[A-Ga-g][#b♯♭]?$", quality):
        quality, slash, _ = quality.rpartition("/")
        bass = names[(chord.bass + semitones) % 12]
    return names[(chord.root + semitones) % 12] + quality + slash + bass
