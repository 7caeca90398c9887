"""docs/cli.md describes the commands as they are: `python -m tests.cli_page` writes it."""

from __future__ import annotations

import re

from tests.catalogue.commands import command_lines
from tests.cli_page import PAGE, page


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_command_has_a_section_and_a_link_to_it() -> None:
    commands = [words for words in command_lines() if words]
    headings = re.findall(r"^### (.+)$", page(), re.MULTILINE)
    assert sorted(headings) == sorted(map(" ".join, commands))
    assert [words for words in commands if f"[{' '.join(words)}](#{'-'.join(words)})" not in page()] == []
