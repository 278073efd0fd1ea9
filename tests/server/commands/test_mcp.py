"""`yue2-studio mcp` as whoever sets it up sees it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from server.__main__ import app
from server.commands import stdio_serving
from tests.server.commands.child import ROOT


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """With what address and key it was to serve."""
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(stdio_serving, "serve_stdio", lambda address, key: found.append((address, key)))
    for name in ("YUE2_API_KEY", "STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        ([], {}, ("http://127.0.0.1:8000", "")),
        (["--server", "https://a.example/b"], {}, ("https://a.example/b", "")),
        (["--server", "http://a.example:8000/mcp"], {}, ("http://a.example:8000", "")),
        (["--server", "https://a.example/b/mcp/"], {}, ("https://a.example/b", "")),
        (["--server", "127.0.0.1:8177"], {}, ("http://127.0.0.1:8177", "")),
        (["--api-key", "k"], {"YUE2_API_KEY": "other"}, ("http://127.0.0.1:8000", "k")),
        (["--key", "k"], {}, ("http://127.0.0.1:8000", "k")),
        ([], {"YUE2_API_KEY": "k"}, ("http://127.0.0.1:8000", "k")),
        ([], {"STUDIO_API_KEY": "k"}, ("http://127.0.0.1:8000", "k")),
        ([], {"YUE2_API_KEY": "k", "STUDIO_API_KEY": "other"}, ("http://127.0.0.1:8000", "k")),
    ],
)
def test_address_and_key_come_from_options_or_the_environment(
    served: list[tuple[str, str]], arguments: list[str], environ: dict[str, str], expected: tuple[str, str]
) -> None:
    answer = CliRunner().invoke(app, ["mcp", *arguments], env=environ)
    assert (answer.exit_code, answer.output, served) == (0, "", [expected])


@pytest.mark.parametrize("arguments", [["--server", ""], ["--server", "ftp://a"], ["--api-key", "a\nb"]])
def test_what_cannot_be_used_is_a_wrong_argument(arguments: list[str]) -> None:
    answer = CliRunner().invoke(app, ["mcp", *arguments])
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1


def test_the_help_says_who_starts_it() -> None:
    told = " ".join(CliRunner().invoke(app, ["mcp", "--help"], env={"COLUMNS": "200"}).stdout.split())
    assert "the program that uses the tools starts it" in told
    assert "YUE2_API_KEY" in told


def test_it_is_lean() -> None:
    heavy = (
        "{'numpy', 'torch', 'scipy', 'soundfile', 'onnxruntime', 'ctranslate2', 'tokenizers', 'server.app'}"
    )
    program = f"import sys, server.commands.stdio_serving; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert loaded.stdout == "[]\n"
