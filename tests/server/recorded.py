"""What an ASGI application sent, as a client would read it."""

from dataclasses import dataclass, field

from starlette.types import Message


@dataclass
class Recorded:
    """The messages of one response, in order."""

    sent: list[Message] = field(default_factory=list)

    @property
    def status(self) -> int:
        """The status code."""
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        """The headers, the last of each name."""
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(message.get("body", b"") for message in self.sent[1:])
