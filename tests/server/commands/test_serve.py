"""What `serve` hands to the server."""

import pytest
from typer.testing import CliRunner

from server.__main__ import app
from server.settings import Settings


@pytest.mark.parametrize(
    ("arguments", "environ", "sentence"),
    [
        ([], {"YUE2_QUEUE_LIMIT": "0"}, "YUE2_QUEUE_LIMIT must be a whole number from 1 to 128"),
        (["--host", "not a host"], {}, "YUE2_HOST must be"),
        (["--port", "0"], {"YUE2_PORT": "1000000", "YUE2_LOG_LEVEL": "loud"}, "YUE2_LOG_LEVEL must be"),
    ],
)
def test_a_wrong_setting_stops_the_start_with_a_sentence(
    arguments: list[str], environ: dict[str, str], sentence: str
) -> None:
    answer = CliRunner().invoke(app, ["serve", *arguments], env=environ)
    assert answer.exit_code == 2
    assert answer.stderr.startswith(sentence)


def test_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Settings] = []

    def run(settings: Settings) -> int:
        started.append(settings)
        return 1

    monkeypatch.setattr("server.serve.run", run)
    environ = {"YUE2_HOST": "0.0.0.0", "YUE2_PORT": "8001", "YUE2_QUEUE_LIMIT": "3"}
    answer = CliRunner().invoke(app, ["serve", "--port", "0"], env=environ)
    assert answer.exit_code == 1
    assert [(one.host, one.port, one.queue_limit) for one in started] == [("0.0.0.0", 0, 3)]
