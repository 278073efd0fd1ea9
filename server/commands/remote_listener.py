"""Writing down speech on a running server, through its queue."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from engine.errors import InvalidRequest
from server.client import WHOLE, Client
from server.commands.bar import Bar
from server.commands.following import followed
from server.commands.json_answers import downloaded_json
from server.commands.transcript import Heard, heard_in

MOST_BYTES = 64 * 1024**2  # what servers take


@dataclass(frozen=True, slots=True)
class RemoteListener:
    """Listens through a client; the job is cancelled where the caller is interrupted."""

    client: Client

    def __call__(self, file: Path, payload: dict[str, JsonValue], bar: Bar) -> Heard:
        """Have the recording written down there. Raises ClientError, InvalidRequest, OSError."""
        if file.stat().st_size > MOST_BYTES:
            raise InvalidRequest(
                "audio",
                f"{file} has more than the 64 MiB that a server takes; send it as MP3 or Opus, in parts, "
                "or leave out --server, since here a file may have any length.",
            )
        bar.report("uploading", 0.0)
        job = self.client.upload("/transcribe", payload, "audio", file.name, file.read_bytes())
        done = followed(self.client, job.id, bar)
        return heard_in(downloaded_json(self.client, job.id, WHOLE), done.notes)
