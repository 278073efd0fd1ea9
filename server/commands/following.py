"""A job on a running server, shown on the bar until it is done and cancelled where the caller is interrupted."""

from server.client import Client, ClientError, JobUpdate
from server.commands.bar import Bar
from server.commands.endings import say

LOOK_SECONDS = 2.0  # between two looks at a job, so that the bar moves


def followed(client: Client, id: str, bar: Bar) -> JobUpdate:
    """The job as it is when it is done. Raises ClientError."""
    try:
        return client.follow(id, lambda update: _show(update, bar), LOOK_SECONDS)
    except KeyboardInterrupt:
        _cancel(client, id)
        raise


def seconds_of(update: JobUpdate) -> float | None:
    """Length of the first track, where the server tells it."""
    match update.tracks:
        case {"items": [{"seconds": float() | int() as seconds}, *_]}:
            return float(seconds)
    return None


def _cancel(client: Client, id: str) -> None:
    try:
        client.cancel(id)
    except ClientError as error:
        say(f"The server may go on with it: {error}")


def _show(update: JobUpdate, bar: Bar) -> None:
    place = f"waiting, place {update.queue_position}"
    phase = place if update.status == "queued" else update.phase or update.status
    counted = {name: count for name, count in (update.counters or {}).items() if isinstance(count, int)}
    bar.report(phase, update.progress or 0.0, **counted)
