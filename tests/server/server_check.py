"""The model-free `server-check` server: the production queue, store and HTTP edge around an artificial worker.

`python -m tests.server.server_check --directory D` serves on a free port and prints `listening URL`. `POST /check`
takes `{"seconds", "mode", "bytes"}` and makes a job of that; `POST /check/sync` does the same and answers the result.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import BinaryIO

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from engine.catalogue import Catalogue, open_catalogue
from engine.control import Control
from engine.errors import InvalidRequest
from engine.request import SketchRequest, SongRequest, replay_of
from engine.sketch.pipeline import SketchModel
from engine.song_model import Latents, Track
from server.admission import check_idempotency_key
from server.app import build_app
from server.bodies import read_json_object
from server.calls.call import Call
from server.connection import Timeouts
from server.jobs.rates import Stage
from server.log_ring import LogRing
from server.parts import Parts, assemble
from server.process import STOP_SECONDS, run_server, set_up_logging
from server.responses import json_response
from server.serve import product_routes, synchronous_calls
from server.settings import load
from server.starting import address, bind
from server.work import Making, Packed, Prepared, digest_of
from storage.entry import JSON, Part
from storage.lock import OutputLock
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble

SLICE_BYTES = 1 << 20
SILENCE = np.zeros((48_000, 2), np.float32)
MODES = ("sleep", "spin", "write", "slow-write", "raise", "memory", "hang", "native")


@dataclass(frozen=True, slots=True)
class Check:
    """What an artificial job does."""

    seconds: float
    mode: str
    size: int


def read_check(payload: object) -> Check:
    """The job asked for. Raises InvalidRequest."""
    if not isinstance(payload, Mapping) or set(payload) - {"seconds", "mode", "bytes"}:
        raise InvalidRequest("", "Send an object of seconds, mode and bytes.")
    mode = payload.get("mode", "sleep")
    if mode not in MODES:
        raise InvalidRequest("mode", f"mode must be one of {', '.join(MODES)}.")
    return Check(float(payload.get("seconds", 0)), mode, int(payload.get("bytes", 1000)))


def prepare(check: Check) -> Prepared:
    """The check as work for the queue."""

    def work(making: Making) -> Packed:
        with making.stopwatch.pipeline():
            _DOINGS[check.mode](check, making.sink, making.control)
        length = making.sink.tell()
        kind = "application/octet-stream"
        return Packed(kind, (Part("audio", 0, kind, 0, length, check.seconds, "check.bin"),))

    digest = digest_of("check", {"seconds": check.seconds, "mode": check.mode, "bytes": check.size})
    return Prepared("check", "artificial", (Stage("working", max(check.seconds, 0.01)),), digest, work)


def _sleep(check: Check, sink: BinaryIO, control: Control) -> None:
    """Wait in slices of 10 ms, as a model's steps would; then write."""
    pause = threading.Event()
    started = time.monotonic()
    while (gone := time.monotonic() - started) < check.seconds:
        control.check_cancelled()
        control.report("working", gone / check.seconds, steps=int(gone * 100))
        pause.wait(0.01)
    _fill(check, sink, control)


def _spin(check: Check, sink: BinaryIO, control: Control) -> None:
    """Hold the interpreter as a pure-Python sampler would."""
    started = time.monotonic()
    while (gone := time.monotonic() - started) < check.seconds:
        control.check_cancelled()
        control.report("working", gone / check.seconds)
        sum(range(20_000))
    _fill(check, sink, control)


def _fill(check: Check, sink: BinaryIO, control: Control) -> None:
    block = memoryview(os.urandom(min(check.size, SLICE_BYTES)))
    left = check.size
    while left > 0:
        control.check_cancelled()
        left -= sink.write(block[: min(left, SLICE_BYTES)])


def _slow_write(check: Check, sink: BinaryIO, control: Control) -> None:
    """Spread the bytes over the seconds, in a hundred slices."""
    pause = threading.Event()
    for n in range(100):
        control.check_cancelled()
        control.report("working", n / 100)
        sink.write(b"\0" * (check.size // 100))
        pause.wait(check.seconds / 100)


def _raise(check: Check, sink: BinaryIO, control: Control) -> None:
    raise RuntimeError("an artificial fault")


def _memory(check: Check, sink: BinaryIO, control: Control) -> None:
    raise MemoryError


def _hang(check: Check, sink: BinaryIO, control: Control) -> None:
    """A native call that does not return and cannot be cancelled."""
    threading.Event().wait(check.seconds)


_DOINGS = {
    "sleep": _sleep,
    "spin": _spin,
    "write": _fill,
    "slow-write": _slow_write,
    "raise": _raise,
    "memory": _memory,
    "hang": _hang,
    "native": _hang,
}


class SilentModel(SketchModel):
    """The built-in model with a band that plays a second of silence at once."""

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        """One silent second for each track."""
        for song, variation in product(range(request.lm_batch_size), range(request.synth_batch_size)):
            yield Track(
                replay_of(request, song, variation, model=self.id, abc=request.abc), SILENCE, 48_000, 1.0
            )

    def preview(self, request: SketchRequest, control: Control) -> Track:
        """One silent second."""
        return Track(replay_of(request, 0, 0, model=self.id, abc=request.abc), SILENCE, 48_000, 1.0)


class CheckRoutes:
    """The two routes of the artificial worker, through the one gate."""

    def __init__(self, parts: Parts, clock: "MovableClock") -> None:
        self._parts = parts
        self._calls = synchronous_calls(parts)
        self._clock = clock

    def routes(self) -> list[BaseRoute]:
        """The routes to mount at the root."""
        return [
            Route("/check", self.submit, methods=["POST"]),
            Route("/check/sync", self.answer, methods=["POST"]),
            Route("/check/clock", self.move_clock, methods=["POST"]),
        ]

    async def move_clock(self, request: Request) -> Response:
        """Let time pass for expiry; `{"seconds": s}`. Answers what a sweep then finds amiss on the volume."""
        payload = await read_json_object(request, self._parts.limits)
        self._clock.ahead += float(str(payload["seconds"]))
        audit: list[JSON] = []
        for store in (self._parts.store, self._parts.artifacts):
            await self._parts.limits.run(store.sweep)
            audit.extend(await self._parts.limits.run(store.audit))
        return json_response({"audit": audit, "switch_interval_seconds": sys.getswitchinterval()})

    async def submit(self, request: Request) -> Response:
        """Queue a check."""
        parts, owner = self._parts, request.state.owner
        key = check_idempotency_key(request.headers.get("idempotency-key"))
        with parts.gate.counted():
            parts.gate.check(owner, key)
            prepared = prepare(read_check(await read_json_object(request, parts.limits)))
            admitted = await parts.limits.run(lambda: parts.gate.admit(prepared, owner, key))
        return json_response({"id": admitted.job_id}, status=202 if admitted.queued else 200)

    async def answer(self, request: Request) -> Response:
        """Queue a check and answer its result."""
        return await self._calls.answer_json(request, read_check, prepare, _result)


async def _result(call: Call, check: Check) -> Response:
    return await call.result()


class MovableClock:
    """Epoch time that a test can move forward. Owned by the one server it is given to."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.ahead = ahead

    def __call__(self) -> float:
        """Seconds since the epoch, and what was added."""
        return time.time() + self.ahead


def main() -> int:
    """Serve until a signal."""
    chosen = _options()
    settings = load({**os.environ, "YUE2_RESULT_DIR": str(chosen.directory / "jobs")})
    log_ring = LogRing()
    set_up_logging(log_ring, settings.log_level, sys.stderr)
    clock = MovableClock(chosen.ahead)
    with OutputLock(settings.output_directory, f"server-check, process {os.getpid()}"):
        bound = bind("127.0.0.1", chosen.port)
        parts = assemble(settings, log_ring, clock)
        catalogue = _models(silent=chosen.silent, sound=chosen.sound)
        app = build_app(parts, [*CheckRoutes(parts, clock).routes(), *product_routes(parts, catalogue)])
        sys.stdout.write(f"listening {address(bound)}\n")
        sys.stdout.flush()
        seconds = chosen.timeout
        timeouts = Timeouts(head=seconds, body_idle=seconds, write=seconds)
        return run_server(parts, app, [bound], timeouts, stop_seconds=chosen.stop)


def _models(*, silent: bool, sound: bool) -> Catalogue:
    """The band alone, doubles of all kinds, or all the models that come along."""
    if sound:
        return open_catalogue(None)
    if silent:
        return Catalogue(SilentModel(), speech=[SpeechDouble()], transcription=[TranscriptionDouble()])
    return Catalogue(SketchModel())


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser()
    options.add_argument("--directory", type=Path, required=True)
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--timeout", type=float, default=15.0, help="socket time limits in seconds")
    options.add_argument("--stop", type=float, default=STOP_SECONDS, help="seconds to leave in")
    options.add_argument("--ahead", type=float, default=0.0, help="seconds by which the clock is fast")
    options.add_argument("--silent", action="store_true", help="songs are a second of silence, made at once")
    options.add_argument("--sound", action="store_true", help="with the models that speak and listen")
    return options.parse_args()


if __name__ == "__main__":
    sys.exit(main())
