"""A package registry as far as `yue2-studio voices` needs it: the bytes of one archive, from an offset on."""

from contextlib import AbstractContextManager
from functools import partial

import httpx2

from server.commands.model_files import Listing, RemoteFile
from server.commands.source_answers import PATIENCE_SECONDS, Body, Origin, body_of, headers_for


class Registry:
    """Owner of the connection to one address below which archives lie."""

    def __init__(self, address: str, transport: httpx2.BaseTransport | None = None) -> None:
        self._address = address
        self._http = httpx2.Client(timeout=PATIENCE_SECONDS, follow_redirects=True, transport=transport)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def opened(self, listing: Listing, file: RemoteFile, offset: int) -> AbstractContextManager[Body]:
        """The archive's bytes from the offset on; BrokenTransfer where trying again may help, else PullError."""
        address = f"{self._address}/{file.path}"
        origin = Origin(
            self._address,
            f"{self._address} answers, but not as a package registry; check NPM_CONFIG_REGISTRY.",
            lambda status: (
                f"{self._address} refuses the archive of {listing.repo} with status {status}; try again later."
            ),
        )
        ask = partial(self._http.stream, "GET", address, headers=headers_for(offset))
        return body_of(ask, offset, origin)
