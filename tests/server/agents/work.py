"""Work that writes one file, as agents' jobs do."""

from server.jobs.rates import Stage
from server.work import Making, Packed, Prepared, digest_of
from storage.entry import Part


def written(body: bytes = b"sound", name: str = "song.mp3", kind: str = "audio/mpeg") -> Prepared:
    """A job whose file has this body, name and content type."""

    def work(making: Making) -> Packed:
        making.sink.write(body)
        return Packed(kind, (Part("audio", 0, kind, 0, len(body), 1.0, name),))

    digest = digest_of("write", {"body": body.hex(), "name": name})
    return Prepared("write", "artificial", (Stage("writing", 1.0),), digest, work)
