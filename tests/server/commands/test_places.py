"""Whether a folder can be filled."""

from pathlib import Path

import pytest

from server.commands.hub_errors import InTheWay
from server.commands.places import check_writable, stray_weights


def test_a_folder_that_is_not_there_yet_can_be_filled(tmp_path: Path) -> None:
    check_writable(tmp_path / "models" / "YuE2-3B")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["", "models"])
def test_a_folder_without_the_right_to_write_cannot(
    tmp_path: Path, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "os.access", lambda place, mode: place != tmp_path
    )  # whoever runs the tests may be root
    with pytest.raises(InTheWay, match="cannot be written to; make it writable"):
        check_writable(tmp_path / below)


def test_a_link_that_leads_nowhere_cannot(tmp_path: Path) -> None:
    (tmp_path / "models").symlink_to(tmp_path / "gone")
    with pytest.raises(InTheWay, match="models is no folder"):
        check_writable(tmp_path / "models" / "YuE2-3B")


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert stray_weights(tmp_path / "models", ()) == []
