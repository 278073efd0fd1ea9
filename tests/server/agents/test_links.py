"""Links: whoever has one has this file and nothing else, and nobody can make one."""

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.agents.links import ArtifactLinks
from storage.entry import Entry, EntryState, Part
from storage.errors import UnknownEntry

LINKS = ArtifactLinks(b"s" * 32)
OTHERS = ArtifactLinks(b"t" * 32)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
IDS = st.binary(min_size=8, max_size=8).map(bytes.hex)
TOKENS = st.text(ALPHABET, min_size=32, max_size=32)


def is_unknown(token: str) -> bool:
    try:
        LINKS.job_id(token)
    except UnknownEntry:
        return True
    return False


@given(id=IDS)
def test_a_token_stands_for_its_job_and_does_so_after_a_restart(id: str) -> None:
    token = LINKS.token(id)
    assert len(token) == 32
    assert set(token) <= set(ALPHABET)
    assert ArtifactLinks(b"s" * 32).job_id(token) == id
    assert LINKS.token(id) == token


@given(token=TOKENS)
def test_a_token_that_was_made_up_is_unknown(token: str) -> None:
    assert is_unknown(token)


@given(text=st.text(max_size=80))
def test_any_other_text_is_unknown(text: str) -> None:
    assert is_unknown(text)


@given(id=IDS)
def test_the_token_of_another_secret_is_unknown(id: str) -> None:
    assert is_unknown(OTHERS.token(id))


@given(id=IDS, place=st.integers(0, 31), letter=st.sampled_from(ALPHABET))
def test_a_token_with_any_letter_changed_is_unknown(id: str, place: int, letter: str) -> None:
    token = LINKS.token(id)
    changed = token[:place] + letter + token[place + 1 :]
    assert is_unknown(changed) is (changed != token)


@given(id=IDS, length=st.integers(0, 31), more=st.text(ALPHABET + "=\n", min_size=1, max_size=4))
def test_a_token_that_is_cut_or_lengthened_is_unknown(id: str, length: int, more: str) -> None:
    token = LINKS.token(id)
    for changed in (token[:length], token + more, more + token, token.lower() + "="):
        assert is_unknown(changed)


@given(id=IDS)
def test_the_id_cannot_be_read_from_its_token(id: str) -> None:
    token = LINKS.token(id)
    raw = bytes.fromhex(id)
    plain = (
        id,
        id.upper(),
        urlsafe_b64encode(raw).decode().rstrip("="),
        urlsafe_b64encode(id.encode()).decode(),
    )
    assert not any(form in token for form in plain)
    assert token != OTHERS.token(id)


@given(one=IDS, other=IDS)
def test_tokens_of_ids_that_are_alike_are_not(one: str, other: str) -> None:
    """Nothing in common but by chance, of which 12 letters would be one in 2^72."""
    near = one[:-1] + ("0" if one[-1] != "0" else "1")
    for another in {near, other} - {one}:
        assert LINKS.token(one)[:12] != LINKS.token(another)[:12]
        assert LINKS.token(one)[-8:] != LINKS.token(another)[-8:]


@pytest.mark.parametrize("token", ["", "A" * 32, "0123456789abcdef", "é" * 32, "A" * 31 + "\n", "٣" * 32])
def test_what_is_no_token_is_told_like_a_job_that_never_was(token: str) -> None:
    with pytest.raises(UnknownEntry, match="Nothing is known under this id"):
        LINKS.job_id(token)


def test_a_link_has_the_token_and_the_name_of_the_file() -> None:
    part = Part("audio", 0, "audio/mpeg", 0, 5, 1.0, "où est là?.mp3")
    entry = Entry(
        "0123456789abcdef", EntryState.STORED, "ann", 0.0, expires_at=1.0, size_bytes=5, parts=(part,)
    )
    token = LINKS.token(entry.id)
    assert LINKS.path(entry) == f"/artifacts/{token}/o%C3%B9%20est%20l%C3%A0%3F.mp3"
