from pathlib import Path

from engine.yue2.files.faults import listed, unreadable, unusable


def test_a_refusal_names_the_folder_the_fault_and_what_to_do() -> None:
    assert str(unusable(Path("/models/a"), "config.json is missing")) == (
        "The checkpoint in /models/a cannot be used: config.json is missing. "
        "Fetch it with `yue2-studio pull --into /models`, or name another folder."
    )


def test_what_cannot_be_read_is_told_with_the_systems_reason() -> None:
    said = str(unreadable(Path("/models/a"), "config.json", PermissionError(13, "Permission denied")))
    assert "config.json in it cannot be read (Permission denied)" in said
    assert "it cannot be read (Stale)" in str(unreadable(Path("/m"), "", OSError("Stale")))


def test_eight_names_are_listed_and_the_others_counted() -> None:
    assert listed("tensors missing", ["a", "b"]) == "2 tensors missing (a, b)"
    assert listed("shards", list("abcdefgh")) == "8 shards (a, b, c, d, e, f, g, h)"
    assert listed("shards", list("abcdefghij")) == "10 shards (a, b, c, d, e, f, g, h and 2 more)"


def test_what_a_terminal_would_obey_or_utf_8_cannot_hold_is_escaped() -> None:
    said = str(unusable(Path("/m\udc80"), "a\x1b[2Jé\n is missing"))
    assert said.startswith(r"The checkpoint in /m\udc80 cannot be used: a\x1b[2Jé\n is missing. Fetch")
    assert r"in /m\udc80 cannot be used: b\udcff in it" in str(
        unreadable(Path("/m\udc80"), "b\udcff", OSError())
    )
