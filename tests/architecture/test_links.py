"""Links between the project's own Markdown files lead somewhere."""

import re
from functools import cache
from pathlib import Path

from tests.architecture.documents import ROOT, documents

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")


@cache
def anchors(path: Path) -> frozenset[str]:
    """What a link may name of a file after `#`, as GitHub makes it of headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


def leads_somewhere(path: Path, target: str) -> bool:
    file, _, anchor = target.partition("#")
    meant = (path.parent / file).resolve() if file else path
    return meant.exists() and (not anchor or anchor in anchors(meant))


def test_every_link_leads_somewhere() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in [*documents(), ROOT / "CHANGELOG.md"]}
    links = [(path, target) for path, text in texts.items() for target in LINK.findall(text)]
    assert len(links) > 50
    assert [f"{path.name}: {target}" for path, target in links if not leads_somewhere(path, target)] == []


def test_a_link_that_leads_nowhere_is_noticed() -> None:
    readme = ROOT / "README.md"
    assert leads_somewhere(readme, "docs/api.md#errors")
    assert not leads_somewhere(readme, "docs/api.md#mistakes")
    assert not leads_somewhere(readme, "docs/nowhere.md")
