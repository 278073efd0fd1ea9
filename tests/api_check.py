"""Checks a running server from outside: `python -m tests.api_check --url http://127.0.0.1:8000`.

Sends GET and HEAD only, so it changes nothing. Prints a table, and ends with 1 where a check failed. The key of a
server that wants one is read from STUDIO_API_KEY, or from --key, which others on the machine can see.
"""

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Final

Snapshot = Mapping[str, Mapping[str, object]]
TIMEOUT_SECONDS: Final = 15
SNAPSHOTS: Final = ("/health", "/status", "/system/queue")
DOCUMENTS: Final[Mapping[str, str]] = {"/props": "queue", "/openapi.json": "paths"}
KEYS: Final[Mapping[str, frozenset[str]]] = {
    "queue": frozenset(
        [
            "limit",
            "pending",
            "active",
            "queued",
            "available",
            "accepting",
            "retry_after_seconds",
            "rejected",
            "completed",
            "failed",
            "cancelled",
            "active_operation",
        ]
    ),
    "results": frozenset(
        ["location", "files", "bytes", "limit_bytes", "limit_files", "max_file_bytes", "ttl_seconds", "full"]
    ),
    "agents": frozenset(
        ["limit", "pending", "files", "bytes", "limit_bytes", "limit_files", "ttl_seconds", "full"]
    ),
    "http": frozenset(
        [
            "workers",
            "synchronous_limit",
            "synchronous_waiters",
            "download_limit",
            "log_stream_limit",
            "upload_decoder_limit",
            "max_upload_bytes",
        ]
    ),
    "worker": frozenset(["state", "phase", "seconds_since_progress"]),
}
# What one process never changes, so that three answers of it must agree whatever happens between them.
CONSTANT: Final = (
    ("queue", ("limit", "retry_after_seconds")),
    ("results", ("location", "limit_bytes", "limit_files", "max_file_bytes", "ttl_seconds")),
    ("agents", ("limit", "limit_bytes", "limit_files", "ttl_seconds")),
    ("http", tuple(sorted(KEYS["http"] - {"synchronous_waiters"}))),
)
COUNTERS: Final = ("rejected", "completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: HTTP status (0 for none), headers in lower case, the body's JSON or None."""

    status: int
    headers: Mapping[str, str]
    body: object


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table; an empty fault is a success."""

    check: str
    fault: str


def ask(url: str, method: str, key: str) -> Answer:
    """Send one request; a server that cannot be reached answers with status 0."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(url, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return _answer(response.status, dict(response.headers), response.read())
    except urllib.error.HTTPError as error:
        with error:
            return _answer(error.code, dict(error.headers), error.read())
    except OSError as error:
        return Answer(0, {}, _cause(error))


def _cause(error: OSError) -> str:
    """What happened, in the system's words."""
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", None) or reason)


def _answer(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    try:
        value: object = json.loads(body) if body else None
    except ValueError:
        value = None
    return Answer(status, {name.lower(): text for name, text in headers.items()}, value)


def shape_fault(body: object) -> str:
    """What is wrong with a snapshot's keys; empty where nothing is."""
    if not isinstance(body, dict):
        return "no JSON object"
    if set(body) != {"status", *KEYS}:
        return f"has the keys {sorted(body)}"
    if body["status"] != "ok":
        return f"status is {body['status']!r}"
    for part, keys in KEYS.items():
        found = set(body[part]) if isinstance(body[part], dict) else set()
        if found != keys:
            return f"{part}: {sorted(found ^ keys)} missing or unexpected"
    return ""


def sum_fault(body: Snapshot) -> str:
    """What does not add up in a snapshot of the right shape; empty where all does."""
    queue, results = body["queue"], body["results"]
    numbers = [queue[name] for name in ("limit", "pending", "active", "queued", "available")]
    if not all(isinstance(number, int) for number in numbers):
        return "queue: a count is no whole number"
    limit, pending, active, queued, available = (int(str(number)) for number in numbers)
    if pending != active + queued or active not in (0, 1):
        return f"queue: {pending} pending is not {active} active and {queued} queued"
    if pending > limit or available != limit - pending:
        return f"queue: {available} available with {pending} of {limit} pending"
    if (queue["active_operation"] is not None) != bool(active):
        return "queue: active_operation does not fit active"
    return "" if results["location"] == "volume" else f"results: location is {results['location']!r}"


def agreement_fault(bodies: Sequence[Snapshot]) -> str:
    """What the snapshots, in the order they were asked for, contradict each other in; empty where nothing."""
    for part, names in CONSTANT:
        for name in names:
            if len({str(body[part][name]) for body in bodies}) > 1:
                return f"{part}.{name} differs"
    for name in COUNTERS:
        counts = [int(str(body["queue"][name])) for body in bodies]
        if counts != sorted(counts):
            return f"queue.{name} went back: {counts}"
    return ""


def absence(url: str) -> str:
    """A sentence where nothing answers at `url`, the one server that needs no check; else empty."""
    try:
        answer = ask(f"{url}/health", "GET", "") if url.startswith(("http://", "https://")) else None
    except (ValueError, HTTPException):
        answer = None
    if answer is None:
        return f"{url} is no address of a web server; give one like URL=http://127.0.0.1:8000."
    if answer.status:
        return ""
    return f"Nothing answers at {url} ({answer.body}); start the server, or name another with URL=http://host:port."


def check(url: str, key: str) -> Iterator[Finding]:
    """Every check of the server at `url`."""
    bodies: list[Snapshot] = []
    for path in SNAPSHOTS:
        answer = ask(url + path, "GET", key)
        yield from _reached(url, path, key, answer)
        yield from _check_snapshot(path, answer, bodies)
    agreed = agreement_fault(bodies) if len(bodies) == len(SNAPSHOTS) else "not all could be read"
    yield Finding("the three agree", agreed)
    for path in DOCUMENTS:
        answer = ask(url + path, "GET", key)
        yield from _reached(url, path, key, answer)
        yield Finding(f"{path} tells of {DOCUMENTS[path]}", _lacks(answer.body, DOCUMENTS[path]))


def _reached(url: str, path: str, key: str, got: Answer) -> Iterator[Finding]:
    """Whether GET and HEAD of a path both succeeded."""
    head = ask(url + path, "HEAD", key)
    for method, answer in (("GET", got), ("HEAD", head)):
        yield Finding(
            f"{method} {path}", "" if answer.status == 200 else f"{answer.status} {answer.body or ''}".strip()
        )


def _check_snapshot(path: str, answer: Answer, bodies: list[Snapshot]) -> Iterator[Finding]:
    """Check one snapshot, and add it to `bodies` where it has the right shape."""
    caching = answer.headers.get("cache-control", "none")
    yield Finding(f"{path} is not cached", "" if "no-store" in caching else f"Cache-Control: {caching}")
    fault = shape_fault(answer.body)
    if not fault and isinstance(answer.body, dict):
        bodies.append(answer.body)
        fault = sum_fault(answer.body)
    yield Finding(f"{path} has its keys and adds up", fault)


def _lacks(body: object, name: str) -> str:
    return "" if isinstance(body, dict) and name in body else f"no {name}"


def table(findings: list[Finding]) -> str:
    """The findings as text."""
    width = max(len(finding.check) for finding in findings)
    return "\n".join(f"{finding.check:<{width}}  {finding.fault or 'ok'}" for finding in findings)


def main(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Run the checks; 0 where all succeeded."""
    parser = argparse.ArgumentParser(prog="tests.api_check", description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", default=environ.get("STUDIO_API_KEY", ""), help="a key, where one is wanted")
    chosen = parser.parse_args(arguments)
    absent = absence(chosen.url.rstrip("/"))
    if absent:
        print(absent, file=sys.stderr)
        return 1
    findings = list(check(chosen.url.rstrip("/"), chosen.key))
    failed = sum(bool(finding.fault) for finding in findings)
    print(table(findings))
    print(f"{len(findings) - failed} of {len(findings)} checks of {chosen.url} succeeded")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
