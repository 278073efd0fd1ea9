"""An answer that brings a file's bytes: what its status means, and what a connection that breaks does.

Shared by the model hub and the package registry.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import httpx2

from server.commands.hub_errors import HubRefused, HubUnreachable

PATIENCE_SECONDS: Final = 30.0  # for an answer's next byte
RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})


class BrokenTransfer(Exception):
    """The connection ended too early or the source asks for patience; trying again may help."""


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a file from `offset` on, which is 0 where the source does not do ranges."""

    offset: int
    chunks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Origin:
    """What is said of a source: its address, and the sentences for when it is another thing, or refuses a file."""

    address: str
    stranger: str
    refusal: Callable[[int], str]


def headers_for(offset: int) -> dict[str, str]:
    """What asks for a file's bytes from the offset on."""
    ranged = {"Range": f"bytes={offset}-"} if offset else {}
    return {"User-Agent": "yue2-studio", "Accept-Encoding": "identity"} | ranged


@contextmanager
def body_of(
    answering: Callable[[], AbstractContextManager[httpx2.Response]], offset: int, origin: Origin
) -> Iterator[Body]:
    """The bytes of the answer that was asked for from the offset on.

    Raises BrokenTransfer where trying again may help, HubRefused and HubUnreachable where it would not.
    """
    try:
        with answering() as answer:
            yield _body(answer, offset, origin)
    except httpx2.UnsupportedProtocol as error:
        raise HubUnreachable(origin.stranger) from error
    except httpx2.TransportError as error:
        if isinstance(error.__context__, httpx2.InvalidURL):  # sent elsewhere, to what is no address
            raise HubUnreachable(origin.stranger) from error
        raise BrokenTransfer(f"The connection to {origin.address} broke ({reason_of(error)}).") from error
    except (
        httpx2.RequestError,
        httpx2.InvalidURL,
    ) as error:  # sent round in circles, or to what is no address
        raise HubUnreachable(origin.stranger) from error


def _body(answer: httpx2.Response, offset: int, origin: Origin) -> Body:
    if answer.status_code in RETRIED:
        raise BrokenTransfer(f"{origin.address} answers {answer.status_code}.")
    if answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return Body(0, iter(()))
    if answer.status_code not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise HubRefused(origin.refusal(answer.status_code))
    start = offset if answer.status_code == HTTPStatus.PARTIAL_CONTENT else 0
    return Body(start, answer.iter_raw())  # raw: half a chunk would be lost with the connection


def reason_of(error: Exception) -> str:
    """What an error says, to stand within a sentence."""
    return str(error).strip().rstrip(".") or type(error).__name__
