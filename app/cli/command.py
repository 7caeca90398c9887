"""Commands and command groups whose `--help` has examples, and shows ranges and defaults in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click


class CliCommand(click.Command):
    """A command whose help has a section with examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = tuple(examples)
        """Examples: complete command lines, as a user types them."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, then the examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self.examples, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all options as one list."""
        with formatter.section("Options"):
            formatter.write_dl([record for _, record in option_records(self, ctx)])


class GroupedCommand(CliCommand):
    """A command with so many options that its help shows them in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group that has options."""
        from app.core.fio.fields import GROUPS

        first, *others = _OPTION_GROUPS
        job = [(heading, f"--{key.replace('_', '-')}") for heading, keys in GROUPS.items() for key in keys]
        own = [(heading, f"--{name}") for heading, names in _OPTION_GROUPS.items() for name in names]
        heading_of = {name: heading for heading, name in (*job, *own)}
        headings = dict.fromkeys((first, *GROUPS, *others, _OTHER_OPTIONS))
        records_of: dict[str, list[tuple[str, str]]] = {heading: [] for heading in headings}
        for param, record in option_records(self, ctx):
            heading = next((heading_of[name] for name in param.opts if name in heading_of), _OTHER_OPTIONS)
            records_of[heading].append(record)
        for heading, records in records_of.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


_OPTION_GROUPS: Mapping[str, tuple[str, ...]] = {
    "What to measure": ("profile", "jobfile", "section", "on", "null", "target", "seed", "keep", "list", "resume"),
    "Duration and amount": ("repeat", "fills", "min-runtime"),
    "Steady state": ("until-steady", "steady-cap", "end-when-steady", "steady-round"),
    "Comparison": ("pairs", "detect", "until", "threshold", "more", "rest"),
    "Confirmation": ("dry-run", "order", "yes", "confirm"),
    "Several hosts": ("hosts", "stagger", "go-on-stdin", "lease"),
}
"""The options that are not fields of a job, by the heading under which `--help` shows them."""

_OTHER_OPTIONS = "Other options"


class CliGroup(click.Group):
    """A command with subcommands. `--help` lists them with their complete summaries."""

    command_class = CliCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and the subcommands."""
        with formatter.section("Options"):
            formatter.write_dl([record for _, record in option_records(self, ctx)])
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(limit=200)) for name, command in self.commands.items()]
            )


def command(
    name: str, *examples: str, cls: type[CliCommand] = CliCommand
) -> Callable[[Callable[..., Any]], CliCommand]:
    """Return a decorator that turns a function into a command with these examples."""
    return click.command(name, cls=cls, examples=examples)


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Write one command line per row, without wrapping."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def option_records(command: click.Command, ctx: click.Context) -> Iterator[tuple[click.Option, tuple[str, str]]]:
    """Yield each visible option, and its names and help text as `--help` shows them."""
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if isinstance(param, click.Option) and record is not None:
            yield param, (record[0], plain_help(record[1]))


_EXTRA = re.compile(r"  \[(?P<extra>[^\[\]]*)\]$")


def plain_help(text: str) -> str:
    """Return an option's help text (`text`) with click's notation for bounds and default replaced by plain words.

    `Runs. [default: 3; 1<=x<=9]` becomes `Runs (1 to 9; default: 3).`
    """
    match = _EXTRA.search(text)
    if match is None:
        return text
    extras = sorted(map(_plain_extra, match["extra"].split("; ")), key=lambda extra: extra.startswith("default"))
    return f"{text[: match.start()].removesuffix('.')} ({'; '.join(extras)})."


def _plain_extra(extra: str) -> str:
    if (bounds := re.fullmatch(r"(\S+)<=x<=(\S+)", extra)) is not None:
        return f"{bounds[1]} to {bounds[2]}"
    if (least := re.fullmatch(r"x>=(\S+)", extra)) is not None:
        return f"at least {least[1]}"
    return extra
