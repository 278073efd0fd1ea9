"""A job as agents are told of it: for programs, and as a sentence that says what to do next. Pure."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from server.agents.answer import Link
from server.jobs.job import JobState
from server.limits import MAX_WAIT_SECONDS
from storage.entry import JSON

COMPLETE: Final = "complete"
_STATES: Final[Mapping[str, str]] = {
    JobState.QUEUED: "queued",
    JobState.RUNNING: "generating",
    JobState.DONE: COMPLETE,
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}
_TOLD: Final = ("operation", "model", "queue_position", "phase", "progress", "eta_seconds", "notes")
_WHAT_NEXT: Final[Mapping[str, str]] = {
    "plan": "Send the score, as it is or edited, as abc to preview_score to hear it or to create_song to have it sung.",
    "synth": "transcribe with this job_id writes down what is sung in it.",
    "sketch": "If it sounds right, send the same abc to create_song.",
}


def state_of(status: JSON) -> str:
    """What agents call a job's status: queued, generating, complete, failed or cancelled."""
    return _STATES[str(status)]


def told_of(job: Mapping[str, JSON]) -> dict[str, JSON]:
    """The description of a job in the job book's words, in agents'; of a failed one also code and error."""
    told: dict[str, JSON] = {"job_id": job["id"], "state": state_of(job["status"])}
    told |= {name: job[name] for name in _TOLD}
    if job["status"] == JobState.FAILED:
        told |= {"code": job["code"], "error": job["error"]}
    return told


def moment(seconds: float) -> str:
    """A time in epoch seconds as ISO 8601, in UTC and whole seconds."""
    return datetime.fromtimestamp(math.floor(seconds), UTC).isoformat().replace("+00:00", "Z")


def in_about(seconds: float) -> str:
    """When something is to be expected, in words that go on a sentence."""
    whole = math.ceil(seconds)
    if whole <= 0:
        return "within moments"
    return f"in about {whole} {'second' if whole == 1 else 'seconds'}"


def size_of(count: int) -> str:
    """A number of bytes, in the binary unit that suits it."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if size < 999.5:  # above it three digits would be written as a power
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


def begun_sentence(told: Mapping[str, JSON]) -> str:
    """Of a job that was just queued."""
    return (
        f'Queued as job "{told["job_id"]}", number {told["queue_position"]} in the queue{_left(told)}. Nothing is made yet. '
        f"{_wait_for(told)}{_noted(told)}"
    )


def pending_sentence(told: Mapping[str, JSON]) -> str:
    """Of a job that waits or is being made. Its notes were told when it was begun, unless that call is this one."""
    if told["state"] == "queued":
        doing = f"waits as number {told['queue_position']} in the queue"
    else:
        phase, progress = told["phase"] or "beginning", told["progress"]
        done = progress if isinstance(progress, int | float) else 0.0
        doing = f"is being made ({phase}, {math.floor(100 * done)} % done)"
    noted = _noted(told) if "replayed" in told else ""
    return f'Job "{told["job_id"]}" {doing}{_left(told)}. {_wait_for(told)}{noted}'


def unmade_sentence(told: Mapping[str, JSON]) -> str:
    """Of a job that ended without a result. Its key goes on naming it, so another try needs another."""
    again = "call the tool that began it again, with a new idempotency_key if you send one"
    if told["state"] == "cancelled":
        return f'Job "{told["job_id"]}" was cancelled and made nothing. To have it after all, {again}.'
    return (
        f'Job "{told["job_id"]}" failed and made nothing. {told["error"]} (code {told["code"]}) To try again, {again}.'
        f"{_noted(told)}"
    )


def complete_sentence(told: Mapping[str, JSON], link: Link, seconds_left: float, *, is_shown: bool) -> str:
    """Of a job whose file has a link for so many seconds more; `is_shown` where its text is given beside it."""
    seconds = told["seconds"]
    lasts = f", {seconds:.1f} seconds long" if isinstance(seconds, int | float) and not is_shown else ""
    shown = "The whole text follows. " if is_shown else ""
    what_next = _WHAT_NEXT.get(str(told["operation"]), "")
    return (
        f'Job "{told["job_id"]}" is complete. {shown}The file {link.name} ({link.mime_type}, {size_of(link.size_bytes)}'
        f"{lasts}) can be downloaded without a key until {told['expires_at']} ({_minutes(seconds_left)}): {link.url} Give the user this link, and say "
        f"until when it works.{_noted(told)} {what_next}".rstrip()
    )


def unlinked_sentence(told: Mapping[str, JSON], url: str) -> str:
    """Of a complete job that no tool began."""
    return (
        f'Job "{told["job_id"]}" is complete. It was not begun by a tool, so it has no link without a key; whoever may use '
        f"this server's HTTP API downloads the result with GET {url}"
    )


def cancelled_sentence(job_id: str, state: str) -> str:
    """Of a job that was to be cancelled and is in that state now."""
    ask = f'job_status with job_id "{job_id}"'
    if state == "cancelled":
        return f'Job "{job_id}" is cancelled and its place in the queue is free again.'
    if state == "generating":
        return f'Job "{job_id}" was asked to stop, which takes effect in a moment; {ask} tells when it has.'
    if state == COMPLETE:
        return f'Job "{job_id}" was complete before it could be cancelled; {ask} gives its result.'
    return f'Job "{job_id}" had failed before it could be cancelled; {ask} tells why.'


def _wait_for(told: Mapping[str, JSON]) -> str:
    return (
        f'Call job_status with job_id "{told["job_id"]}" and wait_seconds {MAX_WAIT_SECONDS} until state is complete, '
        "failed or cancelled."
    )


def _minutes(seconds: float) -> str:
    minutes = math.floor(seconds / 60)
    if minutes < 1:
        return "in less than a minute"
    return f"in {minutes} {'minute' if minutes == 1 else 'minutes'}"


def _left(told: Mapping[str, JSON]) -> str:
    eta = told["eta_seconds"]
    return f"; it should be done {in_about(eta)}" if isinstance(eta, int | float) else ""


def _noted(told: Mapping[str, JSON]) -> str:
    notes = told["notes"]
    return f" {' '.join(map(str, notes))}" if isinstance(notes, list) and notes else ""
