"""What keeps a server from starting is one sentence with the setting, its value and the remedy."""

import os
import re
import socket
from pathlib import Path

import pytest

from server.settings import Settings, load
from server.starting import StartError, address, announcement, bind, held_output, open_to_all
from storage.errors import OutputLocked
from storage.lock import OutputLock


def settings(result_dir: Path, **environ: str) -> Settings:
    return load({"YUE2_RESULT_DIR": str(result_dir), **environ})


def refusal(chosen: Settings) -> str:
    """Why the folders cannot be used."""
    with pytest.raises(StartError) as told, held_output(chosen, "this one"):
        raise AssertionError("it started")
    return str(told.value)


def test_a_bound_port_already_lets_callers_queue() -> None:
    with (
        bind("127.0.0.1", 0) as bound,
        socket.create_connection(bound.getsockname()[:2], timeout=5) as caller,
    ):
        assert caller.getpeername()[1] == bound.getsockname()[1]
        assert address(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_an_ipv6_address_is_bracketed() -> None:
    with bind("::1", 0) as bound:
        assert address(bound).startswith("http://[::1]:")


def test_a_taken_port_is_told() -> None:
    with bind("127.0.0.1", 0) as bound, pytest.raises(StartError) as told:
        bind("127.0.0.1", bound.getsockname()[1])
    assert re.fullmatch(
        r"127\.0\.0\.1:\d+ is taken; stop what listens there or set YUE2_PORT\.", str(told.value)
    )


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("192.0.2.1", "is no address of this machine"),  # TEST-NET-1, RFC 5737
        ("studio.invalid", "is no address and no name that is known here"),
        ("a..b", "is no address and no name that is known here"),
        ("1:2", "is no address and no name that is known here"),
    ],
)
def test_a_host_that_is_not_ours_is_told(host: str, known: str) -> None:
    with pytest.raises(StartError) as told:
        bind(host, 0)
    assert str(told.value).startswith(f"YUE2_HOST is {host}, which {known}; set it to 127.0.0.1 ")


def test_a_port_for_root_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, place: tuple[str, int]) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(StartError, match=r"YUE2_PORT is 80, .* set it to 1024 or more"):
        bind("127.0.0.1", 80)


def test_every_network_is_announced_with_an_address_to_try() -> None:
    with bind("0.0.0.0", 0) as everywhere, bind("127.0.0.1", 0) as here:
        port = everywhere.getsockname()[1]
        assert announcement(everywhere).endswith(f"(on it: http://127.0.0.1:{port})")
        assert announcement(here) == address(here)


def test_a_server_open_to_all_is_warned_of(tmp_path: Path) -> None:
    keyless, keyed = settings(tmp_path / "jobs"), settings(tmp_path / "jobs", YUE2_API_KEYS="ann=" + "a" * 16)
    with bind("0.0.0.0", 0) as everywhere, bind("127.0.0.1", 0) as here, bind("::1", 0) as here_too:
        assert "set YUE2_API_KEYS" in open_to_all(everywhere, keyless)
        assert [
            open_to_all(everywhere, keyed),
            open_to_all(here, keyless),
            open_to_all(here_too, keyless),
        ] == ["", "", ""]


def test_the_folders_are_made_and_held(tmp_path: Path) -> None:
    chosen = settings(tmp_path / "output" / "jobs")
    with held_output(chosen, "this one"):
        assert (tmp_path / "output" / "jobs").is_dir()
        assert (tmp_path / "output" / "state").is_dir()
        assert (tmp_path / "output" / "agent-artifacts").is_dir()
        assert "is in use by this one" in refusal(chosen)
    with held_output(chosen, "another"):
        assert "is in use by another" in refusal(chosen)


def test_a_folder_for_agents_files_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "agent-artifacts").write_text("in the way")
    told = refusal(settings(tmp_path / "jobs"))
    assert f"{tmp_path / 'agent-artifacts'} cannot be made or written to" in told


def test_a_held_output_folder_is_named_as_the_parent_of_the_setting(tmp_path: Path) -> None:
    with OutputLock(tmp_path, "process 7"):
        told = refusal(settings(tmp_path / "yue2"))
    assert told.startswith(
        f"The output folder {tmp_path}, the parent of YUE2_RESULT_DIR ({tmp_path / 'yue2'}), is in use by process 7;"
    )
    assert told.endswith(f"such as {tmp_path.parent / f'{tmp_path.name}-2' / 'jobs'}.")


def test_beside_a_folder_right_below_the_root_no_new_one_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    def held(lock: OutputLock) -> None:
        raise OutputLocked(str(lock.path.parent), "process 7")

    monkeypatch.setattr(OutputLock, "acquire", held)
    monkeypatch.setattr("server.starting.make_folder", lambda *_: None)
    assert refusal(settings(Path("/mnt/yue2"))).endswith("such as /mnt/yue2-2/jobs.")


@pytest.mark.parametrize("place", ["file/jobs", "file"])
def test_a_file_in_the_way_is_told(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("mine")
    told = refusal(settings(tmp_path / place))
    assert told.startswith(f"YUE2_RESULT_DIR is {tmp_path / place}, but {tmp_path / 'file'} cannot be made")
    assert "set YUE2_RESULT_DIR to another folder" in told


def test_the_folder_of_the_records_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    told = refusal(settings(tmp_path / "jobs", YUE2_DATA_DIR=str(tmp_path / "file")))
    assert told.startswith(f"YUE2_DATA_DIR is {tmp_path / 'file'}, but")


def test_a_folder_that_may_not_be_written_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda folder, mode: False)  # root may write anywhere
    told = refusal(settings(tmp_path / "jobs"))
    assert told.startswith(
        f"YUE2_RESULT_DIR is {tmp_path / 'jobs'}, but {tmp_path} cannot be made or written to"
    )


def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / ".yue2-studio.lock").mkdir()
    assert ".yue2-studio.lock cannot be made or written to" in refusal(settings(tmp_path / "jobs"))
