"""Speaking on a running server, through its queue."""

from dataclasses import dataclass
from typing import BinaryIO

from pydantic import JsonValue

from server.client import Client, audio, replay
from server.commands.bar import Bar
from server.commands.following import followed, seconds_of
from server.commands.json_answers import downloaded_json
from server.commands.speech import Said
from server.commands.word_times import words_in


@dataclass(frozen=True, slots=True)
class RemoteSpeaker:
    """Speaks through a client; the job is cancelled where the caller is interrupted."""

    client: Client

    def __call__(self, payload: dict[str, JsonValue], sink: BinaryIO, bar: Bar) -> Said:
        """Have the text said there and download it. Raises ClientError."""
        job = self.client.submit("/speech", payload)
        done = followed(self.client, job.id, bar)
        bar.report("downloading", 1.0)
        self.client.download(job.id, audio(), sink)
        return Said(seconds_of(done), words_in(downloaded_json(self.client, job.id, replay())), done.notes)
