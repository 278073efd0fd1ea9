"""Singing on a running server, through its queue."""

import io
from dataclasses import dataclass
from typing import BinaryIO

from pydantic import JsonValue, TypeAdapter, ValidationError

from server.client import BadAnswer, Client, ClientError, JobUpdate, audio, replay
from server.commands.bar import Bar
from server.commands.endings import say
from server.commands.song import Sung

LOOK_SECONDS = 2.0  # between two looks at a job, so that the bar moves


@dataclass(frozen=True, slots=True)
class RemoteSinger:
    """Sings through a client; the job is cancelled where the caller is interrupted."""

    client: Client

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
        """Have the song made there and download it. Raises ClientError."""
        job = self.client.submit("/synth", payload)
        try:
            done = self.client.follow(job.id, lambda update: _show(update, bar), LOOK_SECONDS)
        except KeyboardInterrupt:
            self._cancel(job.id)
            raise
        bar.report("downloading", 1.0)
        self.client.download(job.id, audio(), sink)
        kept = io.BytesIO()
        self.client.download(job.id, replay(), kept)
        return Sung(_seconds(done), _replay(kept.getvalue()), done.notes)

    def _cancel(self, id: str) -> None:
        try:
            self.client.cancel(id)
        except ClientError as error:
            say(f"The server may go on with the song: {error}")


def _show(update: JobUpdate, bar: Bar) -> None:
    place = f"waiting, place {update.queue_position}"
    phase = place if update.status == "queued" else update.phase or update.status
    counted = {name: count for name, count in (update.counters or {}).items() if isinstance(count, int)}
    bar.report(phase, update.progress or 0.0, **counted)


def _replay(body: bytes) -> JsonValue:
    """The replay in an answer. Raises BadAnswer where it is none."""
    try:
        return TypeAdapter(JsonValue).validate_json(body)
    except ValidationError as error:
        raise BadAnswer(
            "The server sent a replay that is not JSON; something between here and there may have changed it. "
            "Sing again."
        ) from error


def _seconds(update: JobUpdate) -> float | None:
    """Length of the first track, where the server tells it."""
    match update.tracks:
        case {"items": [{"seconds": float() | int() as seconds}, *_]}:
            return float(seconds)
    return None
