"""docs/configuration.md lists exactly the settings there are, with their real defaults and bounds."""

import re

from server.settings import SettingRow, describe
from tests.architecture.documents import ROOT, section, table_rows

TEXT = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
UNSET = "not set"


def documented() -> list[SettingRow]:
    rows = table_rows(section(TEXT, "## Settings of the server"), 4)
    return [
        SettingRow(row[0].strip("`"), row[1].strip("`").replace(UNSET, ""), row[2], row[3]) for row in rows
    ]


def test_the_table_equals_the_settings() -> None:
    assert documented() == describe()


def test_no_other_variable_is_mentioned_anywhere() -> None:
    known = {row.variable for row in describe()}
    texts = [
        (ROOT / "README.md"),
        *sorted((ROOT / "docs").rglob("*.md")),
        ROOT / "Dockerfile",
        ROOT / "Taskfile.yml",
    ]
    mentioned = {
        name for path in texts for name in re.findall(r"\bYUE2_[A-Z_]+", path.read_text(encoding="utf-8"))
    }
    assert mentioned - known == set()
