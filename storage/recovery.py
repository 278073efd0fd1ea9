"""Bringing folder and index together: after a start, and as an audit at any time."""

import logging

from storage.entry import JSON, Entry, EntryState
from storage.errors import DiskFull
from storage.folder import Folder, Listing, body_name, hinted, record_name
from storage.index import Contents, ResultIndex

RESULT_MISSING: dict[str, JSON] = {
    "code": "result_missing",
    "error": "The stored result is missing or damaged on the volume; submit the request again.",
}
log = logging.getLogger("storage")


def load(folder: Folder, index: ResultIndex, now: float) -> None:
    """Fill an empty index from the folder and remove what an interrupted run left half-done.

    Removed, unless the volume refuses, which is only said: staged files, and bodies whose record does not say stored.
    Left alone and unused: a record that cannot be read (it may be foreign or of a newer version) together with a body
    of its id. A stored entry whose body is missing or has another size becomes an ended one whose detail has the code
    `result_missing`; its expiry stays.
    """
    found = folder.list()
    for name in found.staged:
        _clear(folder, name)
    entries, unreadable = _read_records(folder, found)
    for entry in sorted(entries, key=lambda entry: (entry.expires_at or 0.0, entry.created_at)):
        if entry.state_at(now) is EntryState.STORED and found.bodies.get(entry.id) != entry.size_bytes:
            index.load(_end_without_body(folder, entry), now)
        else:
            index.load(entry, now)
    for id in found.bodies.keys() - unreadable:
        if not index.ledger.has(id):
            _clear(folder, body_name(id))


def audit(found: Listing, known: Contents) -> list[str]:
    """Differences between what lies in the folder and what ought to, a sentence each."""
    return [*_audit_bodies(found, known), *_audit_staged(found, known), *_audit_records(found, known)]


def _clear(folder: Folder, name: str) -> None:
    try:
        folder.remove(name)
    except OSError as error:
        log.warning(
            "%s is left over and cannot be removed, the next start tries again: %s",
            hinted(name),
            hinted(error),
        )


def _read_records(folder: Folder, found: Listing) -> tuple[list[Entry], set[str]]:
    entries: list[Entry] = []
    unreadable: set[str] = set()
    for id in found.records:
        try:
            entries.append(folder.read_record(id))
        except (ValueError, OSError) as error:
            unreadable.add(id)
            log.warning(
                "%s is left alone, it cannot be read as a record: %s", hinted(record_name(id)), hinted(error)
            )
    return entries, unreadable


def _end_without_body(folder: Folder, entry: Entry) -> Entry:
    log.warning("%s has no intact body; its entry is ended", hinted(record_name(entry.id)))
    bare = entry.evolve(state=EntryState.ENDED, content_type="", size_bytes=0, sha256="", parts=())
    try:
        ended = bare.evolve(detail={**entry.detail, **RESULT_MISSING})
        ended.to_json()
    except ValueError:  # the caller's detail was at its limit already
        ended = bare.evolve(detail=RESULT_MISSING)
    try:
        folder.write_record(ended)
    except (DiskFull, OSError) as error:
        log.warning("%s could not be rewritten: %s", hinted(record_name(entry.id)), hinted(error))
    return ended


def _audit_bodies(found: Listing, known: Contents) -> list[str]:
    unknown = found.bodies.keys() - known.stored.keys() - known.removable
    missing = known.stored.keys() - found.bodies.keys()
    sizes = [
        f"{body_name(id)} has {found.bodies[id]} bytes instead of {size}."
        for id, size in known.stored.items()
        if found.bodies.get(id, size) != size
    ]
    return [
        *(f"{body_name(id)} belongs to no entry." for id in sorted(unknown)),
        *(f"{body_name(id)} is missing." for id in sorted(missing)),
        *sizes,
    ]


def _audit_staged(found: Listing, known: Contents) -> list[str]:
    there, counted = sorted(found.staged.values()), sorted(known.staged.values())
    return [] if there == counted else [f"Staged files have {there} bytes, counted are {counted}."]


def _audit_records(found: Listing, known: Contents) -> list[str]:
    unknown = found.records - known.states.keys() - known.forgotten
    # A deletion on a full disk has no record: its tombstone lives in memory only.
    expected = {id for id, state in known.states.items() if state is not EntryState.GONE}
    return [
        *(f"{record_name(id)} is the record of no known entry." for id in sorted(unknown)),
        *(f"{record_name(id)} is missing." for id in sorted(expected - found.records)),
    ]
