"""Help of commands with many options: these in groups, each under its heading."""

from __future__ import annotations

from collections.abc import Mapping

import click

_OWN: Mapping[str, tuple[str, ...]] = {
    "What is measured": ("profile", "jobfile", "section", "on", "null", "target", "seed", "keep", "list", "resume"),
    "How long, and how much": ("repeat", "fills", "min-runtime"),
    "Steady state": ("until-steady", "steady-cap", "end-when-steady", "steady-round"),
    "How it is judged": ("pairs", "detect", "until", "threshold", "more", "rest"),
    "Before it begins": ("dry-run", "order", "yes", "confirm"),
    "On several hosts": ("hosts", "stagger", "go-on-stdin", "lease"),
}
"""Options that are no field of a job, by the headings of `--help`; those that are named nowhere come last."""

_REST = "Other options"


class GroupedCommand(click.Command):
    """A command whose help tells its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section for each group that has some."""
        from app.core.fio.fields import GROUPS

        first, *others = _OWN
        job = [(heading, f"--{key.replace('_', '-')}") for heading, keys in GROUPS.items() for key in keys]
        own = [(heading, f"--{name}") for heading, names in _OWN.items() for name in names]
        heading_of = {name: heading for heading, name in (*job, *own)}
        headings = dict.fromkeys((first, *GROUPS, *others, _REST))
        records_of: dict[str, list[tuple[str, str]]] = {heading: [] for heading in headings}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                heading = next((heading_of[name] for name in param.opts if name in heading_of), _REST)
                records_of[heading].append(record)
        for heading, records in records_of.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
