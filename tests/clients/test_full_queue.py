"""A full queue is waited for by the clients themselves, five seconds, and each call has one job then."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.clients.heard import hear
from tests.clients.held import HeldSpeech, Pause
from tests.clients.npm import run, seconds_of
from tests.clients.speaking import BLOCKER, CALLS, SECONDS, SPEECH, speaking
from tests.clients.studio import Exchange

pytestmark = pytest.mark.runtime


def who(exchange: Exchange) -> str:
    """The client by its name; a request that is refused at its headers has no body to tell it by."""
    return exchange.headers["user-agent"]


def test_every_client_tries_again_when_it_was_told_to(tmp_path: Path) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, HeldSpeech({0: pause}), queue_limit="3") as studio,
        ThreadPoolExecutor(8) as pool,
        pause,
    ):
        blockers = [studio.speak(BLOCKER) for _ in range(3)]
        pause.wait_until_reached()
        calls = [pool.submit(call, studio.url, f"Call {name}.") for name, call in CALLS.items()]
        by_npm = pool.submit(run, studio.url, "speak")
        refused = studio.witness.wait(SPEECH, lambda seen: len(seen) == 3 and all(one.ended for one in seen))
        assert [one.status for one in refused] == [429] * 3
        assert studio.jobs == 3
        pause.release()
        assert [studio.finish(job_id)["status"] for job_id in blockers] == ["done"] * 3
        for made in calls:
            assert hear(made.result()).seconds == pytest.approx(0.5, abs=0.01)
        assert seconds_of(by_npm.result()) == pytest.approx(SECONDS, abs=0.01)
        posts = studio.witness.posts(SPEECH)
        assert [(one.attempt, one.status) for one in posts] == [("0", 429)] * 3 + [("1", 200)] * 3
        for first in posts[:3]:
            second = next(one for one in posts[3:] if who(one) == who(first))
            assert 4.5 < second.began - first.began < 20
        assert studio.jobs == 6
