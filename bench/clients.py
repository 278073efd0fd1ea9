"""How soon speech is heard through OpenAI's own client, against a bare server that has it ready.

`python -m bench.clients [--full]`. A server process of the product is asked by the official `openai` package for a long
text as it streams; the time counts from the call to the first bytes of sound, the making of the client's request and a
connection included. The job is then cancelled. The rival, asked in turns with it, sends the same speech from a file:
what the client itself takes.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from openai import OpenAI

from bench.floors import bare
from bench.processes import Server, free_port, on_port
from bench.report import Bar, Row, begin, end, is_full, percentile
from bench.sound.texts import TALK

HEAD_BYTES = 64  # what comes after is sound
WARM_CALLS = 20
FIRST = Bar(200.0)
Ways = Mapping[str, Callable[[], float]]


def client_of(server: Server) -> OpenAI:
    """The official client, that tries once."""
    return OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="any", max_retries=0)


def first_sound(
    server: Server, client: OpenAI, form: Literal["mp3", "wav"], events: bool = False
) -> tuple[float, str]:
    """Milliseconds from the call to the first bytes of sound, and the job's id, empty where the server names none."""
    started = time.perf_counter()
    with client.audio.speech.with_streaming_response.create(
        model="tts-1",
        voice="alloy",
        input=TALK,
        response_format=form,
        stream_format="sse" if events else "audio",
    ) as answer:
        _read_head(answer.iter_bytes())
        taken = (time.perf_counter() - started) * 1e3
        return taken, answer.headers.get("x-yue2-job-id", "")


def _read_head(chunks: Iterable[bytes]) -> None:
    """Read as much as a file's head, and something; RuntimeError where there is not so much."""
    received = 0
    for chunk in chunks:
        received += len(chunk)
        if received > HEAD_BYTES:
            return
    raise RuntimeError(f"the answer ended after {received} bytes")


def cancelled(server: Server, id: str) -> None:
    """Cancel a job and wait for its end, so that the next one finds the worker free."""
    server.ask("POST", f"/job?id={id}&cancel=1")
    while json.loads(server.ask("GET", f"/job?id={id}&wait=10")[1])["status"] in ("queued", "running"):
        continue


def ways_to(product: Server, floor: Server) -> Ways:
    """Each way of asking, by its name; a call gives milliseconds."""
    client, bare_client = client_of(product), client_of(floor)

    def heard(form: Literal["mp3", "wav"], events: bool = False) -> float:
        taken, id = first_sound(product, client, form, events)
        cancelled(product, id)
        return taken

    return {
        "first sound, mp3": lambda: heard("mp3"),
        "first sound, wav": lambda: heard("wav"),
        "first sound, events": lambda: heard("mp3", events=True),
        "bare server, the same file": lambda: first_sound(floor, bare_client, "mp3")[0],
    }


def in_turns(ways: Ways, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each way in each round, after one that does not count."""
    for call in ways.values():
        call()
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            found[name].append(call())
    return found


def measured(rounds: int) -> dict[str, list[float]]:
    """The same against a fresh server of each kind."""
    with TemporaryDirectory() as folder:
        directory, port = Path(folder), free_port()
        command = ["-m", "server", "serve", "--port", str(port)]
        environ = {"YUE2_RESULT_DIR": str(directory / "jobs")}
        with on_port(command, environ, port) as product:
            file = directory / "speech.mp3"
            spoken = client_of(product).audio.speech.create(model="tts-1", voice="alloy", input=TALK)
            spoken.write_to_file(file)
            with bare("app", file) as floor:
                return in_turns(ways_to(product, floor), rounds)


def rows(samples: Mapping[str, Sequence[float]]) -> list[Row]:
    """The table: medians, and what one call in twenty exceeds; both are held against the bar."""
    return [
        Row(
            f"{name}, p{share * 100:g}",
            percentile(taken, share),
            "ms",
            FIRST if name.startswith("first sound") else None,
        )
        for name, taken in samples.items()
        for share in (0.5, 0.95)
    ]


def main() -> int:
    """Measure warm calls, and hold them against the bar."""
    rounds = 3 * WARM_CALLS if is_full(__doc__ or "") else WARM_CALLS
    report = begin("clients", f"{rounds} warm calls of each, in turns, through the openai package")
    samples = measured(rounds)
    return report.conclude(rows(samples), samples)


if __name__ == "__main__":
    end(main)
