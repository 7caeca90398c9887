"""The manual pages: made of the command tree, so that nothing that can be typed is missing in them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli.command_index import COMMANDS
from app.cli.main import cli
from app.core import config
from tests.case_loop import loop_over
from tests.packages import needs
from tools.package import man, roff

PAGES = man.pages("2026-11-23", "1.2.3")


def plain(page: str) -> str:
    """A page as it is read: signs for their escapes, without requests and fonts."""
    text = PAGES[page].replace("\\-", "-").replace("\\(ga", "`").replace("\\(aq", "'").replace("\\e", "\\")
    text = re.sub(r"\\\[u([0-9A-F]+)\]", lambda found: chr(int(found[1], 16)), text)
    return text.replace("\\fB", "").replace("\\fR", "").replace("\\&", "")


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command there is, with the page that it is told on."""
    yield "man1/raidbench.1", cli
    for name in COMMANDS:
        command = cli.get_command(man.context(), name)
        assert command is not None
        yield f"man1/raidbench-{name}.1", command
        if isinstance(command, click.Group):
            yield from ((f"man1/raidbench-{name}.1", one) for one in command.commands.values())


@loop_over(("page", "command"), [pytest.param(*one, id=f"{one[0]}:{one[1].name}") for one in commands()])
def test_every_option_of_a_command_is_on_its_page_with_what_it_does(page: str, command: click.Command) -> None:
    read = plain(page)
    told = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    missing = [name for one in told for name in one.opts if not re.search(rf"(^|[ ,]){name}\b", read, re.MULTILINE)]
    unexplained = [one.opts for one in told if " ".join((one.help or "").split()) not in read]
    assert (missing, unexplained) == ([], [])


def test_what_is_not_for_users_is_on_no_page() -> None:
    assert [page for page in PAGES if "--handed-over" in plain(page)] == []


@loop_over("name", COMMANDS)
def test_the_page_of_the_program_names_every_command_and_its_page_is_there(name: str) -> None:
    assert f"raidbench-{name}(1)" in plain("man1/raidbench.1")
    assert f"raidbench-{name} - " in plain(f"man1/raidbench-{name}.1")


def test_the_short_way_to_the_help_is_told() -> None:
    assert "-h, --help" in plain("man1/raidbench-devices.1")


@loop_over("key", config.KEYS)
def test_every_key_of_the_configuration_is_told(key: str) -> None:
    rows = PAGES["man5/raidbench.toml.5"].splitlines()
    [at] = [at for at, row in enumerate(rows) if re.match(rf"\\fB{key}( =|\\fR)", row)]
    assert roff.escape(man.field_docs()[key].split(";")[0].split("`")[0]) in rows[at + 1]


def test_what_a_key_takes_stands_on_the_page_as_a_wrong_value_is_refused() -> None:
    read = plain("man5/raidbench.toml.5")
    assert "It must be a whole number from 1 to 30." in read
    assert "It must be one of auto, " in read


def test_no_text_is_taken_for_a_request_or_leaves_ascii() -> None:
    assert roff.escape(".so /etc/shadow") == "\\&.so /etc/shadow"
    assert roff.escape("'br") == "\\(aqbr"
    assert roff.escape("\\fB 80 × 24") == "\\efB 80 \\[u00D7] 24"
    assert all(text.isascii() for text in PAGES.values())


@needs("groff")
@pytest.mark.parametrize("page", PAGES)
def test_groff_has_nothing_to_say_against_a_page(page: str, tmp_path: Path) -> None:
    (tmp_path / "page").write_text(PAGES[page])
    argv = ("groff", "-man", "-ww", "-Tascii", "-rCHECKSTYLE=1", str(tmp_path / "page"))
    assert subprocess.run(argv, capture_output=True, text=True).stderr == ""
