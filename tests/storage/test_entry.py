"""Entries, their invariants and their records."""

import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.entry import MAX_DETAIL_BYTES, MAX_RECORD_BYTES, Entry, EntryState, Part
from tests.storage.doubles import accepted, ended, stored

finite = st.floats(allow_nan=False, allow_infinity=False)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
parts = st.builds(
    Part,
    name=st.sampled_from(["body", "audio", "replay"]),
    track=st.integers(0, 8),
    content_type=st.text(max_size=5),
    offset=st.integers(0, 500),
    length=st.integers(0, 500),
    seconds=st.none() | finite,
    filename=st.text(max_size=8),
)
entries = st.builds(
    Entry,
    id=st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    state=st.sampled_from([EntryState.STORED, EntryState.ENDED, EntryState.GONE]),
    owner=st.text(max_size=5),
    created_at=finite,
    idempotency_key=st.text(max_size=5),
    request_digest=st.text("0123456789abcdef", max_size=8),
    expires_at=finite,
    content_type=st.text(max_size=5),
    size_bytes=st.integers(1000, 2**50),
    sha256=st.text("0123456789abcdef", max_size=8),
    parts=st.lists(parts, max_size=3).map(tuple),
    detail=st.dictionaries(st.text(max_size=5), anything, max_size=3),
)


@settings(max_examples=60, deadline=None, database=None)
@given(entries)
def test_a_record_reads_back_as_the_same_entry(entry: Entry) -> None:
    assert Entry.from_json(entry.to_json()) == entry


def test_an_accepted_entry_reads_back_too() -> None:
    entry = accepted(7, key="k", owner="o")
    assert Entry.from_json(entry.to_json()) == entry
    assert (entry.detail, entry.size_bytes, entry.parts) == ({}, 0, ())


def test_the_record_names_its_version_and_fields() -> None:
    record = json.loads(accepted().to_json())
    assert record["version"] == 1
    assert record["state"] == "accepted"
    assert set(record) == {"version", *Entry.__slots__}


@pytest.mark.parametrize(
    "id", ["", "0" * 15, "0" * 17, "0" * 15 + "A", "0" * 15 + "g", "../" + "0" * 13, "0" * 16 + "\n"]
)
def test_an_id_is_sixteen_hexadecimal_digits(id: str) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        Entry(id, EntryState.ACCEPTED, "", 0.0)


@pytest.mark.parametrize("state", [EntryState.STORED, EntryState.ENDED, EntryState.GONE])
def test_every_state_but_accepted_has_an_expiry(state: EntryState) -> None:
    with pytest.raises(ValueError, match="expiry"):
        accepted().evolve(state=state)
    with pytest.raises(ValueError, match="expiry"):
        accepted().evolve(expires_at=1.0)
    assert accepted().evolve(state=state, expires_at=0.0).expires_at == 0.0


@pytest.mark.parametrize("time", [float("inf"), float("nan")])
def test_times_are_finite(time: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        accepted(created_at=time)
    with pytest.raises(ValueError, match="finite"):
        stored(expires_at=time)


@pytest.mark.parametrize("field", [(-1, 0, 0), (0, -1, 0), (0, 0, -1)])
def test_a_part_counts_from_zero(field: tuple[int, int, int]) -> None:
    track, offset, length = field
    with pytest.raises(ValueError, match="from 0"):
        Part("body", track, "", offset, length)


def test_parts_lie_within_the_body() -> None:
    whole = stored(size=10).evolve(parts=(Part("body", 0, "", 4, 6),))
    assert whole.parts[0].length == 6
    with pytest.raises(ValueError, match="outside"):
        whole.evolve(parts=(Part("body", 0, "", 5, 6),))
    with pytest.raises(ValueError, match="outside"):
        whole.evolve(parts=(), size_bytes=-1)
    assert whole.evolve(parts=(), size_bytes=0).size_bytes == 0


def test_an_entry_is_gone_from_the_moment_of_its_expiry() -> None:
    entry = stored(expires_at=1010.0)
    assert entry.state_at(1009.9) is EntryState.STORED
    assert entry.state_at(1010.0) is EntryState.GONE
    assert accepted().state_at(1e12) is EntryState.ACCEPTED
    assert ended(expires_at=5.0).gone(9.0).state_at(1.0) is EntryState.GONE


def test_a_tombstone_lets_go_of_parts_and_detail() -> None:
    entry = stored(size=10, key="k").evolve(parts=(Part("body", 0, "", 0, 10),), detail={"a": 1})
    gone = entry.gone(1005.0)
    assert (gone.state, gone.expires_at, gone.parts, gone.detail) == (EntryState.GONE, 1005.0, (), {})
    assert (gone.id, gone.idempotency_key) == (entry.id, "k")


def test_the_detail_is_bounded() -> None:
    room = MAX_DETAIL_BYTES - len(json.dumps({"a": ""}))
    assert accepted().evolve(detail={"a": "x" * room}).to_json()
    with pytest.raises(ValueError, match="65536 bytes"):
        accepted().evolve(detail={"a": "x" * (room + 1)}).to_json()


def test_the_record_is_bounded() -> None:
    bare = accepted(owner="")
    room = MAX_RECORD_BYTES - len(bare.to_json())
    assert len(accepted(owner="x" * room).to_json()) == MAX_RECORD_BYTES == 1 << 20
    with pytest.raises(ValueError, match="1048576 bytes"):
        accepted(owner="x" * (room + 1)).to_json()


def test_a_detail_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        accepted().evolve(detail={"a": float("nan")}).to_json()
    endless = Part("audio", 0, "audio/mpeg", 0, 1, seconds=float("inf"))
    with pytest.raises(ValueError, match="JSON compliant"):
        stored().evolve(parts=(endless,)).to_json()


def changed(**fields: object) -> bytes:
    part = Part("body", 0, "", 0, 5, seconds=1.5)
    record = json.loads(stored(size=10).evolve(parts=(part,)).to_json())
    return json.dumps({**record, **fields}).encode()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        changed(version=2),
        changed(version=None),
        changed(id=5),
        changed(id="x"),
        changed(state="live"),
        changed(state=None),
        changed(owner=None),
        changed(created_at="1"),
        changed(created_at=True),
        changed(created_at=10**400),
        changed(expires_at=None),
        changed(expires_at=[]),
        changed(size_bytes=10.5),
        changed(size_bytes=True, parts=[]),
        changed(size_bytes=4),
        changed(sha256=0),
        changed(parts={}),
        changed(parts=[1]),
        changed(parts=[{}]),
        changed(detail=[]),
        changed(detail=None),
        changed(detail={"a": float("inf")}),
        changed().replace(b"1.5", b"1e999"),
        changed().replace(b"1.5", b"true"),
        changed().replace(b"1.5", b"NaN"),
    ],
)
def test_what_is_no_record_is_refused_as_a_value(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Entry.from_json(raw)


def test_the_unchanged_sample_of_the_refusals_is_a_record() -> None:
    entry = Entry.from_json(changed())
    assert entry.parts[0].seconds == 1.5
    assert Entry.from_json(changed(created_at=5)).created_at == 5.0
    assert Entry.from_json(changed().replace(b"1.5", b"null")).parts[0].seconds is None


@pytest.mark.parametrize(("thing", "field"), [(accepted(), "owner"), (Part("body", 0, "", 0, 1), "length")])
def test_what_several_threads_share_does_not_change(thing: Entry | Part, field: str) -> None:
    with pytest.raises(FrozenInstanceError):
        thing.__setattr__(field, 5)
    assert getattr(thing, field) != 5
