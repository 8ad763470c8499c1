"""Every link of every document leads somewhere: to a file that is there, and to a heading of it where one is named."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_CODE_BLOCK = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[ ]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]+)")
_HEADING = re.compile(r"^#{1,6} +(.+?)#* *$", re.MULTILINE)
_TARGET = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def documents() -> list[str]:
    """The Markdown files of the repository, by their paths in it."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, check=True, capture_output=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


def anchors(text: str) -> set[str]:
    """The names by which a forge reaches the headings of a text: of equal ones the second ends with -1."""
    found = set()
    seen: Counter[str] = Counter()
    for heading in _HEADING.findall(_CODE_BLOCK.sub("", text)):
        words = _TARGET.sub(r"\1", heading).lower().strip()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def broken_links(document: Path) -> list[str]:
    """Those links of a document within the repository that lead nowhere."""
    broken = []
    text = _CODE.sub("code", _CODE_BLOCK.sub("", document.read_text()))
    for link in _LINK.findall(text):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not target.exists() or (anchor and not (target.suffix == ".md" and anchor in anchors(target.read_text()))):
            broken.append(link)
    return broken


@pytest.mark.parametrize("name", documents())
def test_every_link_leads_somewhere(name: str) -> None:
    assert broken_links(ROOT / name) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Two `words`, twice\n\n## Two words twice\n\n```bash\n# no heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n\n[a](other.md) [b](other.md#two-words-twice-1) [`c`](#here) [d](https://e.org/no.md) `[e](no.md)`\n"
    )
    assert broken_links(page) == []
    page.write_text("# Here\n\n[a](no.md) [b](other.md#no-heading) [`c`](#there) ![d](no.png)\n")
    assert broken_links(page) == ["no.md", "other.md#no-heading", "#there", "no.png"]


def navigation() -> dict[str, list[str]]:
    """Return the pages of docs/ under each section of the site's navigation; "" has the page that is in none."""
    sections: dict[str, list[str]] = {"": []}
    section = ""
    for line in (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2].splitlines():
        if found := re.fullmatch(r"  - (.+):", line):
            section = found[1]
            sections[section] = []
        elif found := re.fullmatch(r" +- .*: (\S+\.md)", line):
            sections[section].append(found[1])
    return sections


def test_the_navigation_names_every_page_once_under_its_kind() -> None:
    sections = navigation()
    assert list(sections) == ["", "Tutorials", "How-to guides", "Reference", "Explanation", "Experiments"]
    named = Counter(page for pages in sections.values() for page in pages)
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - set(named) == set()
    assert [page for page, count in named.items() if count > 1] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_begins_with_who_it_is_for(page: Path) -> None:
    kind = "tutorial" if page.name in navigation()["Tutorials"] else "page"
    assert re.match(rf"# .+\n\nThis {kind} is for everybody who(?:se)? ", page.read_text())
