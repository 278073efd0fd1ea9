"""How promptly /health answers while everything happens at once.

`python -m bench.health [--full]`. In each round a process of its own probes a bare server, then the idle product, then
the product while, for the whole round: songs of a minute and a half are sung and played one after another, a minute of text is
spoken, twenty seconds of speech written down, results of 200 MB published, and pure-Python jobs run, in turns on the one worker; 8 synchronous requests wait; every two seconds
32 posts arrive together and are refused; 4 downloads are stalled; 50 connections have sent half a request. Then, on the
same server, while eight calls of OpenAI's API wait in the queue and 32 more arrive together and are refused every two seconds. The table
counts what there was of it, in the round that had least. A probe is planned every 5 ms and timed from that instant (`bench.probe`), so a
stall counts for all the probes that it delays.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.floors import bare, random_file
from bench.load import (
    PUBLICATION,
    PUBLICATIONS,
    QUEUE_LIMIT,
    RESULT_BYTES,
    SONGS,
    SPEECHES,
    TRANSCRIPTS,
    Feeders,
    burst,
    call_was_refused,
    calls_waiting,
    done_within,
    half_open,
    held,
    refused_together,
    seconds_within,
    spoken,
    stalled,
    still_open,
    synchronous_waiters,
)
from bench.probe import METHOD, Probe, Probed
from bench.processes import MEGABYTE, Server, check_server
from bench.report import Bar, Row, begin, end, is_full, percentile

STALLED = 4
HALF_OPEN = 50
BURST_SECONDS = 2.0
ENVIRON = {"YUE2_QUEUE_LIMIT": str(QUEUE_LIMIT), "YUE2_RESULT_MAX_FILES": "10000"}
BUSY = "everything at once"
WAITING = "eight compatible calls waiting"
BARS = {0.5: None, 0.99: Bar(10.0), 0.999: Bar(25.0), 1.0: None}
UNITS = {
    **{f"{name} in the worker": "s" for name in (SONGS, SPEECHES, TRANSCRIPTS, PUBLICATIONS)},
    "published": "MB",
    "length of the round": "s",
}


@dataclass(frozen=True, slots=True)
class Pressed:
    """A server that was probed under load: what the probe found, and how much there was of what."""

    probed: Probed
    counts: dict[str, float]


def under_load(server: Server, seconds: float) -> Pressed:
    """Probe while everything happens at once; RuntimeError where some of it did not."""
    recording = spoken(server)  # before all places for downloads are taken
    stored = server.submit("/check", PUBLICATION)
    server.finish(stored)
    with ExitStack() as load:
        halves = load.enter_context(held([half_open(server) for _ in range(HALF_OPEN)]))
        readers = load.enter_context(held([stalled(server, stored) for _ in range(STALLED)]))
        feeders = load.enter_context(Feeders(server, recording))
        feeders.settle()
        probed, counts = probed_through_bursts(server, seconds)
        counts["stalled downloads held"] = still_open(server, readers)
        counts["half requests held"] = still_open(server, halves)
    counts |= counts_of_work(feeders, probed)
    check_present(counts)
    return Pressed(probed, counts)


def under_calls(server: Server, seconds: float) -> Pressed:
    """Probe while eight compatible calls wait in the queue and others are refused; RuntimeError where they did not."""
    with calls_waiting(server) as calls:
        probe = Probe(server.port, seconds)
        refused, waiting = 0, [synchronous_waiters(server)]
        while not probe.has_ended_within(BURST_SECONDS):
            refused += refused_together(lambda: call_was_refused(server))
            waiting.append(synchronous_waiters(server))
        counts = {
            "calls waiting": float(min(waiting)),
            "calls refused": float(refused),
            "calls held to the end": float(still_open(server, calls)),
        }
    check_present(counts)
    return Pressed(probe.probed(), counts)


def check_present(counts: dict[str, float]) -> None:
    """RuntimeError where a part of the load was not there at all."""
    if missing := [name for name, count in counts.items() if not count]:
        raise RuntimeError(f"the load lacked: {', '.join(missing)}; measure for longer")


def probed_through_bursts(server: Server, seconds: float) -> tuple[Probed, dict[str, float]]:
    """Probe, with a burst every two seconds; what the bursts saw is counted."""
    probe = Probe(server.port, seconds)
    refused, waiting = [burst(server)], [synchronous_waiters(server)]
    while not probe.has_ended_within(BURST_SECONDS):
        waiting.append(synchronous_waiters(server))
        refused.append(burst(server))
    return probe.probed(), {"posts refused": sum(refused), "synchronous requests waiting": min(waiting)}


def counts_of_work(feeders: Feeders, probed: Probed) -> dict[str, float]:
    """What the worker did while the probe ran; seconds, MB and counts."""
    round_ = probed.began, probed.ended
    publications = feeders.works(PUBLICATIONS)
    sound = {name: feeders.works(name) for name in (SONGS, SPEECHES, TRANSCRIPTS)}
    return {
        "synchronous requests answered": feeders.answered(),
        **{f"{name} ended": done_within(works, *round_) for name, works in sound.items()},
        **{f"{name} in the worker": seconds_within(works, *round_) for name, works in sound.items()},
        "published": done_within(publications, *round_) * RESULT_BYTES / MEGABYTE,
        "publications in the worker": seconds_within(publications, *round_),
        "length of the round": probed.ended - probed.began,
        "probes": len(probed.answers),
    }


def main() -> int:
    """Measure in turns and hold the best round against the bars; each round has a fresh server."""
    rounds, seconds = (5, 45.0) if is_full(__doc__ or "") else (2, 40.0)
    report = begin("health", METHOD)
    turns: dict[str, list[Probed]] = {"bare": [], "idle": [], BUSY: [], WAITING: []}
    counts: list[dict[str, float]] = []
    for _ in range(rounds):
        with TemporaryDirectory() as folder, ExitStack() as servers:
            file = random_file(Path(folder), 1000)
            floor = servers.enter_context(bare("app", file))
            product = servers.enter_context(check_server(Path(folder) / "output", ENVIRON))
            turns["bare"].append(Probe(floor.port, seconds / 5).probed())
            turns["idle"].append(Probe(product.port, seconds / 5).probed())
            pressed = under_load(product, seconds)
            called = under_calls(product, seconds / 2)
            turns[BUSY].append(pressed.probed)
            turns[WAITING].append(called.probed)
            counts.append(pressed.counts | called.counts)
    samples = {
        f"{name}, round {number}": turn.answers
        for name, all_ in turns.items()
        for number, turn in enumerate(all_, 1)
    }
    rows = [
        row
        for name, taken in turns.items()
        for row in answer_rows(name, taken, WAITING if name == WAITING else BUSY)
    ]
    return report.conclude([*rows, *count_rows(counts)], {**samples, **count_samples(counts)})


def answer_rows(name: str, turns: Sequence[Probed], held: str = BUSY) -> Iterator[Row]:
    """The best round of each percentile, against the bars for the name that is held to them; the probe's own part in it."""
    for share, bar in BARS.items():
        best = min(percentile(turn.answers, share) for turn in turns)
        label = "longest" if share == 1 else f"p{share * 100:g}"
        yield Row(f"{name}, {label}", best, "ms", bar if name == held else None)
    late = min(percentile(turn.wakings, 0.999) for turn in turns)
    yield Row(f"{name}, probe woke late, p99.9", late, "ms")


def count_rows(counts: Sequence[dict[str, float]]) -> list[Row]:
    """What every round had at least."""
    return [
        Row(f"load: {name}", min(values), UNITS.get(name, ""))
        for name, values in count_samples(counts).items()
    ]


def count_samples(counts: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """The counts of all rounds, by name."""
    return {name: [one[name] for one in counts] for name in counts[0]}


if __name__ == "__main__":
    end(main)
