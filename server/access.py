"""Who may call: host names, origins of web pages, API keys. Pure, but for the secret's file.

A page of a foreign site can reach this server through the browser of somebody who may: by pointing its own name at
our address (refused by `HostRule`) or by calling across origins (refused by `OriginRule`).
"""

import hashlib
import hmac
import ipaddress
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers

from server.errors import ForbiddenHost, ForbiddenOrigin, Unauthorized
from server.settings import ApiKey

COOKIE_NAME: Final = "yue2_key"
COOKIE_SECONDS: Final = 30 * 86400
SECRET_BYTES: Final = 32
SECRET_FILE: Final = "cookie-secret"
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?", re.ASCII)
_ORIGIN: Final = re.compile(r"(https?)://(.+)", re.ASCII | re.IGNORECASE)
_PORTS: Final = {"http": "80", "https": "443"}


@dataclass(frozen=True, slots=True)
class HostRule:
    """The names this server is reached by. Only names need a list: nobody can point an address elsewhere."""

    names: frozenset[str]
    any_name: bool = False

    @classmethod
    def of(cls, bound: str, machine: str, allowed: Iterable[str]) -> "HostRule":
        """For a server bound to `bound` on the machine of that host name, with further names (`*`: every name)."""
        listed = {name.lower() for name in allowed}
        own = {"localhost", bound.lower(), machine.lower(), f"{machine.lower()}.local"} - {"", ".local"}
        return cls(frozenset(listed | own), "*" in listed)

    def check(self, hosts: Sequence[str]) -> None:
        """Raise ForbiddenHost unless the request has one Host header, and it names us."""
        match = _HOST.fullmatch(hosts[0].strip()) if len(hosts) == 1 else None
        if match is None:
            raise ForbiddenHost(", ".join(hosts))
        name = match[1].lower().rstrip(".")
        if not (self.any_name or name in self.names or _is_address(name)):
            raise ForbiddenHost(hosts[0])


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class OriginRule:
    """The origins of web pages that may call, beside the server's own."""

    listed: frozenset[str]

    def check(self, origins: Sequence[str], host: str, fetch_site: str = "", fetch_mode: str = "") -> None:
        """Raise ForbiddenOrigin for a page of another origin.

        A browser sends no Origin for images and other parts of a page, but says in Sec-Fetch-Site that another site
        asks; following a link (Sec-Fetch-Mode: navigate) is allowed, and everything where other origins are listed.
        """
        if not origins:
            if fetch_site == "cross-site" and fetch_mode != "navigate" and not self.listed:
                raise ForbiddenOrigin("another site")
            return
        origin = origins[0].strip().lower()
        if len(origins) > 1 or not (origin in self.listed or _same_place(origin, host.strip().lower())):
            raise ForbiddenOrigin(", ".join(origins))


def _same_place(origin: str, host: str) -> bool:
    """Whether both name the same host and port; a proxy may have ended TLS, so the scheme is the origin's word."""
    match = _ORIGIN.fullmatch(origin)
    if match is None:
        return False
    port = _PORTS[match[1]]
    return _with_port(match[2], port) == _with_port(host, port)


def _with_port(host: str, port: str) -> tuple[str, str] | None:
    match = _HOST.fullmatch(host)
    return (match[1], match[2] or port) if match else None


class Keys:
    """The callers' keys and the cookies that stand for them.

    A cookie is the caller's name with a seal of name and key under the server's secret: it does not hold the key,
    needs no record, and loses its worth when the key or the secret changes.
    """

    def __init__(self, keys: Sequence[ApiKey], secret: bytes) -> None:
        self._secret = secret
        self._callers = [(key.name, _digest(key.key), self._seal(key)) for key in keys]

    @property
    def needed(self) -> bool:
        """Whether callers must show a key at all."""
        return bool(self._callers)

    def owner(self, headers: Headers) -> str:
        """The caller's name, empty where no keys are set. Raises Unauthorized.

        The first credential found decides: Authorization: Bearer, X-Api-Key, Xi-Api-Key, the cookie.
        """
        if not self._callers:
            return ""
        key, cookie = _sent_key(headers), _sent_cookie(headers)
        if not (key or cookie):
            raise Unauthorized(missing=True)
        return self.owner_of_key(key) if key is not None else self._owner_of_cookie(cookie)

    def owner_of_key(self, key: str) -> str:
        """The name of the caller whose key this is. Raises Unauthorized."""
        return _match(_digest(key), [(name, digest) for name, digest, _ in self._callers])

    def cookie(self, owner: str) -> str:
        """The cookie's value for a caller of that name. Raises Unauthorized for an unknown one."""
        for name, _, seal in self._callers:
            if name == owner:
                return f"{name}.{seal.hex()}"
        raise Unauthorized

    def cookie_header(self, owner: str, *, secure: bool) -> str:
        """A Set-Cookie header's value; `secure` where the page came over TLS."""
        attributes = f"Max-Age={COOKIE_SECONDS}; Path=/; HttpOnly; SameSite=Strict"
        return f"{COOKIE_NAME}={self.cookie(owner)}; {attributes}{'; Secure' if secure else ''}"

    def _owner_of_cookie(self, value: str) -> str:
        return _match(
            _digest(value), [(name, _digest(f"{name}.{seal.hex()}")) for name, _, seal in self._callers]
        )

    def _seal(self, key: ApiKey) -> bytes:
        return hmac.digest(self._secret, f"cookie\0{key.name}\0{key.key}".encode(), "sha256")


def forgotten_cookie() -> str:
    """A Set-Cookie header's value that takes the cookie away."""
    return f"{COOKIE_NAME}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict"


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()


def _match(wanted: bytes, known: Sequence[tuple[str, bytes]]) -> str:
    """The name beside the equal digest. Every one is compared in full, so that time tells nothing."""
    found = [name for name, digest in known if hmac.compare_digest(wanted, digest)]
    if not found:
        raise Unauthorized
    return found[0]


def _sent_key(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    for name in ("x-api-key", "xi-api-key"):
        if name in headers:
            return headers[name].strip()
    return None


def _sent_cookie(headers: Headers) -> str:
    for item in headers.get("cookie", "").split(";"):
        name, _, value = item.strip().partition("=")
        if name == COOKIE_NAME:
            return value
    return ""


@dataclass(frozen=True, slots=True)
class PublicPaths:
    """Paths that need no key: exact ones, and everything below some folders."""

    exact: frozenset[str]
    prefixes: tuple[str, ...] = ()

    def __contains__(self, path: str) -> bool:
        return path in self.exact or path.startswith(self.prefixes)


def load_secret(directory: Path, draw: Callable[[int], bytes]) -> bytes:
    """The server's secret, drawn once with `draw(bytes)` and kept in `directory`, readable by its user alone."""
    path = directory / SECRET_FILE
    directory.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(draw(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    secret = path.read_bytes()
    if len(secret) < SECRET_BYTES:
        path.unlink()
        return load_secret(directory, draw)
    return secret
