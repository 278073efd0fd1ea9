"""What `serve` hands to the server."""

import pytest
from typer.testing import CliRunner

from server.__main__ import app


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
