"""The JSON body of one request, also of one that is refused."""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.requests import ClientDisconnect, Request

from server.bodies import INLINE_BYTES, declared_size, read_bounded
from server.errors import EdgeError
from server.limits import MAX_JSON_BYTES, Limits

SOON_SECONDS: Final = 0.25


class JsonBody:
    """Read once. Owner of what was read."""

    def __init__(self, request: Request, limits: Limits, seconds: float = SOON_SECONDS) -> None:
        self._request = request
        self._limits = limits
        self._seconds = seconds
        self._body: bytes | None = None
        self._is_begun = False

    async def read(self) -> bytes:
        """All of it. Raises as `read_bounded`."""
        if self._body is None:
            self._is_begun = True
            self._body = await read_bounded(self._request, MAX_JSON_BYTES, self._limits)
        return self._body

    async def soon(self) -> bytes:
        """What was read, or what is on its way with the request's head: small, and here in a moment. Else empty.

        Nothing is asked for of a client that waits for leave to send it, and nothing is begun twice.
        """
        if self._body is not None or self._is_begun:
            return self._body or b""
        headers = self._request.headers
        if "expect" in headers or not 0 < declared_size(headers) <= INLINE_BYTES:
            return b""
        with suppress(ClientDisconnect, EdgeError, TimeoutError):
            async with asyncio.timeout(self._seconds):
                return await self.read()
        return b""
