"""What MCP costs: its calls beside the native API's, /health while agents wait and are refused, the start of the server.

`python -m bench.agents [--full]`. Calls go in turns: the official SDK's client in each era, and a bare HTTP client that
asks the native API for the same over one kept connection; what counts is by how much the one takes longer than the other
in the same round. Songs are accepted behind a job that lasts, and then cancelled. /health is probed (`bench.probe`) while
eight agents wait in job_status, both eras, and every two seconds 32 calls of create_song arrive together and are refused.
The start is the processor time of importing all that `yue2-studio serve` imports, with the SDK and with a stand-in for
it, in turns.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from bench.agent_calls import (
    LEGACY,
    MODERN,
    MODES,
    Arguments,
    BareClient,
    SdkClient,
    call_bytes,
    more,
    sdk_client,
    told,
    was_refused,
)
from bench.clients import Ways, cancelled, in_turns
from bench.floors import bare, random_file
from bench.health import BURST_SECONDS, Pressed, answer_rows, check_present, count_rows, count_samples
from bench.load import BLOCKING, REFUSED, refused_together, still_open
from bench.probe import METHOD, Probe, Probed
from bench.processes import ROOT, Server, check_server
from bench.report import Bar, Row, begin, end, is_full, percentile

SONG: dict[str, JsonValue] = {
    "style": "folk, 96 BPM",
    "lyrics": "[Verse]\nThe river runs below the hill",
    "duration": 20,
}
AGENTS = 8
ENVIRON = {"YUE2_QUEUE_LIMIT": "12"}
BUSY = "eight agents waiting"
MORE = {0.5: Bar(15.0), 0.95: Bar(40.0)}
NATIVE = "native"
STATUS, JOB, ACCEPTED = "server_status", "job_status", "create_song accepted"
IMPORT = Bar(0.8)
IMPORTED = """
import sys, time
if sys.argv[1] == "without":
    from bench.stand_in import stand_in_for
    stand_in_for("mcp", "mcp_types")
before = time.process_time()
import server.serve
taken = time.process_time() - before
if sys.argv[1] == "with" and "mcp" not in sys.modules:
    raise SystemExit("the server does not import the SDK any more")
print(taken)
"""


def asked(client: SdkClient, tool: str, arguments: Arguments) -> float:
    """Milliseconds of a call whose answer is not looked at."""
    return client.timed(tool, arguments)[0]


def ways_to(server: Server, clients: Mapping[str, SdkClient], native: BareClient, job: str) -> Ways:
    """Each call by its name and era; it gives milliseconds, and leaves the queue as it was."""

    def sung(client: SdkClient) -> float:
        taken, answer = client.timed("create_song", SONG)
        cancelled(server, str(told(answer)["job_id"]))
        return taken

    def sung_natively() -> float:
        taken, answer = native.timed("POST", "/synth", SONG)
        cancelled(server, str(json.loads(answer)["id"]))
        return taken

    ways: dict[str, Callable[[], float]] = {
        f"{STATUS}, {NATIVE}": lambda: native.timed("GET", "/status")[0],
        f"{JOB}, {NATIVE}": lambda: native.timed("GET", f"/job?id={job}")[0],
        f"{ACCEPTED}, {NATIVE}": sung_natively,
    }
    for era, client in clients.items():
        ways[f"{STATUS}, {era}"] = partial(asked, client, "server_status", {})
        ways[f"{JOB}, {era}"] = partial(asked, client, "job_status", {"job_id": job})
        ways[f"{ACCEPTED}, {era}"] = partial(sung, client)
    return ways


def calls(server: Server, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each call in each round, behind a job that lasts."""
    blocking = server.submit("/check", BLOCKING)
    with ExitStack() as open_:
        clients = {era: open_.enter_context(sdk_client(server, mode)) for era, mode in MODES.items()}
        native = BareClient(server)
        open_.callback(native.close)
        found = in_turns(ways_to(server, clients, native, blocking), rounds)
    cancelled(server, blocking)
    return found


def call_rows(samples: Mapping[str, Sequence[float]]) -> Iterator[Row]:
    """What each call takes, and how much more than the native one, against the bars."""
    for call in (STATUS, JOB, ACCEPTED):
        floor = samples[f"{call}, {NATIVE}"]
        yield Row(f"{call}, {NATIVE}, p50", percentile(floor, 0.5), "ms")
        for era in MODES:
            taken = samples[f"{call}, {era}"]
            yield Row(f"{call}, {era}, p50", percentile(taken, 0.5), "ms")
            for share, bar in MORE.items():
                longer = percentile(more(taken, floor), share)
                yield Row(f"{call}, {era}: more than native, p{share * 100:g}", longer, "ms", bar)


@contextmanager
def agents_waiting(server: Server) -> Iterator[Sequence[socket.socket]]:
    """Eight agents' jobs behind one that lasts, and as many connections on which one waits for its job."""
    blocking = server.submit("/check", BLOCKING)
    with ExitStack() as open_:
        client = open_.enter_context(sdk_client(server, MODERN))
        jobs = [str(told(client.timed("create_song", SONG)[1])["job_id"]) for _ in range(AGENTS)]
        waiting = []
        for number, job in enumerate(jobs):
            connection = open_.enter_context(server.connect())
            version = (LEGACY, MODERN)[number % 2]
            connection.sendall(call_bytes(version, "job_status", {"job_id": job, "wait_seconds": 45}))
            waiting.append(connection)
        yield waiting
        for job in jobs:
            server.ask("POST", f"/job?id={job}&cancel=1")
    cancelled(server, blocking)


def unanswered(server: Server, waiting: Sequence[socket.socket]) -> int:
    """How many of them still wait: the server holds the connection and has said nothing on it."""
    silent = []
    for connection in waiting:
        connection.setblocking(False)
        try:
            connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            silent.append(connection)
    return still_open(server, silent)


def under_agents(server: Server, seconds: float) -> Pressed:
    """Probe while eight agents wait and others are refused; RuntimeError where they did not."""
    songs = [call_bytes(version, "create_song", SONG) for version in (LEGACY, MODERN)]
    with agents_waiting(server) as waiting:
        probe = Probe(server.port, seconds)
        refused = 0
        while not probe.has_ended_within(BURST_SECONDS):
            song = songs[refused // REFUSED % 2]
            refused += refused_together(partial(was_refused, server, song))
        counts = {"agents waiting": float(unanswered(server, waiting)), "calls refused": float(refused)}
    check_present(counts)
    return Pressed(probe.probed(), counts)


def import_seconds(which: str) -> float:
    """Processor seconds of importing the server `with` the SDK or `without` it; RuntimeError where that failed."""
    command = [sys.executable, "-c", IMPORTED, which]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if ran.returncode:
        raise RuntimeError(f"importing the server {which} the SDK failed: {ran.stderr.strip()[-300:]}")
    return float(ran.stdout)


def imports(rounds: int) -> dict[str, list[float]]:
    """Processor seconds of both, in turns."""
    names = {"import with the SDK": "with", "import without it": "without"}
    return in_turns({name: partial(import_seconds, which) for name, which in names.items()}, rounds)


def import_rows(samples: Mapping[str, Sequence[float]]) -> Iterator[Row]:
    """Medians, and the difference against the bar."""
    with_, without = (percentile(taken, 0.5) for taken in samples.values())
    for name, taken in samples.items():
        yield Row(name, percentile(taken, 0.5), "s", spread=(min(taken), max(taken)))
    yield Row("import: the SDK's part", with_ - without, "s", IMPORT)


def main() -> int:
    """Measure in turns and hold the results against the bars; each round of /health has a fresh server."""
    full = is_full(__doc__ or "")
    rounds, seconds, repeated = (5, 40.0, 200) if full else (2, 20.0, 60)
    report = begin("agents", f"calls in turns; {METHOD}")
    taken, started = {}, imports(9 if full else 5)
    turns: dict[str, list[Probed]] = {"bare": [], "idle": [], BUSY: []}
    counts: list[dict[str, float]] = []
    for number in range(rounds):
        with TemporaryDirectory() as folder, ExitStack() as servers:
            floor = servers.enter_context(bare("app", random_file(Path(folder), 1000)))
            product = servers.enter_context(check_server(Path(folder) / "output", ENVIRON))
            if not number:
                taken = calls(product, repeated)
            turns["bare"].append(Probe(floor.port, seconds / 5).probed())
            turns["idle"].append(Probe(product.port, seconds / 5).probed())
            pressed = under_agents(product, seconds)
            turns[BUSY].append(pressed.probed)
            counts.append(pressed.counts)
    samples = {
        f"{name}, round {n}": turn.answers for name, all_ in turns.items() for n, turn in enumerate(all_, 1)
    }
    health = [row for name, probed in turns.items() for row in answer_rows(name, probed, BUSY)]
    rows = [*call_rows(taken), *health, *count_rows(counts), *import_rows(started)]
    return report.conclude(rows, {**samples, **taken, **started, **count_samples(counts)})


if __name__ == "__main__":
    end(main)
