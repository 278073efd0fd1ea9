"""The address of the hub: what can be one, how it is shown, and whether a secret sent there can be overheard."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from server.commands.hub_errors import WrongChoice

HUB = "https://huggingface.co"


def hub_address(text: str) -> str:
    """The address without what does not matter in it. Raises WrongChoice, in words without its secrets."""
    address = text.strip().rstrip("/")
    if not _can_be(address):
        raise WrongChoice(
            "HF_ENDPOINT is not the address of a hub; write it as https://HOST or http://HOST:PORT, "
            f"or unset it for {HUB}."
        )
    return address


def shown(address: str) -> str:
    """The address without user and password."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def is_overheard(address: str) -> bool:
    """Whether what is sent there goes through a network in clear."""
    parts = urlsplit(address)
    return parts.scheme == "http" and not _is_loopback(parts.hostname or "")


def _can_be(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return _is_whole(parts) and address.isprintable() and " " not in address
    except ValueError:
        return False


def _is_whole(parts: SplitResult) -> bool:
    """Whether there are scheme and host and nothing that paths cannot follow. Raises ValueError for a wrong port."""
    odd = parts.query or parts.fragment or "@" in parts.path  # the latter: a password with a slash in it
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not odd


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
