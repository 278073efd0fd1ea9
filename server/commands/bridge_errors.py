"""What `yue2-studio mcp` refuses a call with itself, where no server's own answer says what is wrong.

Each is told to an agent's model, which can only ask its user to mend what it cannot: so each says who does what next.
"""

from collections.abc import Mapping
from typing import Final

from server.agents.answer import ToolAnswer
from storage.entry import JSON

UNREACHABLE: Final = "unreachable"


class BridgeRefusal(Exception):
    """A call that was not carried out: its `code`, a sentence, and what else is told of it.

    `retry_after_seconds` is there where the same request may soon succeed.
    """

    def __init__(self, code: str, message: str, told: Mapping[str, JSON] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.told: dict[str, JSON] = {**(told or {}), "code": code, "message": message}

    @property
    def retry_after_seconds(self) -> float | None:
        """Seconds to wait before the same request is sent again; None where that would not help."""
        seconds = self.told.get("retry_after_seconds")
        return float(seconds) if isinstance(seconds, int | float) else None

    def answer(self) -> ToolAnswer:
        """As a tool's refusal."""
        return ToolAnswer(self.told, str(self), is_refused=True)


def unreachable(address: str) -> BridgeRefusal:
    """Nobody answers."""
    return BridgeRefusal(
        UNREACHABLE,
        f"No YuE2 Studio server can be reached at {address}, so nothing was done. Ask the user to start it with "
        "`./task start` in its folder, or to give `yue2-studio mcp` the address where it runs with --server; then call the tool again.",
    )


def interrupted(address: str) -> BridgeRefusal:
    """Somebody answered and then did not go on."""
    return BridgeRefusal(
        "connection_lost",
        f"The connection to {address} ended before its answer was there, so it is not known whether this call was carried "
        "out. Call the tool again: with the same arguments and the same idempotency_key nothing is begun twice. Where a job "
        "was begun without a key, server_status tells whether one more waits.",
    )


def unauthorized(address: str, *, is_keyed: bool) -> BridgeRefusal:
    """The server wants a key."""
    wanted = "another API key than the one it is given" if is_keyed else "an API key"
    return BridgeRefusal(
        "unauthorized",
        f"The server at {address} wants {wanted}, so nothing was done. Ask the user to give `yue2-studio mcp` the right one, "
        "as STUDIO_API_KEY in its environment or with --api-key, and to start it anew.",
    )


def elsewhere(address: str, reason: str) -> BridgeRefusal:
    """Something answers that is no server of ours."""
    return BridgeRefusal(
        "wrong_service",
        f"What answers at {address} is no YuE2 Studio server, or something on the way changes its answers ({reason}). Ask the "
        "user to check the address that `yue2-studio mcp` is given with --server.",
    )


def moved(address: str, location: str) -> BridgeRefusal:
    """What answers names another address, where a key must not follow by itself."""
    return BridgeRefusal(
        "wrong_service",
        f"What answers at {address} sends on to {location}, which is not followed. If the server runs there, ask the user to "
        "give `yue2-studio mcp` that address with --server.",
    )


def other_version(address: str, release: str) -> BridgeRefusal:
    """A server of ours that does not understand what this release sends."""
    return BridgeRefusal(
        "other_version",
        f"The server at {address} does not know what it was asked, so nothing was done. Most likely it is YuE2 Studio of "
        f"another version than this `yue2-studio mcp`, which is {release}; ask the user to bring both to the same version.",
    )
