"""Where the work is done."""

import pytest

from server.client import BadAddress, Client
from server.commands.workplace import Workplace, at_work


def nobody() -> str:
    raise AssertionError("asked in the wrong place")


def nobody_there(client: Client) -> str:
    raise AssertionError("asked in the wrong place")


def test_here_where_no_server_is_named() -> None:
    with at_work(Workplace("", ""), nobody_there, lambda: "here") as (worker, bar):
        assert worker == "here"
        bar.report("working", 0.5)


def test_there_where_one_is() -> None:
    with at_work(
        Workplace("http://127.0.0.1:9", "key"), lambda client: f"with a {type(client).__name__}", nobody
    ) as (worker, _):
        assert worker == "with a Client"


def test_an_address_that_cannot_be_one_is_told() -> None:
    with pytest.raises(BadAddress), at_work(Workplace("nowhere", ""), nobody_there, nobody):
        pass
