"""The bytes of an answer to a request that never reaches the application."""

import logging
from collections.abc import Iterable
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from server.edge import SECURITY_HEADERS
from server.envelopes import error_body
from server.errors import EdgeError
from server.log_ring import request_id
from server.responses import json_response

LOG: Final = logging.getLogger("server.protocol")


def refusal(
    error: EdgeError, id: str, server_headers: Iterable[tuple[bytes, bytes]], target: bytes = b"/"
) -> bytes:
    """A whole response with what each of the edge's has: the request's id, compact JSON, its security headers.

    `target` is what the request line asks for, as far as it was read: the error is written as its API does.
    `server_headers` are those that uvicorn adds to every response (the date). Logged under that id.
    """
    status, headers, body = error_body(error, id, target.partition(b"?")[0].decode("latin-1"))
    always = {**SECURITY_HEADERS, "Cross-Origin-Resource-Policy": "same-origin", "X-Request-Id": id}
    response = json_response(body, status, {**headers, **always})
    token = request_id.set(id)
    try:
        LOG.info("A request was refused with %d before it was complete.", status)
    finally:
        request_id.reset(token)
    lines = b"".join(b"%s: %s\r\n" % line for line in (*server_headers, *response.raw_headers))
    return STATUS_LINE[status] + lines + b"\r\n" + bytes(response.body)
