"""Progress on stderr: a bar where somebody watches, nothing where stderr is a file or a pipe."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn


class Bar:
    """Owner of the one line that shows how far the work is; a `Control` for work in this process.

    Ctrl-C raises KeyboardInterrupt in the main thread by itself, so `check_cancelled` has nothing to look at.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(
            *columns, console=self.console, transient=True, disable=not self.console.is_terminal
        )
        self._task = self._progress.add_task("starting", total=1.0)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def check_cancelled(self) -> None:
        """Never stop: the interpreter does."""

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        """Show the phase, how far it is, 0 to 1, and what has been counted."""
        counted = "".join(f"  {count} {name}" for name, count in counters.items())
        self._progress.update(self._task, description=f"{phase}{counted}", completed=fraction)

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        """Estimate nothing: the bar shows shares."""

    def waiting(self, seconds: float, reason: str) -> None:
        """Say why nothing moves, and for how long."""
        self.console.print(f"{reason} Trying again in {seconds:.0f} s.", highlight=False, markup=False)
