"""One server's address, and asking it something until it answers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx2

from server.client.answers import Verdict, judge, reason, refusal, retry_after
from server.client.errors import BadAddress
from server.client.patience import Patience

CONNECT_SECONDS = 10.0
TRANSFER_SECONDS = 60.0  # without a byte in either direction
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Connection:
    """Owner of the HTTP connections to one server, and of the knowledge whether it was ever heard."""

    def __init__(self, base_url: str, key: str, transport: httpx2.BaseTransport | None) -> None:
        self.address = base_url.rstrip("/")
        self._heard = False
        self._http = httpx2.Client(
            base_url=checked_address(self.address),
            headers=authorization(key),
            timeout=httpx2.Timeout(TRANSFER_SECONDS, connect=CONNECT_SECONDS),
            transport=transport,
            trust_env=httpx2.URL(self.address).host not in LOOPBACK,  # a proxy does not know our loopback
        )

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Request:
        """A request that can be sent any number of times: its body is in memory, byte for byte the same."""
        return self._http.build_request(method, path, params=params, content=content, headers=headers)

    def ask(self, request: httpx2.Request, patience: Patience) -> httpx2.Response:
        """The accepting answer, its body read; asks again as `patience` allows, raises what a refusal stands for."""
        while True:
            try:
                response = self._send(request)
            except httpx2.TransportError as error:
                self.bridge(error, patience)
                continue
            if self.settled(response, patience):
                return response

    @contextmanager
    def stream(self, request: httpx2.Request) -> Iterator[httpx2.Response]:
        """The answer to one sending, its body still to be read; TransportError where the connection breaks."""
        response = self._send(request, stream=True)
        try:
            yield response
        finally:
            response.close()

    def settled(self, response: httpx2.Response, patience: Patience) -> bool:
        """Whether the answer accepts; False after a wait, when it is to be asked again; raises on a refusal."""
        verdict = judge(response)
        if verdict is Verdict.REFUSE:
            raise refusal(response)
        if verdict is Verdict.WAIT:
            patience.refused(retry_after(response), reason(response))
        if verdict is Verdict.RECONNECT:
            patience.broken(reason(response))
        if verdict is Verdict.ACCEPT:
            patience.connected()
        return verdict is Verdict.ACCEPT

    def bridge(self, error: httpx2.TransportError, patience: Patience) -> None:
        """Wait after a broken connection; Unreachable once that goes on for too long.

        That is at once where there never was a connection: most likely nothing runs at this address.
        """
        absent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout) and not self._heard
        (patience.absent if absent else patience.broken)(self.describe(error))

    def describe(self, error: httpx2.TransportError) -> str:
        """A sentence about a broken connection."""
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return f"Cannot connect to {self.address}."
        if isinstance(error, httpx2.TimeoutException):
            return f"{self.address} did not answer in time."
        return f"The connection to {self.address} broke."

    def _send(self, request: httpx2.Request, *, stream: bool = False) -> httpx2.Response:
        response = self._http.send(request, stream=stream)
        self._heard = True
        return response


def checked_address(address: str) -> httpx2.URL:
    """The address as it is sent to. Raises BadAddress."""
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise BadAddress(f"{address!r} is not an address; give one like http://127.0.0.1:8000.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise BadAddress(f"{address!r} is not a web address; give one like http://127.0.0.1:8000.")
    return url


def authorization(key: str) -> dict[str, str]:
    """The header that carries a key, if there is one. Raises BadAddress for what no header can carry."""
    if not key:
        return {}
    if not key.isascii() or not key.isprintable():
        raise BadAddress("The key contains characters no key has; copy it again, without line breaks.")
    return {"Authorization": f"Bearer {key}"}
