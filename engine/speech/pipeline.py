"""The model that speaks: a text, sentence by sentence, in one of the voices that are here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from pydantic import JsonValue

from engine.control import Check, Control
from engine.errors import InvalidRequest
from engine.song_model import Expected
from engine.speech.joining import evened, faded, heard, pause
from engine.speech.network import RATE_HZ, SpeechNetwork
from engine.speech.pace import left_to_pace, paced, said_at
from engine.speech.phonemes import Phonemic, Phonemiser
from engine.speech.readable import check_readable, nothing_to_say
from engine.speech.sentences import Ending, Sentence, pieces, sentences
from engine.speech.tongues import misread
from engine.speech.voice import HibariVoice, Speaker, Utterance, VoiceCard
from engine.speech_model import Spoken
from engine.speech_request import SpeechRequest
from engine.words import Word

SPEAKING: Final = "speaking"
PAUSES: Final = {
    Ending.PART: 0.03,
    Ending.CLAUSE: 0.14,
    Ending.SENTENCE: 0.32,
    Ending.PARAGRAPH: 0.65,
}  # seconds
_WHOLE: Final = (Ending.SENTENCE, Ending.PARAGRAPH)
LAST_PAUSE: Final = 0.1
HEART: Final = VoiceCard("heart", "Heart", "en-US", "female", "American", "hibari")
_ENDS: Final = ".!?…:"
_DESCRIPTION: Final = (
    "Reads English text aloud, sentence by sentence, a hundred times as fast as speech on one core, and tells when each "
    "word is heard. Needs no accelerator and no download."
)


@dataclass(frozen=True, slots=True)
class _Piece:
    words: tuple[Phonemic, ...]
    ending: Ending
    characters: int  # of the text that are said once this is


class HibariSpeech:
    """Fulfils SpeechModel. Owns its speakers, the packaged voice first; `further` ones are offered beside it."""

    id = "hibari"
    default_voice = HEART.id
    sample_rate_hz = RATE_HZ

    def __init__(
        self, network: SpeechNetwork, phonemiser: Phonemiser, further: Sequence[Speaker] = ()
    ) -> None:
        self._speakers = (Speaker(HEART, HibariVoice(network), phonemiser), *further)

    def describe(self) -> dict[str, JsonValue]:
        """What `/props` tells: voices, languages, defaults."""
        return {
            "id": self.id,
            "kind": "speech",
            "description": _DESCRIPTION,
            "languages": ["en"],
            "operations": ["speech"],
            "unsupported_fields": [],
            "ignored_fields": [],
            "sample_rate_hz": self.sample_rate_hz,
            "voices": [_told(speaker.card) for speaker in self._speakers],
            "defaults": {"voice": HEART.id, "speed": 1.0},
        }

    def check(self, request: SpeechRequest) -> None:
        """Raise InvalidRequest, naming the field, for a voice that is not here and text that no voice can read."""
        self._speaker(request.voice)
        check_readable(request.text)

    def notes(self, request: SpeechRequest) -> tuple[str, ...]:
        """Whether the text looks to be in a language that no voice here reads."""
        return misread(request.text)

    def stages(self, request: SpeechRequest) -> list[Expected]:
        """One phase, as many characters as the text has."""
        return [Expected(SPEAKING, len(request.text), "score")]

    def speak(self, request: SpeechRequest, control: Control) -> Iterator[Spoken]:
        """The sentences, each as soon as it is made. Raises InvalidRequest, CheckpointError, NumericalError."""
        self.check(request)
        speaker = self._speaker(request.voice)
        draw = np.random.default_rng(request.seed)
        total = max(len(request.text), 1)
        elapsed, said = 0.0, 0
        for piece, last in _with_last(_pieces(request, speaker, control.check_cancelled)):
            control.check_cancelled()
            pace = said_at(request.speed)
            utterance = speaker.voice.utter(piece.words, pace, draw, control.check_cancelled)
            spoken = _placed(piece, utterance, elapsed, request.speed, last)
            elapsed += len(spoken.samples) / RATE_HZ
            said += piece.ending in _WHOLE
            control.report(SPEAKING, min(piece.characters / total, 1.0), sentences=said)
            yield spoken
        if not elapsed:
            raise nothing_to_say()

    def unload(self) -> None:
        """Close networks and dictionaries."""
        for speaker in self._speakers:
            speaker.voice.unload()
            speaker.reader.unload()

    def _speaker(self, voice: str) -> Speaker:
        chosen = next((speaker for speaker in self._speakers if speaker.card.id == (voice or HEART.id)), None)
        if chosen is None:
            present = ", ".join(speaker.card.id for speaker in self._speakers)
            raise InvalidRequest("voice", f"There is no voice {voice!r} here; choose one of: {present}.")
        return chosen


def _told(card: VoiceCard) -> JsonValue:
    return {
        "id": card.id,
        "name": card.name,
        "language": card.language,
        "gender": card.gender,
        "accent": card.accent,
        "model": card.model,
    }


def _pieces(request: SpeechRequest, speaker: Speaker, check: Check) -> Iterator[_Piece]:
    """Calls `check` before each sentence, since many in a row may have nothing to say."""
    characters, most = 0, speaker.voice.most_phonemes(said_at(request.speed))
    for sentence in sentences(request.text):
        check()
        characters += len(sentence.text) + 1
        words = _closed(speaker.reader.read(sentence.text), sentence)
        parts = [part for part in pieces(words, most) if any(word.phonemes for word in part)]
        for place, part in enumerate(parts, start=1):
            whole = place == len(parts)
            ending = sentence.ending if whole else _inner(part)
            yield _Piece(part, ending, characters - len(sentence.text) * (len(parts) - place) // len(parts))


def _closed(words: tuple[Phonemic, ...], sentence: Sentence) -> tuple[Phonemic, ...]:
    """The words of a sentence with a full stop where none was written, so that the voice falls."""
    if not words or sentence.ending not in _WHOLE:
        return words
    said = max((place for place, word in enumerate(words) if word.phonemes), default=-1)
    if said < 0 or any(mark in words[said].after for mark in _ENDS):
        return words
    return (
        *words[:said],
        replace(words[said], after=words[said].after.rstrip(" ,;—") + "."),
        *words[said + 1 :],
    )


def _inner(part: tuple[Phonemic, ...]) -> Ending:
    return Ending.CLAUSE if part[-1].after.strip(' “”"') else Ending.PART


def _with_last(parts: Iterator[_Piece]) -> Iterator[tuple[_Piece, bool]]:
    waiting = next(parts, None)
    while waiting is not None:
        following = next(parts, None)
        yield waiting, following is None
        waiting = following


def _placed(piece: _Piece, utterance: Utterance, elapsed: float, speed: float, last: bool) -> Spoken:
    """A piece as it is heard after `elapsed` seconds of speech, the pause after it included."""
    begin, end = heard(utterance.sound)
    voiced = faded(evened(utterance.sound[begin:end]))
    rest = pause(LAST_PAUSE if last else PAUSES[piece.ending] / said_at(speed))
    whole = paced(np.concatenate([voiced, rest]), left_to_pace(speed))

    def place(second: float) -> float:
        sample = min(max(second * RATE_HZ - begin, 0.0), float(len(voiced)))
        return elapsed + whole.place(sample) / RATE_HZ

    words = tuple(
        Word(word.text, place(start), place(stop))
        for word, (start, stop) in zip(piece.words, utterance.spans, strict=True)
        if word.text and word.phonemes
    )
    return Spoken(whole.sound[:, None], words, is_whole=last and not elapsed)
