"""A server whose models are quick and stop where a test holds them, and agents of it."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from engine.catalogue import Catalogue
from tests.agents.agent import Agent, agent
from tests.agents.wire import MODERN
from tests.clients.held import HeldSpeech, Pause
from tests.clients.studio import Studio, serving
from tests.server.server_check import SilentModel
from tests.server.sound_doubles import TranscriptionDouble

SAID: Final = "One two three four."
SONG: Final[Mapping[str, Any]] = {
    "style": "folk",
    "lyrics": "[Verse]\nThe river runs below the hill",
    "duration": 10,
}


@contextmanager
def quick(
    folder: Path,
    speech: HeldSpeech | None = None,
    clock: Callable[[], float] = time.time,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Studio]:
    """A server with silent songs and a speaker; settings without their prefix."""
    environ = {f"YUE2_{name.upper()}": value for name, value in (settings or {}).items()}
    catalogue = Catalogue(
        SilentModel(), speech=[speech or HeldSpeech()], transcription=[TranscriptionDouble()]
    )
    with serving(folder, catalogue, environ, clock=clock) as running:
        yield running


@contextmanager
def held(folder: Path, mode: str = MODERN, **settings: str) -> Iterator[tuple[Studio, Agent, Pause]]:
    """That server with a speaker who stops before whatever is to be said, an agent of it, and the place of the stop."""
    pause = Pause()
    with (
        quick(folder, HeldSpeech({0: pause}), settings=settings) as studio,
        agent(studio.url, mode) as made,
        pause,
    ):
        yield studio, made, pause


def empty(studio: Studio) -> None:
    """See every job of the studio ended."""
    for job_id in (*studio.gate.accepted, *studio.agent_gate.accepted):
        assert studio.finish(job_id)["status"] in ("done", "cancelled")
