"""Writing down speech on a running server, through its queue."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from engine.errors import InvalidRequest
from server.client import WHOLE, Client
from server.commands.bar import Bar
from server.commands.following import followed
from server.commands.json_answers import downloaded_json
from server.commands.recording import opened
from server.commands.transcript import Heard, heard_in
from server.limits import MAX_BODY_BYTES

FORM_BYTES: Final = 64 * 1024  # at most, around the recording
MOST_BYTES: Final = MAX_BODY_BYTES - FORM_BYTES


@dataclass(frozen=True, slots=True)
class RemoteListener:
    """Listens through a client; the job is cancelled where the caller is interrupted."""

    client: Client

    def __call__(self, file: Path, payload: dict[str, JsonValue], bar: Bar) -> Heard:
        """Have the recording written down there. Raises ClientError, InvalidRequest, OSError."""
        content = _content(file)
        bar.report("uploading", 0.0)
        job = self.client.upload("/transcribe", payload, "audio", f"recording{_ending(file)}", content)
        done = followed(self.client, job.id, bar)
        return heard_in(downloaded_json(self.client, job.id, WHOLE), done.notes)


def _content(file: Path) -> bytes:
    """What is sent. Raises InvalidRequest for more than a server takes."""
    with opened(file) as recording:
        content = recording.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InvalidRequest(
            "audio",
            f"{file} has more than the 64 MiB that a server takes; send it as MP3 or Opus, in parts, "
            "or leave out --server, since here a file may have any length.",
        )
    return content


def _ending(file: Path) -> str:
    """The ending of the name, all of it that is sent; none where it is not plain."""
    return file.suffix if file.suffix.isascii() and file.suffix.isprintable() else ""
