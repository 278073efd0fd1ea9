"""Reads the tables and code blocks of the project's own Markdown files."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of a fenced block: the file it stands in, counted from 1."""

    path: Path
    line: int
    text: str


def documents() -> list[Path]:
    """Every Markdown file a reader may follow."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def table_rows(text: str, columns: int) -> list[list[str]]:
    """The cells of every table row with so many columns; headings and rulers left out."""
    rows = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not line.startswith("|") or _is_ruler(line):
            continue
        if number + 1 < len(lines) and _is_ruler(lines[number + 1]):
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if len(cells) == columns:
            rows.append(cells)
    return rows


def _is_ruler(line: str) -> bool:
    return bool(re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line.strip()))


def section(text: str, heading: str) -> str:
    """The text below a heading, up to the next heading of the same or a higher level."""
    marks = heading.split(" ", 1)[0]
    begin = re.search(rf"^{re.escape(heading)}$", text, re.MULTILINE)
    if begin is None:
        raise ValueError(f"there is no heading {heading!r}")
    rest = text[begin.end() :]
    end = re.search(rf"^#{{1,{len(marks)}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def code(text: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", text)


def fenced_blocks(text: str, language: str) -> list[str]:
    """What stands in the fenced blocks of a language, as it stands there."""
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def fenced_lines(path: Path, language: str) -> list[CodeLine]:
    """The lines of a file's fenced blocks in a language; continued lines are joined, blanks and comments left out."""
    lines: list[CodeLine] = []
    inside = False
    pending = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.lstrip().startswith("```"):
            inside = not inside and line.strip() == f"```{language}"
            continue
        if not inside or not line.strip() or line.lstrip().startswith("#"):
            continue
        pending += line.strip()
        if pending.endswith("\\"):
            pending = pending[:-1].rstrip() + " "
            continue
        lines.append(CodeLine(path, number, pending))
        pending = ""
    return lines
