"""Work for the queue: what a checked request becomes, and what its making leaves behind."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import BinaryIO, Final, Protocol

from engine.audio import FORMATS, AudioForm, Samples, encode
from engine.control import Control
from engine.song_model import Expected
from server.jobs.rates import Stage
from storage.entry import JSON, Part
from storage.growth import nobody


@dataclass(frozen=True, slots=True)
class Packed:
    """A body that has been written: its content type, the spans of its parts, and sentences for whoever asked.

    `metrics` are numbers to tell beside the seconds that the work took.
    """

    content_type: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    metrics: Mapping[str, JSON] = field(default_factory=dict)


class Stopwatch:
    """Seconds spent inside the model, apart from encoding and packaging. Owned by the one job it times."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._started = monotonic()
        self.pipeline_seconds = 0.0

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        """Count the block as model work."""
        start = self._monotonic()
        try:
            yield
        finally:
            self.pipeline_seconds += self._monotonic() - start

    def metrics(self) -> dict[str, JSON]:
        """The job's metrics so far, in seconds."""
        total = self._monotonic() - self._started
        return {
            "pipeline_seconds": round(self.pipeline_seconds, 3),
            "encoding_packaging_seconds": round(max(0.0, total - self.pipeline_seconds), 3),
            "worker_seconds": round(total, 3),
        }


FOLLOWED: Final = "followed"
"""Where a record tells the content type of a body that can be followed."""


@dataclass(frozen=True, slots=True)
class Making:
    """One making of a job's body: where it is written to, who stops it, what it is timed with and who follows it."""

    job_id: str
    sink: BinaryIO
    control: Control
    stopwatch: Stopwatch
    offer: Callable[[], None] = nobody  # lets followers read all that lies in the sink by now


Work = Callable[[Making], Packed]
"""Writes one job's whole body; runs on the worker thread, raises what the engine, the store or the control raise."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked request, ready for the queue."""

    operation: str
    model: str
    stages: tuple[Stage, ...]
    digest: str  # sha256 of what a repeated Idempotency-Key has to match
    work: Work
    rates_id: str = ""  # the name under which the model's speed is learnt, where that is not its own
    notes: tuple[str, ...] = ()  # sentences for whoever asked, known before the work begins
    input_bytes: int = 0  # of the upload that the work keeps in memory
    # The content type of a body that can be followed while it is made, and so of its first part, which begins it:
    # whatever comes after that part is never offered. Empty for a body that cannot.
    followed: str = ""


def stages_of(expected: Iterable[Expected]) -> tuple[Stage, ...]:
    """What a model expects, for the queue."""
    return tuple(Stage(stage.phase, stage.units, stage.source) for stage in expected)


def digest_of(operation: str, fields: Mapping[str, object]) -> str:
    """One digest for all spellings of the same request: defaults filled in, keys sorted."""
    canonical = json.dumps([operation, fields], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def sha256_of(raw: bytes | bytearray | memoryview) -> str:
    """The digest of what was uploaded, to stand in a request's own."""
    return hashlib.sha256(raw).hexdigest()


class Sounding(Protocol):
    """What a request says of the form of its audio."""

    @property
    def output_format(self) -> str:
        """One of `engine.audio.FORMATS`."""

    @property
    def mp3_bitrate(self) -> int:
        """In kbit/s, of mp3 and opus."""


def form_of(asked: Sounding) -> AudioForm:
    """The form that a request names itself."""
    return AudioForm(asked.output_format, asked.mp3_bitrate)


def native_fields(form: AudioForm) -> dict[str, str | int]:
    """What a request has to say to come as near to a form as its own fields can."""
    return {"output_format": form.codec, "mp3_bitrate": form.bitrate_kbps} if form.codec in FORMATS else {}


def alone_fields(alone: str) -> dict[str, object]:
    """What a digest has to hold of a body that is one file alone, of that name; nothing for a whole one."""
    return {"alone": alone} if alone else {}


def form_fields(form: AudioForm | None) -> dict[str, object]:
    """What a digest has to hold of a form that the request itself does not name."""
    return {} if form is None else {"form": asdict(form)}


def write_audio(samples: Samples, rate_hz: int, form: AudioForm, sink: BinaryIO, control: Control) -> None:
    """Encode samples (N, C) in a form, in phase `encoding`."""
    control.report("encoding", 0.0)
    encode(samples, rate_hz, form, sink, control.check_cancelled)
    control.report("encoding", 1.0)
