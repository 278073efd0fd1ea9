"""Places where a test holds the server, and a speaker and a listener that stop at them."""

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from engine.speech_request import SpeechRequest
from tests.server.sound_doubles import SpeechDouble

PATIENCE_SECONDS = 10.0


class Pause:
    """Stops whoever comes by until the test lets it go on. As a context manager lets everybody go at the end.

    Owner of two events: somebody has come, and everybody may go on.
    """

    def __init__(self) -> None:
        self._come = threading.Event()
        self._go_on = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __call__(self) -> None:
        """Stop here."""
        self._come.set()
        assert self._go_on.wait(PATIENCE_SECONDS), "nobody let it go on"

    def wait_until_reached(self) -> None:
        """Return once somebody has stopped here."""
        assert self._come.wait(PATIENCE_SECONDS), "nobody came by"

    def release(self) -> None:
        """Let everybody go on, those who come later too."""
        self._go_on.set()


class HeldSpeech(SpeechDouble):
    """The double that speaks, held before the sentences of the given numbers, or while a request is checked."""

    def __init__(self, before: Mapping[int, Pause] | None = None, checking: Pause | None = None) -> None:
        super().__init__(self._stop_before)
        self._before = before or {}
        self._checking = checking
        self.spoken: list[str] = []

    def check(self, request: SpeechRequest) -> None:
        """As the double does, after the pause."""
        if self._checking is not None:
            self._checking()
        super().check(request)

    def _stop_before(self, number: int) -> None:
        pause = self._before.get(number)
        if pause is not None:
            pause()
