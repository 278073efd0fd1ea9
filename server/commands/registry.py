"""A package registry as far as `yue2-studio voices` needs it: the bytes of one archive, from an offset on."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from server.commands.hub import RANGE_REFUSED, RETRIED, Body, BrokenTransfer
from server.commands.hub_errors import HubRefused, HubUnreachable
from server.commands.model_files import Listing, RemoteFile

PATIENCE_SECONDS = 30.0  # for an answer's next byte


class Registry:
    """Owner of the connection to one address below which archives lie."""

    def __init__(self, address: str, transport: httpx2.BaseTransport | None = None) -> None:
        self._address = address
        self._http = httpx2.Client(timeout=PATIENCE_SECONDS, follow_redirects=True, transport=transport)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    @contextmanager
    def opened(self, listing: Listing, file: RemoteFile, offset: int) -> Iterator[Body]:
        """The archive's bytes from the offset on; BrokenTransfer where trying again may help, else PullError."""
        ranged = {"Range": f"bytes={offset}-"} if offset else {}
        headers = {"User-Agent": "yue2-studio", "Accept-Encoding": "identity"} | ranged
        try:
            with self._http.stream("GET", f"{self._address}/{file.path}", headers=headers) as answer:
                yield self._body(answer, offset)
        except httpx2.TransportError as error:
            raise BrokenTransfer(
                f"The connection to {self._address} broke ({str(error).rstrip('.') or type(error).__name__})."
            ) from error
        except httpx2.RequestError as error:  # sent round in circles, or to what is no address
            raise HubUnreachable(f"{self._address} answers, but not as a package registry.") from error

    def _body(self, answer: httpx2.Response, offset: int) -> Body:
        if answer.status_code in RETRIED:
            raise BrokenTransfer(f"{self._address} answers {answer.status_code}.")
        if answer.status_code == RANGE_REFUSED:
            return Body(0, iter(()))
        if answer.status_code not in (200, 206):
            raise HubRefused(
                f"{self._address} refuses the archive with status {answer.status_code}; try again later."
            )
        return Body(offset if answer.status_code == 206 else 0, answer.iter_raw())
