"""What the protocol relies on inside uvicorn, looked for at start, since none of it is uvicorn's public interface."""

from typing import Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

UVICORN: Final = "0.54."
OVERRIDDEN: Final = (
    "connection_made",
    "connection_lost",
    "data_received",
    "eof_received",
    "on_message_begin",
    "on_url",
    "on_header",
    "on_headers_complete",
    "on_body",
    "on_message_complete",
    "on_response_complete",
    "pause_writing",
    "resume_writing",
    "_start_asgi_task",
    "_unset_keepalive_if_required",
)
CYCLE_FIELDS: Final = (
    "transport",
    "disconnected",
    "keep_alive",
    "waiting_for_100_continue",
    "message_event",
    "response_started",
    "response_complete",
)


def check_uvicorn(version: str = uvicorn.__version__) -> None:
    """Raise RuntimeError unless uvicorn's insides are those `server.protocol` was written for."""
    fields = set(RequestResponseCycle.__init__.__code__.co_names)
    missing = [name for name in OVERRIDDEN if not callable(getattr(HttpToolsProtocol, name, None))]
    missing += [name for name in CYCLE_FIELDS if name not in fields]
    if missing or not version.startswith(UVICORN):
        raise RuntimeError(
            f"This server is made for uvicorn {UVICORN}x, but {version} is installed; install the version that "
            f"constraints.txt names. Not found: {', '.join(missing) or 'nothing'}."
        )
