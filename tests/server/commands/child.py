"""Processes of tests: Ctrl-C reaches them also where the tests themselves ignore it, and none outlives its test."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
LOGIN = "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, '-m', 'server', *sys.argv[1:]])"


@contextmanager
def child(arguments: Sequence[str], environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """`python -m server` with output to read; killed at the end of the block where it still runs."""
    with _interruptible():
        process = subprocess.Popen(
            [sys.executable, "-m", "server", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
            cwd=ROOT,
        )
    with process:
        try:
            yield process
        finally:
            process.kill()


class Terminal:
    """Owner of a process at a terminal of its own, and of that terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process = process
        self._master = master
        self.shown = b""

    def type(self, keys: bytes) -> None:
        """Press them."""
        os.write(self._master, keys)

    def until(self, words: bytes) -> None:
        """Return once the words are on the terminal; AssertionError where they do not come."""
        while words not in self.shown:
            assert self._shows_more(), self.shown

    def ended(self) -> int:
        """The exit code; AssertionError where the process goes on."""
        while self._shows_more():
            pass
        return self.process.wait(60)

    def _shows_more(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 60)
        assert ready, self.shown
        try:
            more = os.read(self._master, 4096)
        except OSError:  # how Linux says that the last process has left the terminal
            more = b""
        self.shown += more
        return bool(more)


@contextmanager
def child_at_terminal(arguments: Sequence[str], environ: Mapping[str, str]) -> Iterator[Terminal]:
    """`python -m server` with a terminal for all that it reads and writes."""
    master, slave = os.openpty()
    try:
        with _interruptible():
            process = subprocess.Popen(
                [sys.executable, "-c", LOGIN, *arguments],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=environ,
                cwd=ROOT,
            )
        os.close(slave)
        with process:
            try:
                yield Terminal(process, master)
            finally:
                process.kill()
    finally:
        os.close(master)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let processes that are started in the block not inherit that SIGINT is ignored, as after `nohup … &`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
