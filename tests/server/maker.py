"""Work that makes a followed body piece by piece, when the test says so."""

import queue
from collections.abc import Callable
from typing import Final

from server.jobs.rates import Stage
from server.work import Making, Packed, Prepared, digest_of
from storage.entry import Part

AUDIO: Final = "audio/mpeg"
REPLAY: Final = b'{"text": "replay"}'
PATIENCE_SECONDS: Final = 10.0


class Maker:
    """Writes what it is told to on the worker's thread; whoever tells it may wait until it is done."""

    def __init__(self, followed: str = AUDIO, digest: str = "tell") -> None:
        self._told: queue.Queue[Callable[[Making], bool]] = queue.Queue()
        self._done: queue.Queue[None] = queue.Queue()
        self._followed = followed
        self._digest = digest_of(digest, {})

    def prepared(self) -> Prepared:
        """The work, for the queue."""
        stages = (Stage("speaking", 1.0),)
        return Prepared("tell", "told", stages, self._digest, self._work, followed=self._followed)

    def offer(self, text: bytes) -> None:
        """Have this written and offered, and wait for that."""

        def write(making: Making) -> bool:
            making.sink.write(text)
            making.offer()
            return True

        self._do(write)

    def hold(self, text: bytes) -> None:
        """Have this written and not offered, and wait for that."""

        def write(making: Making) -> bool:
            making.sink.write(text)
            return True

        self._do(write)

    def finish(self) -> None:
        """Have the body ended."""
        self._told.put(lambda making: False)

    def fail(self, error: BaseException) -> None:
        """Have the work raise."""

        def raising(making: Making) -> bool:
            raise error

        self._told.put(raising)

    def heed(self) -> None:
        """Have the work look whether it was cancelled."""

        def look(making: Making) -> bool:
            making.control.check_cancelled()
            return True

        self._told.put(look)

    def _do(self, deed: Callable[[Making], bool]) -> None:
        self._told.put(deed)
        self._done.get(timeout=PATIENCE_SECONDS)

    def _work(self, making: Making) -> Packed:
        while self._told.get(timeout=PATIENCE_SECONDS)(making):
            self._done.put(None)
        length = making.sink.tell()
        making.sink.write(REPLAY)
        audio = Part("audio", 0, AUDIO, 0, length, 1.0, f"{making.job_id}.mp3")
        return Packed(AUDIO, (audio, Part("replay", 0, "application/json", length, len(REPLAY))))
