"""`yue2-studio status` where nothing answers."""

import pytest
from typer.testing import CliRunner

from server.__main__ import app
from server.client import Client, Unreachable


def test_the_address_that_nobody_chose_can_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(client: Client) -> dict[str, object]:
        raise Unreachable("Cannot connect. Is the server running?")

    monkeypatch.setattr(Client, "status", absent)
    sentence = "Cannot connect. Is the server running?"
    chosen = CliRunner().invoke(app, ["status", "--server", "http://127.0.0.1:9"])
    assert (chosen.exit_code, chosen.stderr) == (3, f"{sentence}\n")
    told = CliRunner().invoke(app, ["status"])
    assert told.stderr == f"{sentence} One at another address is named with --server.\n"
