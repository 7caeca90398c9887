"""Manual pages, generated from the command tree and the fields of the configuration."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from app.cli.command_index import COMMANDS
from app.cli.main import cli
from app.core import config
from backends.errors import RaidbenchError
from tools.package import roff

STATUS = (
    ("0", "Done."),
    ("1", "Failed."),
    ("2", "Wrong usage."),
    ("3", "Refused by a guard."),
    ("130", "Interrupted."),
)
VARIABLES = (
    ("RAIDBENCH_STATE_DIR", "Folder for sessions, journal, locks and configuration."),
    (
        "RAIDBENCH_UNPACK_DIR",
        "Folder where the standalone binary unpacks itself, instead of /var/cache/raidbench or ~/.cache.",
    ),
    ("NO_COLOR", "If set, show no colours."),
)
FILES = (
    ("~/.local/state/raidbench/sessions", "Results and changes, one folder for each session."),
    ("/var/lib/raidbench/journal", "The journal of changes made as root, with the steps that undo each of them."),
    (
        "~/.config/raidbench/config.toml",
        "The configuration, see raidbench.toml(5). For root also /etc/raidbench/config.toml.",
    ),
)


def pages(date: str, version: str) -> dict[str, str]:
    """Return the text of each page by path below share/man, such as `man1/raidbench.1`. `date`: such as 2026-11-23."""
    top = context()
    pages_by_path = {
        "man1/raidbench.1": _top(top, date, version),
        "man5/raidbench.toml.5": _configuration(date, version),
    }
    for name in COMMANDS:
        command = cli.get_command(top, name)
        assert command is not None
        called = click.Context(command, info_name=name, parent=top)
        pages_by_path[f"man1/raidbench-{name}.1"] = _command(called, COMMANDS[name].help, date, version)
    return pages_by_path


def context() -> click.Context:
    """Return the click context of the program."""
    return click.Context(cli, info_name="raidbench", **cli.context_settings)


def options(context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the options of a command with their help texts, in the order of `--help`."""
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield record


def _top(context: click.Context, date: str, version: str) -> str:
    return _page(
        [
            roff.title("raidbench", 1, date, version),
            *_name("raidbench", context.command.help or ""),
            *_synopsis([context]),
            roff.heading("DESCRIPTION"),
            *roff.paragraphs(context.command.help or ""),
            *roff.paragraphs(context.command.epilog or ""),
            *_options(context),
            roff.heading("COMMANDS"),
            *roff.entries((f"raidbench-{name}(1)", command.help) for name, command in COMMANDS.items()),
            *_common(),
            *_see(*(f"raidbench-{name}(1)" for name in COMMANDS), "raidbench.toml(5)", "fio(1)"),
        ]
    )


def _command(context: click.Context, summary: str, date: str, version: str) -> str:
    name = f"raidbench-{context.info_name}"
    parts = list(_parts(context))
    return _page(
        [
            roff.title(name, 1, date, version),
            *_name(name, summary),
            *_synopsis(parts or [context]),
            roff.heading("DESCRIPTION"),
            *roff.paragraphs(inspect.cleandoc(context.command.help or summary)),
            *_options(context),
            *(line for part in parts for line in _part(part)),
            *_common(),
            *_see("raidbench(1)", "raidbench.toml(5)"),
        ]
    )


def _parts(context: click.Context) -> Iterator[click.Context]:
    """Yield the click contexts of the subcommands of a command; none unless it is a group, such as `baseline`."""
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            yield click.Context(command, info_name=name, parent=context)


def _part(context: click.Context) -> list[str]:
    return [
        roff.part(context.command_path),
        *roff.paragraphs(inspect.cleandoc(context.command.help or "")),
        *roff.entries(options(context)),
    ]


def _name(name: str, summary: str) -> list[str]:
    return [roff.heading("NAME"), f"{roff.escape(name)} \\- {roff.escape(_clause(summary))}"]


def _clause(text: str) -> str:
    """Return the first line of a text without its full stop: apropos(1) lists it as a clause."""
    return text.strip().split("\n")[0].removesuffix(".")


def _synopsis(contexts: list[click.Context]) -> list[str]:
    rows = [roff.heading("SYNOPSIS")]
    for context in contexts:
        usage = " ".join(context.command.collect_usage_pieces(context))
        rows += [f"\\fB{roff.escape(context.command_path)}\\fR {roff.escape(usage)}", ".br"]
    return rows[:-1]


def _options(context: click.Context) -> list[str]:
    return [roff.heading("OPTIONS"), *roff.entries(options(context))]


def _common() -> list[str]:
    sections = (("EXIT STATUS", STATUS), ("ENVIRONMENT", VARIABLES), ("FILES", FILES))
    return [line for name, rows in sections for line in (roff.heading(name), *roff.entries(rows))]


def _see(*names: str) -> list[str]:
    return [roff.heading("SEE ALSO"), roff.escape(", ".join(names))]


def _configuration(date: str, version: str) -> str:
    docs = field_docs()
    rows = [(_key(name, default), f"{docs[name]} {legal(name)}") for name, default in defaults().items()]
    return _page(
        [
            roff.title("raidbench.toml", 5, date, version),
            *_name("raidbench.toml", "the configuration of raidbench"),
            roff.heading("DESCRIPTION"),
            *roff.paragraphs(
                "A TOML file, config.toml in the folder below. Every key is optional. An unknown key or an illegal "
                "value is refused with its line and with the legal values. The keys, with their defaults if they have "
                "one:"
            ),
            *roff.entries(rows),
            roff.heading("FILES"),
            *roff.entries(FILES[2:]),
            *_see("raidbench(1)"),
        ]
    )


def defaults() -> dict[str, Any]:
    """Return the default value of each configuration key, by key."""
    plain = config.Config()
    return {field.name: getattr(plain, field.name) for field in fields(config.Config)}


def field_docs() -> dict[str, str]:
    """Return the docstring of each configuration field from the source, because Python drops them at run time."""
    (body,) = ast.parse(inspect.cleandoc(inspect.getsource(config.Config))).body
    assert isinstance(body, ast.ClassDef)
    docs: dict[str, str] = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            docs[field.target.id] = str(ast.literal_eval(text.value))
    return docs


def legal(key: str) -> str:
    """Return a sentence with the legal values of a configuration key, taken from the error for an illegal value."""
    for wrong in ("?", object()):
        try:
            config.KEYS[key](wrong)
        except ValueError as error:
            return f"It {error}."
        except RaidbenchError:
            continue
    return ""


def _key(name: str, default: object) -> str:
    return name if default is None else f"{name} = {_shown(default)}"


def _shown(value: object) -> str:
    if isinstance(value, str | bool | int | tuple):
        return json.dumps(value)  # JSON and TOML write these types in the same way
    return "{}"


def _page(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def write(folder: Path, date: str, version: str) -> None:
    """Write all pages below `folder`, which becomes /usr/share/man."""
    for path, text in pages(date, version).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "ascii")
