"""`yue2-studio voices`, against a small real registry."""

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.speech import kokoro_files
from server.__main__ import app

FILES = {
    "package/voices/af_heart.bin": b"heart",
    "package/voices/bm_george.bin": b"george",
    "package/voices/zf_xiaoni.bin": b"no English",
    "package/dist/kokoro.js": b"code",
}


def archive_of(files: dict[str, bytes]) -> bytes:
    """A gzipped tar with these files."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


ARCHIVE = archive_of(FILES)


@contextmanager
def registry(content: bytes, status: int = 200) -> Iterator[str]:
    """The address of a registry that answers everything alike, from the offset that is asked for."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
            self.send_response(206 if status == 200 and start else status)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:])

        def log_message(self, format: str, *args: object) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """Commands for which the archive above is the one that is known."""
    names = ("af_heart", "bm_george")
    voices = {name: hashlib.sha256(FILES[f"package/voices/{name}.bin"]).hexdigest() for name in names}
    monkeypatch.setattr(kokoro_files, "VOICES", voices)
    monkeypatch.setattr(kokoro_files, "ARCHIVE_BYTES", len(ARCHIVE))
    monkeypatch.setattr(kokoro_files, "SHA256", hashlib.sha256(ARCHIVE).hexdigest())
    return CliRunner()


def test_english_voices_are_unpacked_and_nothing_else(runner: CliRunner, tmp_path: Path) -> None:
    folder = tmp_path / "voices"
    with registry(ARCHIVE) as address:
        answer = runner.invoke(
            app, ["voices", "--into", str(folder), "--yes"], env={"NPM_CONFIG_REGISTRY": address}
        )
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout == f"YUE2_VOICES={folder}\n"
    assert "Apache-2.0" in answer.stderr
    assert f"YUE2_VOICES={folder} yue2-studio say --list-voices\n" in answer.stderr
    assert {path.name for path in folder.iterdir()} == {"af_heart.bin", "bm_george.bin"}
    assert (folder / "bm_george.bin").read_bytes() == b"george"
    assert list(tmp_path.iterdir()) == [folder]


def test_a_second_run_fetches_nothing(runner: CliRunner, tmp_path: Path) -> None:
    for name in ("af_heart", "bm_george"):
        (tmp_path / f"{name}.bin").touch()
    answer = runner.invoke(
        app, ["voices", "--into", str(tmp_path)], env={"NPM_CONFIG_REGISTRY": "http://127.0.0.1:9"}
    )
    assert answer.exit_code == 0
    assert "already there" in answer.stderr


def test_what_an_interrupted_run_has_fetched_is_gone_on_from(runner: CliRunner, tmp_path: Path) -> None:
    part = tmp_path / "kokoro-js/-" / f".kokoro-js-1.2.1.tgz.{hashlib.sha256(ARCHIVE).hexdigest()[:16]}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(ARCHIVE[:100])
    with registry(ARCHIVE) as address:
        answer = runner.invoke(
            app, ["voices", "--into", str(tmp_path), "--yes"], env={"npm_config_registry": address}
        )
    assert answer.exit_code == 0, answer.stderr
    assert kokoro_files.voices_in(tmp_path) == ("af_heart", "bm_george")


def test_nobody_to_ask_means_no(runner: CliRunner, tmp_path: Path) -> None:
    answer = runner.invoke(app, ["voices", "--into", str(tmp_path)])
    assert answer.exit_code == 2
    assert "say --yes to agree" in answer.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "status", "sentence"),
    [(ARCHIVE[:-1] + b"x", 200, "came twice with another content"), (b"", 403, "with status 403")],
)
def test_what_is_not_the_archive_is_not_kept(
    runner: CliRunner, tmp_path: Path, content: bytes, status: int, sentence: str
) -> None:
    with registry(content, status) as address:
        answer = runner.invoke(
            app, ["voices", "--into", str(tmp_path), "--yes"], env={"NPM_CONFIG_REGISTRY": address}
        )
    assert answer.exit_code == 1
    assert sentence in answer.stderr
    assert kokoro_files.voices_in(tmp_path) == ()


def test_what_cannot_be_a_registry_is_a_wrong_argument(runner: CliRunner, tmp_path: Path) -> None:
    answer = runner.invoke(
        app, ["voices", "--into", str(tmp_path), "--yes"], env={"NPM_CONFIG_REGISTRY": "registry"}
    )
    assert answer.exit_code == 2
    assert "write it as https://HOST" in answer.stderr
