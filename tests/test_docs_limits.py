"""Limits of the user pages in docs/, and links of all pages: each page short, each page reachable, each link valid."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.case_loop import loop_over

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
"""The pages for users."""
PAGES = sorted({*ROOT.glob("*.md"), *DOCS, *(ROOT / "docs" / "dev").glob("*.md")})
"""All pages."""

PAGE_WORDS = 1500
"""Limit of words in a user page, with tables and code. A longer page is hard to search: split it by task."""
TOTAL_WORDS = 40_000
"""Limit of words in all user pages together."""
PARAGRAPH_WORDS = 80
"""Limit of words in a paragraph or list item."""

NAMES = frozenset(
    [
        "Adaptec",
        "Areca",
        "Array",
        "E-Series",
        "Fusion-io",
        "Linux",
        "Marvell",
        "MegaRAID",
        "Nagios",
        "NetApp",
        "OpenZFS",
        "Prometheus",
        "SANtricity",
        "Services",
        "Smart",
        "SmartRAID",
        "Tab",
        "Web",
    ]
)
"""Words that a heading in sentence case capitalises after its first word."""

LOWER_CASE = frozenset({"bcache", "fio", "md", "raidbench"})
"""Names in lower case that may begin a heading."""

_FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_ITEM = re.compile(r" *(?:[-*+]|\d+\.) ")

EACH = loop_over("page", DOCS, ids=lambda page: page.name)
EACH_OF_ALL = loop_over("page", PAGES, ids=lambda page: page.name)


_COMMENT = re.compile(r"^<!--.*?-->$", re.DOTALL | re.MULTILINE)


def words(text: str) -> int:
    """Return the number of tokens between spaces that have a letter or a digit, without comments."""
    return sum(any(map(str.isalnum, token)) for token in _COMMENT.sub("", text).split())


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and list items of a page, without tables, headings and code blocks."""
    lines: list[str] = []
    for line in (*_prose(text).splitlines(), ""):
        block = not line.strip() or line.lstrip().startswith(("|", "#", ">")) or _ITEM.match(line)
        if block and lines:
            yield " ".join(lines)
            lines = []
        if line.strip() and not line.lstrip().startswith(("|", "#")):
            lines.append(line.strip())


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_prose(text)):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def links(text: str) -> list[str]:
    """Return the targets of the relative links and pictures."""
    targets = _LINK.findall(_CODE.sub("", _prose(text)))
    return [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def broken(page: Path, root: Path = ROOT) -> list[str]:
    """Return the links of a page whose file or anchor does not exist below `root`."""
    bad = []
    for target in links(page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if (
            not file.exists()
            or not file.is_relative_to(root)
            or (anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")))
        ):
            bad.append(target)
    return bad


def _prose(text: str) -> str:
    return _COMMENT.sub("", _FENCED.sub("", text))


@EACH
def test_a_page_has_at_most_the_words_of_its_limit(page: Path) -> None:
    count = words(page.read_text(encoding="utf-8"))
    assert count <= PAGE_WORDS


def test_all_pages_together_keep_to_the_limit() -> None:
    count = sum(words(page.read_text(encoding="utf-8")) for page in DOCS)
    assert count <= TOTAL_WORDS


@EACH
def test_no_paragraph_is_too_long(page: Path) -> None:
    long = [(words(text), text[:60]) for text in paragraphs(page.read_text(encoding="utf-8"))]
    assert [found for found in long if found[0] > PARAGRAPH_WORDS] == []


@EACH
def test_a_page_begins_with_a_heading_in_sentence_case(page: Path) -> None:
    mark, first, *others = page.read_text(encoding="utf-8").partition("\n")[0].split()
    assert mark == "#"
    assert not first[0].islower() or first in LOWER_CASE
    capitalised = [word.strip(",:()") for word in others if re.match(r"[(]?[A-Z][a-z]", word)]
    assert [word for word in capitalised if word not in NAMES] == []


def test_every_page_is_reachable_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = (link.partition("#")[0] for link in links(page.read_text(encoding="utf-8")))
        files = ((page.parent / target).resolve() for target in targets if target)
        waiting += [file for file in files if file in PAGES]
    assert [page.name for page in DOCS if page not in reached] == []


@EACH_OF_ALL
def test_every_relative_link_has_a_target(page: Path) -> None:
    assert broken(page) == []


def test_a_missing_file_or_anchor_is_found(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# A\n\n[a](#a) [b](b.md#same-1) [c](b.md#c) [d](d.md) [e](../e.md) [`f`](#f)\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("# B\n\n## Same\n\n## Same\n", encoding="utf-8")
    assert broken(page, tmp_path) == ["b.md#c", "d.md", "../e.md", "#f"]


def test_links_and_anchors_are_those_of_the_prose() -> None:
    assert anchors("# A `b` & c\n\n## [Same](d.md)\n\n```\n# no\n```\n") == {"a-b--c", "same"}
    text = "[a](b.md#c) `[x](y.md)` [w](https://e.org/d.md) ![p](q.png)\n```\n[z](z.md)\n```\n"
    assert links(text) == ["b.md#c", "q.png"]


def test_paragraphs_are_counted_without_tables_and_code() -> None:
    text = "# One two\n\nthree four\nfive\n\n- six\n  seven\n- eight\n\n| nine |\n\n```\nten\n```\n"
    assert list(paragraphs(text)) == ["three four five", "- six seven", "- eight"]
    assert words("| - | `a` b, — 1 |") == 3
