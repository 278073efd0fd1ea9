"""The image keeps its promises, as far as they can be read off the Dockerfile and tried without a Docker engine."""

import fnmatch
import http.server
import json
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator

import pytest

from server.settings import load
from tests.architecture.documents import ROOT


def instructions() -> list[tuple[str, str]]:
    """Every instruction of the Dockerfile with its argument, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def last_stage() -> dict[str, str]:
    """The instructions of the stage that becomes the image; of repeated ones the last."""
    steps = instructions()
    begin = max(number for number, step in enumerate(steps) if step[0] == "FROM")
    return dict(steps[begin:])


def health_command() -> list[str]:
    command = last_stage()["HEALTHCHECK"].partition("CMD ")[2]
    words = json.loads(command)
    assert isinstance(words, list)
    return [sys.executable, *words[1:]]


@pytest.fixture
def health_server() -> Iterator[tuple[int, list[int]]]:
    """A server whose /health answers with the status in the list; its port."""
    statuses = [200]

    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses[0] if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_port, statuses
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_process_has_no_rights() -> None:
    assert last_stage()["USER"] == "10001:10001"


def test_results_lie_on_the_volume() -> None:
    stage = last_stage()
    assert stage["VOLUME"] == stage["WORKDIR"] == "/output"
    assert load({}).result_dir.as_posix() == "jobs"
    assert not any("YUE2_RESULT_DIR" in rest for _, rest in instructions())


def test_the_volume_belongs_to_the_user() -> None:
    assert "install --directory --owner=10001 --group=10001 /output" in last_stage()["RUN"]


def test_signals_reach_the_server_itself() -> None:
    stage = last_stage()
    assert json.loads(stage["ENTRYPOINT"]) == ["yue2-studio"]
    assert json.loads(stage["CMD"]) == ["serve"]
    assert stage["STOPSIGNAL"] == "SIGTERM"


def test_the_entry_point_exists_in_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"]["yue2-studio"] == "server.__main__:main"


def test_the_server_listens_to_the_outside() -> None:
    stage = last_stage()
    assert "YUE2_HOST=0.0.0.0" in stage["ENV"]
    assert stage["EXPOSE"] == str(load({}).port)


def test_torch_comes_only_when_asked_for() -> None:
    steps = instructions()
    assert ("ARG", 'EXTRAS=""') in steps
    install = next(rest for word, rest in steps if word == "RUN" and "pip install" in rest)
    target = install.rsplit(" ", 1)[1]
    for extras, expected in (("", "."), ("yue2", ".[yue2]")):
        shown = subprocess.run(
            ["sh", "-c", f"printf %s {target}"],
            env={"EXTRAS": extras},
            capture_output=True,
            text=True,
            check=True,
        )
        assert shown.stdout == expected


def test_everything_that_is_copied_exists_and_is_not_ignored() -> None:
    kept = [
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
        if line.startswith("!")
    ]
    copied = [
        name
        for word, rest in instructions()
        if word == "COPY" and not rest.startswith("--from")
        for name in rest.split()[:-1]
    ]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert [name for name in copied if not any(fnmatch.fnmatch(name, pattern) for pattern in kept)] == []


def test_every_package_is_copied() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages <= {rest.split()[0] for word, rest in instructions() if word == "COPY"}


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_believes_the_status(
    health_server: tuple[int, list[int]], status: int, healthy: bool
) -> None:
    port, statuses = health_server
    statuses[0] = status
    checked = subprocess.run(
        health_command(), env={"YUE2_PORT": str(port)}, capture_output=True, check=False, timeout=30
    )
    assert (checked.returncode == 0) is healthy


def test_what_is_no_code_is_in_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["engine"]
    kept = {path for pattern in patterns for path in (ROOT / "engine").glob(pattern)}
    there = {
        path for path in (ROOT / "engine").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert there
    assert there - kept == set()


def test_every_notice_goes_with_the_package_and_into_the_image() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    notices = project["license-files"]
    assert [name for name in notices if not (ROOT / name).is_file()] == []
    copied = {name for word, rest in instructions() if word == "COPY" for name in rest.split()[:-1]}
    assert [name for name in notices if name.partition("/")[0] not in copied] == []
    told = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    assert [name for name in notices if "/" in name and name.rpartition("/")[0] not in told] == []


def test_every_package_with_weights_is_noticed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["kokoro"]]
    pinned = [line.partition("==") for line in wanted if "==" in line]  # weights are used as they were tried
    told = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    assert pinned
    assert [
        name for name, _, version in pinned if name.rstrip("1234-") not in told or version not in told
    ] == []
