"""Addresses of hubs."""

import pytest

from server.commands.hub_address import hub_address, is_overheard, shown
from server.commands.hub_errors import WrongChoice


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://huggingface.co/", "https://huggingface.co"),
        (" http://127.0.0.1:8000 ", "http://127.0.0.1:8000"),
        ("https://mirror.example/hub", "https://mirror.example/hub"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("https://ann:pass@mirror.example", "https://ann:pass@mirror.example"),
    ],
)
def test_an_address_is_kept(text: str, address: str) -> None:
    assert hub_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://ann:secret/x@mirror.example",
        "http://ann:12/secret@mirror.example",
        "mirror.example",
        "ftp://mirror.example",
        "https://",
        "https://mirror.example/?token=secret",
        "https://mirror.example/#secret",
        "https://mirror example",
        "https://mirror.example/\x1b[2J",
        " ",
    ],
)
def test_what_is_no_address_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(WrongChoice, match="HF_ENDPOINT is not the address of a hub") as refusal:
        hub_address(text)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://ann:pass@mirror.example:8443/hub", "https://mirror.example:8443/hub"),
        ("https://token@mirror.example", "https://mirror.example"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address: str, told: str) -> None:
    assert shown(address) == told


@pytest.mark.parametrize(
    ("address", "overheard"),
    [
        ("https://mirror.example", False),
        ("http://mirror.example", True),
        ("http://192.0.2.1:8000", True),
        ("http://[2001:db8::1]", True),
        ("http://127.0.0.1:8000", False),
        ("http://127.9.9.9", False),
        ("http://[::1]:8000", False),
        ("http://localhost:8000", False),
        ("http://hub.localhost", False),
        ("http://localhost.example", True),
        ("http://ann:pass@127.0.0.1", False),
    ],
)
def test_what_goes_through_a_network_in_clear_is_overheard(address: str, overheard: bool) -> None:
    assert is_overheard(address) is overheard
