"""One window after another written down, each going on from the text before it."""

from dataclasses import replace
from typing import Final

from engine.control import Check
from engine.transcription.alignment import Spelling, Stretch, timed, token_starts, within_speech
from engine.transcription.decoding import Decoded, decode
from engine.transcription.detection import Language
from engine.transcription.features import RATE_HZ
from engine.transcription.languages import UNSPACED
from engine.transcription.segmentation import TICK_SECONDS, Piece, pieces
from engine.transcription.singing import believable, decode_sung, is_spoken
from engine.transcription.whisper import Encoded, Whisper
from engine.transcription.windows import Window, Windows
from engine.transcription_model import Segment
from engine.transcription_request import TranscriptionRequest
from engine.words import Word

_WORTH_HEARING: Final = RATE_HZ * 3 // 10
TRUSTED_TEMPERATURE: Final = 0.5  # text found above it is not gone on from


class Scribe:
    """Owner of the text before, and of whether there was any, for one recording."""

    def __init__(self, whisper: Whisper, request: TranscriptionRequest, language: Language) -> None:
        self._whisper = whisper
        self._temperature = request.temperature
        self._language = "en" if request.task == "translate" else language.code  # of what is written
        self._blank = ""
        self._opening = whisper.text.opening(language.code if language.told else "", request.task)
        self._wanted = whisper.text.encode(request.prompt)
        self._before: tuple[int, ...] = ()

    def write(self, window: Window, windows: Windows, check: Check) -> list[Segment]:
        """Segments of the window; `windows` is told where the next may begin. `check` before each step."""
        check()
        seconds = len(window.samples) / RATE_HZ
        encoded = self._whisper.heard(window.samples)
        decoded = self._decoded(window, encoded, check)
        if decoded is None:
            windows.dismiss(window)
            self._before = ()
            return []
        first = self._whisper.text.first_timestamp
        found, written = pieces(decoded.tokens, first, seconds, whole=window.whole)
        resumption = _resumption(window, written)
        windows.resume(resumption)
        trusted = decoded.attempt.temperature <= TRUSTED_TEMPERATURE
        self._before = tuple(token for piece in found for token in piece.tokens) if trusted else ()
        check()
        return self._segments(window.until(resumption), encoded, decoded, found)

    def _decoded(self, window: Window, encoded: Encoded, check: Check) -> Decoded | None:
        """None where nobody sings after all."""
        prompt = self._whisper.text.prompt(self._wanted, self._before) + self._opening
        if window.sung:
            prompts = [self._opening] if prompt == self._opening else [self._opening, prompt]
            return decode_sung(self._whisper, encoded, prompts, self._temperature, check)
        decoded = decode(self._whisper, encoded, prompt, self._temperature, check)
        return decoded if believable(decoded) or not window.doubted else replace(decoded, tokens=())

    def _segments(
        self, window: Window, encoded: Encoded, decoded: Decoded, found: list[Piece]
    ) -> list[Segment]:
        spelled = [self._whisper.text.words(piece.tokens, self._language) for piece in found]
        words = self._timed(window, encoded, found, spelled)
        segments = []
        for piece, spelling in zip(found, spelled, strict=True):
            count = sum(1 for word in spelling if word.text.strip())
            text = self._whisper.text.text(piece.tokens).strip()
            if text:
                segments.append(self._segment(window, piece, text, tuple(words[:count]), decoded))
            words = words[count:]
        return segments

    def _segment(
        self, window: Window, piece: Piece, text: str, words: tuple[Word, ...], decoded: Decoded
    ) -> Segment:
        begin, blank = window.start / RATE_HZ, self._blank
        self._blank = "" if self._language in UNSPACED else " "
        return Segment(
            start=words[0].start if words else begin + piece.start,
            end=words[-1].end if words else begin + piece.end,
            text=text,
            words=words,
            tokens=piece.tokens,
            temperature=decoded.attempt.temperature,
            average_log_probability=decoded.attempt.average_log_probability,
            compression_ratio=decoded.compression_ratio,
            no_speech_probability=decoded.attempt.no_speech_probability,
            blank=blank,
        )

    def _timed(
        self, window: Window, encoded: Encoded, found: list[Piece], spelled: list[list[Spelling]]
    ) -> list[Word]:
        """All words of the window, in seconds from the start of the recording."""
        tokens = [token for piece in found for token in piece.tokens]
        if not tokens:
            return []
        pairs = self._whisper.pairs(encoded, self._opening, tokens)
        starts = [window.start / RATE_HZ + start for start in token_starts(pairs, len(tokens), TICK_SECONDS)]
        words = timed([word for spelling in spelled for word in spelling], starts)
        spans = window.speech if is_spoken(words, window.speech) else window.spans
        speech: list[Stretch] = [(span.start / RATE_HZ, span.stop / RATE_HZ) for span in spans]
        return within_speech(words, speech, window.stop / RATE_HZ)


def _resumption(window: Window, written: float) -> int:
    """The sample to go on from where so many seconds have been written down: the end, if hardly any speech is left."""
    sample = window.start + round(written * RATE_HZ)
    left = sum(max(0, span.stop - max(span.start, sample)) for span in window.spans)
    return window.stop if window.whole and left < _WORTH_HEARING else sample
