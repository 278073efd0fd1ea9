"""Singing on a running server, through its queue."""

from dataclasses import dataclass
from typing import BinaryIO

from pydantic import JsonValue

from server.client import Client, audio, replay
from server.commands.bar import Bar
from server.commands.following import followed, seconds_of
from server.commands.json_answers import downloaded_json
from server.commands.song import Sung


@dataclass(frozen=True, slots=True)
class RemoteSinger:
    """Sings through a client; the job is cancelled where the caller is interrupted."""

    client: Client

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Sung:
        """Have the song made there and download it. Raises ClientError."""
        job = self.client.submit("/synth", payload)
        done = followed(self.client, job.id, bar)
        bar.report("downloading", 1.0)
        self.client.download(job.id, audio(), sink)
        return Sung(seconds_of(done), downloaded_json(self.client, job.id, replay()), done.notes)
