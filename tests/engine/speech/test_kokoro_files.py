"""Voices are taken out of their archive, and nothing else is."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from engine.errors import CheckpointError
from engine.speech import kokoro_files
from engine.speech.kokoro_files import VOICES, check_voice, extract, voices_in


def archive(monkeypatch: pytest.MonkeyPatch, members: dict[str, bytes]) -> io.BytesIO:
    """An archive of these members that is taken for the one that was tried."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as written:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            written.addfile(member, io.BytesIO(content))
    monkeypatch.setattr(kokoro_files, "SHA256", hashlib.sha256(file.getvalue()).hexdigest())
    return file


@pytest.fixture
def two_voices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Voices of a few bytes in place of all."""
    voices = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("af_heart", "bm_lewis")}
    monkeypatch.setattr(kokoro_files, "VOICES", voices)


@pytest.mark.usefixtures("two_voices")
def test_voices_alone_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    members = {
        "package/voices/af_heart.bin": b"af_heart",
        "package/voices/bm_lewis.bin": b"bm_lewis",
        "package/voices/zf_xiaobei.bin": b"other",
        "../evil.bin": b"evil",
        "package/package.json": b"{}",
    }
    folder = tmp_path / "deep" / "voices"
    written = extract(archive(monkeypatch, members), folder)
    assert written == (folder / "af_heart.bin", folder / "bm_lewis.bin")
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "af_heart.bin",
        "bm_lewis.bin",
    ]
    assert (folder / "af_heart.bin").read_bytes() == b"af_heart"
    assert voices_in(folder) == ("af_heart", "bm_lewis")


@pytest.mark.usefixtures("two_voices")
def test_extracting_again_replaces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    members = {f"package/voices/{name}.bin": name.encode() for name in ("af_heart", "bm_lewis")}
    (tmp_path / "af_heart.bin").write_bytes(b"damaged")
    extract(archive(monkeypatch, members), tmp_path)
    assert (tmp_path / "af_heart.bin").read_bytes() == b"af_heart"


@pytest.mark.usefixtures("two_voices")
def test_a_voice_of_other_content_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    members = {"package/voices/af_heart.bin": b"other", "package/voices/bm_lewis.bin": b"bm_lewis"}
    with pytest.raises(CheckpointError, match="not the voice"):
        extract(archive(monkeypatch, members), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("two_voices")
@pytest.mark.parametrize("fault", [OSError, KeyboardInterrupt])
def test_nothing_is_left_of_a_voice_that_was_broken_off(
    fault: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(descriptor: int) -> None:
        raise fault

    members = {f"package/voices/{name}.bin": name.encode() for name in ("af_heart", "bm_lewis")}
    opened = archive(monkeypatch, members)
    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(fault):
        extract(opened, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_another_archive_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"not the archive .* fetch https://registry"):
        extract(io.BytesIO(b"not it"), tmp_path / "voices")
    assert not (tmp_path / "voices").exists()


def test_without_a_folder_there_are_no_voices(tmp_path: Path) -> None:
    assert voices_in(None) == voices_in(tmp_path / "missing") == ()


def test_only_english_voices_are_known() -> None:
    assert {name[:3] for name in VOICES} == {"af_", "am_", "bf_", "bm_"}
    with pytest.raises(CheckpointError, match="delete it"):
        check_voice("af_heart", b"", Path("af_heart.bin"))
