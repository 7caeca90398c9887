"""docs/cli*.md describe the commands as they are: `python -m tests.cli_page` writes them."""

from __future__ import annotations

import re

from tests.catalogue.commands import command_lines
from tests.cli_page import ENTRY, FOLDER, JOB_OPTIONS, link, pages


def test_the_pages_match_the_commands() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("cli*.md")}
    assert written == pages()


def test_every_command_has_a_section_and_a_link_to_it() -> None:
    commands = [words for words in command_lines() if words]
    texts = pages()
    groups = [text for name, text in texts.items() if name not in (ENTRY, JOB_OPTIONS)]
    headings = [heading for text in groups for heading in re.findall(r"^## (.+)$", text, re.MULTILINE)]
    assert sorted(headings) == sorted(map(" ".join, commands))
    assert [words for words in commands if link(words) not in texts[ENTRY]] == []
