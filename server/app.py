"""The ASGI application: routes behind the edge, and the life of the parts around them."""

import asyncio
import contextlib
import gc
import logging
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from starlette.routing import BaseRoute, Router
from starlette.types import ASGIApp

from server.access import HostRule, Keys, OriginRule, PublicPaths
from server.agents.links import ARTIFACTS_PATH
from server.edge import Admittance, Edge
from server.parts import Parts
from server.rates_file import save_rates
from server.settings import Settings

PUBLIC_PATHS = frozenset({"/", "/health", "/session", "/favicon.ico", "/register"})
# Whoever has a link may open it. Of the others there are none: agents' clients that lack a key look there for another
# way to sign in, and 401 would let them look on.
PUBLIC_PREFIXES = (f"{ARTIFACTS_PATH}/", "/.well-known/")
QUIET_PATHS = ("/health", "/status", "/system/queue", "/metrics")
SWEEP_SECONDS = 30.0
SWITCH_INTERVAL_SECONDS = 0.001
OLD_GENERATION_THRESHOLD = 1000  # a full collection stops every thread; the worker makes one between jobs
WORKER_STOP_SECONDS = 5.0
_log = logging.getLogger(__name__)


def build_app(parts: Parts, routes: Sequence[BaseRoute]) -> ASGIApp:
    """The application over these parts. Raises OSError where the data folder cannot hold the cookies' secret."""

    @contextlib.asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        parts.watch.bind(loop)
        parts.worker.start()
        tasks = [asyncio.create_task(sweep_for_ever(parts)), asyncio.create_task(parts.metrics.watch_loop())]
        for task in tasks:
            task.add_done_callback(tell_of_an_early_end)
        _settle_interpreter()
        try:
            yield
        finally:
            await stop(parts)
            await _cancel(tasks)

    router = Router(list(routes), redirect_slashes=False, lifespan=lifespan)
    return Edge(router, admittance(parts.settings, parts.keys), draw_request_id, QUIET_PATHS)


def admittance(settings: Settings, keys: Keys) -> Admittance:
    """Who may call this server, and with what."""
    return Admittance(
        HostRule.of(settings.host, socket.gethostname(), settings.allowed_hosts),
        OriginRule(frozenset(settings.allowed_origins)),
        keys,
        PublicPaths(PUBLIC_PATHS, PUBLIC_PREFIXES),
    )


def draw_request_id() -> str:
    """An id for a request that brought none."""
    return secrets.token_hex(8)


def _settle_interpreter() -> None:
    """Short thread switches and a frozen heap keep the loop prompt beside a busy worker (measured in bench/)."""
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, OLD_GENERATION_THRESHOLD)


def tell_of_an_early_end(task: asyncio.Task[None]) -> None:
    """Log a task that was to run as long as the server and did not."""
    if not task.cancelled() and task.exception() is not None:
        _log.error("a task of the server ended", exc_info=task.exception())


async def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def sweep_for_ever(parts: Parts, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
    """Remove what has expired and keep the learnt rates, every 30 s; a failure is logged and tried again."""
    while True:
        await pause(SWEEP_SECONDS)
        try:
            await _tidy(parts)
        except OSError:
            _log.exception("the sweep failed; it is tried again in %.0f s", SWEEP_SECONDS)


async def _tidy(parts: Parts) -> None:
    """Remove what has expired, write what the disk refused before, keep the learnt rates. Raises OSError."""
    for store in (parts.store, parts.artifacts):
        expired = await parts.limits.run(store.sweep)
        if expired:
            _log.info("%d results or records of jobs have expired", expired)
    await parts.limits.run(lambda: save_rates(parts.rates, parts.settings.data_directory))


def begin_stop(parts: Parts) -> None:
    """Stop admission and take the queued jobs out; the active one is asked to stop. Safe to repeat."""
    parts.book.close()
    parts.watch.notify()


async def stop(parts: Parts) -> None:
    """Wait for the worker to finish its writes; the caller leaves by force where it does not return."""
    await parts.attendance.close()
    await parts.limits.run(lambda: begin_stop(parts))
    ended = await parts.limits.run(lambda: parts.worker.stop(WORKER_STOP_SECONDS))
    if not ended:
        _log.error("the worker did not return within %.0f s; leaving without it", WORKER_STOP_SECONDS)
    try:
        await _tidy(parts)
    except OSError:
        _log.exception("some records or the learnt rates could not be kept")
    parts.watch.unbind()
