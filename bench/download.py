"""How fast results are downloaded, and what publishing and downloading weigh.

`python -m bench.download [--full]`. The product, the bare copy from file to socket and starlette's own FileResponse
take turns, with the interpreter idle and beside pure Python. Rates are the best of the rounds; of weight counts the
largest growth, each time of a server that has only just started.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from pydantic import JsonValue

from bench.floors import bare, random_file, transfer_rate
from bench.processes import Scales, Server, awake, check_server
from bench.report import Bar, Row, begin, end, is_full

RESULT_BYTES = 200_000_000
PARALLEL = 4
IDLE_BAR = Bar(0.8, at_most=False)
BUSY_BAR = Bar(0.15, at_most=False)
GROWTH_BAR = Bar(16.0)
DOWNLOAD_SECONDS = 60.0
STOCK_SECONDS = 2.0  # beside pure Python the stock answer is too slow to wait for its end
PUBLICATION: dict[str, JsonValue] = {"seconds": 0, "mode": "write", "bytes": RESULT_BYTES}
SPINNING: dict[str, JsonValue] = {"seconds": 600, "mode": "spin", "bytes": 1}


def publish(server: Server) -> str:
    """The id of a stored result of 200 MB."""
    id = server.submit("/check", PUBLICATION)
    server.finish(id)
    return id


def taken(floor: Server, product: Server, stock: Server, stored: str, rounds: int) -> dict[str, list[float]]:
    """MB/s of each server, in turns; whoever has not the turn sleeps."""
    turns = {
        "bare": (floor, "/file", 5.0),
        "product": (product, f"/job?id={stored}&result=1", 5.0),
        "FileResponse": (stock, "/file", STOCK_SECONDS),
    }
    rates: dict[str, list[float]] = {name: [] for name in turns}
    for server in (floor, product, stock):
        psutil.Process(server.pid).suspend()
    for _ in range(rounds):
        for name, (server, path, seconds) in turns.items():
            with awake(server):
                rates[name].append(transfer_rate(server, path, seconds))
    psutil.Process(product.pid).resume()
    return rates


def rates_rows(when: str, rates: Mapping[str, Sequence[float]], bar: Bar) -> list[Row]:
    """The best of each, and what share of the floor the product reaches."""
    rows = [Row(f"{name}, {when}", max(turns), "MB/s") for name, turns in rates.items()]
    share = max(rates["product"]) / max(rates["bare"])
    return [*rows, Row(f"product of bare, {when}", share, "", bar)]


def weigh() -> dict[str, float]:
    """MB that a fresh server grows by while it publishes 200 MB, and another while it sends them four times at once."""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        with check_server(output) as server, Scales(server.pid) as publishing:
            id = publish(server)
        with check_server(output) as server, Scales(server.pid) as sending:
            download_together(server, id)
    return {
        "growth while publishing 200 MB": publishing.growth_megabytes,
        "growth during four downloads": sending.growth_megabytes,
    }


def download_together(server: Server, stored: str) -> None:
    """Take four downloads at once, to their ends."""
    path = f"/job?id={stored}&result=1"
    with ThreadPoolExecutor(PARALLEL) as readers:
        list(readers.map(lambda _: transfer_rate(server, path, DOWNLOAD_SECONDS), range(PARALLEL)))


def growth_rows(samples: Mapping[str, Sequence[float]]) -> list[Row]:
    """The largest of each kind of growth: memory must suffice every time."""
    return [Row(name, max(turns), "MB", GROWTH_BAR) for name, turns in samples.items()]


def main() -> int:
    """Measure weight, idle and busy, the three servers in turns."""
    rounds = 7 if is_full(__doc__ or "") else 3
    report = begin("download", "rates the best of the rounds, growth the largest")
    weights = [weigh() for _ in range(rounds)]
    growth = {name: [weight[name] for weight in weights] for name in weights[0]}
    with TemporaryDirectory() as folder, ExitStack() as servers:
        directory = Path(folder)
        file = random_file(directory, RESULT_BYTES)
        product = servers.enter_context(check_server(directory / "output"))
        stored = publish(product)
        with bare("socket", file) as floor, bare("app", file) as stock:
            idle = taken(floor, product, stock, stored, rounds)
        spinning = product.submit("/check", SPINNING)
        with bare("socket", file, busy=True) as floor, bare("app", file, busy=True) as stock:
            busy = taken(floor, product, stock, stored, rounds)
        product.ask("POST", f"/job?id={spinning}&cancel=1")
    rows = [*rates_rows("idle", idle, IDLE_BAR), *rates_rows("beside pure Python", busy, BUSY_BAR)]
    samples = {
        f"{name}, {when}": turns
        for when, rates in (("idle", idle), ("busy", busy))
        for name, turns in rates.items()
    }
    return report.conclude([*rows, *growth_rows(growth)], {**samples, **growth})


if __name__ == "__main__":
    end(main)
