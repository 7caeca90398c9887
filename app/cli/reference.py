"""`glossary` and `keys`: explain the terms of raidbench, and list the keys of the workbench."""

from __future__ import annotations

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.options import current
from app.cli.output import lines, paint, print_json, say
from app.cli.render import fact_lines, listing
from app.cli.shared_options import json_option
from app.core.presentation.glossary import terms
from app.core.presentation.table import FactLine, Facts
from app.tui.commands import COMMANDS, shown_keys
from backends.errors import InvalidValueError, NotFoundError
from backends.text import clean


@command("glossary", "raidbench glossary", "raidbench glossary strip")
@click.argument("word", required=False)
@json_option
def glossary_command(word: str | None, as_json: bool) -> int:
    """Explain the terms that raidbench uses.

    With WORD, show only the terms that contain it.
    """
    found_terms = [term for term in terms() if word is None or word.casefold() in term.word.casefold()]
    if not found_terms:
        raise NotFoundError(
            f"No term contains {clean(word or '', 40)!r}.", hint="`raidbench glossary` lists all terms."
        )
    if as_json:
        print_json(terms=[{"word": term.word, "meaning": term.meaning} for term in found_terms])
        return DONE
    lines(fact_lines(Facts(facts=tuple(FactLine(term.word, term.meaning) for term in found_terms))))
    return DONE


@command("keys", "raidbench keys")
@json_option
def keys_command(as_json: bool) -> int:
    """List the keys of the workbench.

    Use the names in the last column for [keymap] in the configuration file.
    """
    keymap = dict(current().load_config().keymap)
    unknown = [name for name in keymap if name not in {spec.id for spec in COMMANDS}]
    if unknown:
        raise InvalidValueError(
            f"The keymap contains {clean(unknown[0], 40)!r}, which is not a command.",
            hint="`raidbench keys` lists the commands.",
        )
    if as_json:
        print_json(
            commands=[
                {
                    "id": spec.id,
                    "keys": _keys(spec.keys, keymap.get(spec.id)),
                    "label": spec.label,
                    "help": spec.help,
                    "screens": list(spec.screens),
                }
                for spec in COMMANDS
            ]
        )
        return DONE
    screens = dict.fromkeys(screen for spec in COMMANDS for screen in spec.screens)
    for screen in screens:
        rows = [
            (shown_keys(spec, keymap), spec.label, spec.help, spec.id) for spec in COMMANDS if screen in spec.screens
        ]
        _, *body = listing(("Key", "Command", "Action", "Name"), rows)
        lines([paint("On every screen" if screen == "all" else f"{screen.capitalize()} screen", "bold"), *body, ""])
    say('To change a key, use [keymap] in the configuration file, for example "bench.run" = "f5".')
    return DONE


def _keys(default: tuple[str, ...], chosen: str | None) -> list[str]:
    return list(default) if chosen is None else chosen.replace(",", " ").split()
