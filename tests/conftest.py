"""For the whole suite: a test that skips itself fails the run, unless tests/skips.txt names it with a reason."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

gc.disable()  # while modules are imported and tests collected: all of that stays, and looking at it takes seconds

# What is compiled here is kept in `__pycache__`, also where the environment says otherwise: the tests are as many lines
# as the product is, pytest writes their assertions anew, and each command that a test starts would compile its own.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ALLOWED = Path(__file__).parent / "skips.txt"


def allowed_skips(text: str) -> set[str]:
    """The tests of a list of `path::test  reason` lines; `#` begins a comment. Raises ValueError without a reason."""
    allowed = set()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        test, _, reason = line.partition(" ")
        if not reason.strip():
            raise ValueError(f"{test} is to be skipped without a reason")
        allowed.add(test)
    return allowed


class SkipGuard:
    """Owner of the list of skipped tests of one run; fails the run for those that are not allowed."""

    def __init__(self, allowed: set[str]) -> None:
        self._allowed = allowed
        self._unexpected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a skipped test."""
        self._note(report.nodeid, skipped=report.skipped)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that was skipped as a whole."""
        self._note(report.nodeid, skipped=report.skipped)

    def _note(self, nodeid: str, *, skipped: bool) -> None:
        if skipped and nodeid.partition("[")[0] not in self._allowed:
            self._unexpected.append(nodeid)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Turn a run that would succeed into a failed one."""
        if self._unexpected and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        yield

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which, and what to do."""
        for nodeid in self._unexpected:
            terminalreporter.write_line(
                f"SKIPPED without leave: {nodeid}; name it in tests/skips.txt or mend it"
            )


def pytest_configure(config: pytest.Config) -> None:
    """Set the guard up."""
    config.pluginmanager.register(SkipGuard(allowed_skips(ALLOWED.read_text(encoding="utf-8"))), "skip-guard")


def pytest_collection_finish() -> None:
    """From here on what a test leaves behind is looked for, and not what the suite consists of."""
    gc.freeze()
    gc.enable()
