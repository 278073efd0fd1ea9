"""Samples, their percentiles against bars, and where they are kept."""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.table import Table

from bench.machine import Load, describe_machine, package_versions

INTERRUPTED = 130  # 128 and the number of SIGINT
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Bar:
    """What a value has to keep: at most, or at least, the limit."""

    limit: float
    at_most: bool = True

    def kept(self, value: float) -> bool:
        """Whether the value keeps it; not a number never does."""
        return value <= self.limit if self.at_most else value >= self.limit

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table; `spread` is between what the samples of a median lie."""

    name: str
    value: float
    unit: str
    bar: Bar | None = None
    spread: tuple[float, float] | None = None

    @property
    def missed(self) -> bool:
        """Whether there is a bar and the value misses it."""
        return self.bar is not None and not self.bar.kept(self.value)

    def told(self) -> dict[str, object]:
        """The row as JSON."""
        told: dict[str, object] = {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "bar": str(self.bar or ""),
        }
        return told if self.spread is None else told | {"spread": self.spread}


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that `share` (0 to 1) of them do not exceed (nearest rank); nan where there are none."""
    if not samples:
        return math.nan
    return sorted(samples)[max(0, math.ceil(share * len(samples)) - 1)]


def end(main: Callable[[], int]) -> NoReturn:
    """Run a program and leave with its exit status; with 130 and without a word where Ctrl-C ends it."""
    try:
        status = main()
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


def is_full(description: str) -> bool:
    """Whether the command line asks for the long run."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--full", action="store_true", help="run longer and repeat more")
    return bool(options.parse_args().full)


def begin(name: str, method: str = "") -> "Report":
    """A report that begins now; warns where the machine is already at work."""
    before = Load.now()
    if before.is_heavy:
        print(
            f"warning: {before} before the run; what else ran, or has just ended, may make the numbers worse"
        )
    return Report(name, method, before)


@dataclass(frozen=True, slots=True)
class Report:
    """A benchmark's table and file: its name, its way of measuring in a few words, the machine's load before it."""

    name: str
    method: str
    before: Load

    def conclude(self, rows: Sequence[Row], samples: Mapping[str, Sequence[float]]) -> int:
        """Print the table, keep rows and raw samples; the exit status, 1 where a bar is missed."""
        after = Load.now()
        self._print(rows, after)
        print(f"raw samples: {self._keep(rows, samples, after)}")
        return 1 if any(row.missed for row in rows) else 0

    def _print(self, rows: Sequence[Row], after: Load) -> None:
        title = f"{self.name}: {self.method}" if self.method else self.name
        caption = f"{self.before} before, {after.average:.2f} after"
        spreads = "spread" if any(row.spread for row in rows) else ""
        table = Table("measure", "value", "unit", spreads, "bar", "", title=title, caption=caption)
        table.columns[1].justify = "right"
        for row in rows:
            verdict = "" if row.bar is None else "missed" if row.missed else "kept"
            spread = "" if row.spread is None else " to ".join(map(_figure, row.spread))
            table.add_row(row.name, _figure(row.value), row.unit, spread, str(row.bar or ""), verdict)
        Console().print(table)

    def _keep(self, rows: Sequence[Row], samples: Mapping[str, Sequence[float]], after: Load) -> Path:
        RESULTS.mkdir(exist_ok=True)
        document = {
            "name": self.name,
            "method": self.method,
            "at": time.time(),
            "machine": describe_machine(),
            "load": {"before": self.before.average, "after": after.average},
            "packages": package_versions(),
            "rows": [row.told() for row in rows],
            "samples": {key: list(values) for key, values in samples.items()},
        }
        path = RESULTS / f"{self.name}-{time.strftime('%Y%m%d-%H%M%S')}.json"
        path.write_text(json.dumps(document, ensure_ascii=False, indent=1))
        return path


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
