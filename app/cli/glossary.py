"""`glossary`: the words raidbench uses."""

from __future__ import annotations

import shutil

import click

from app.cli.exit_status import DONE
from app.cli.output import lines, print_json
from app.core.presentation.glossary import terms
from backends.errors import NotFoundError
from backends.text import clean


@click.command("glossary")
@click.argument("word", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def glossary_command(word: str | None, as_json: bool) -> int:
    """The words that screens, commands and reports use; those with WORD in them where one is given."""
    found_terms = [term for term in terms() if word is None or word.casefold() in term.word.casefold()]
    if not found_terms:
        raise NotFoundError(
            f"No word has {clean(word or '', 40)!r} in it.", hint="`raidbench glossary` lists them all."
        )
    if as_json:
        print_json(terms=[{"word": term.word, "meaning": term.meaning} for term in found_terms])
        return DONE
    formatter = click.HelpFormatter(width=min(shutil.get_terminal_size().columns, 100))
    formatter.write_dl([(term.word, term.meaning) for term in found_terms])
    lines(formatter.getvalue().splitlines())
    return DONE
