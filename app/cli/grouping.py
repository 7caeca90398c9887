"""Help of commands with many options: these in groups, each under its heading."""

from __future__ import annotations

from collections.abc import Mapping

import click

GROUPS: Mapping[str, tuple[str, ...]] = {
    "What is measured": ("profile", "jobfile", "on", "null", "target", "keep"),
    "Load": (
        *("rw", "bs", "bssplit", "blockalign", "iodepth", "numjobs", "rwmixread"),
        *("random-distribution", "percentage-random", "offset-increment", "norandommap", "randseed"),
        *("fsync", "fdatasync"),
    ),
    "How long, and how much": ("runtime", "ramp", "size", "number-ios", "io-size", "repeat", "fills", "min-runtime"),
    "When requests come": ("rate-iops", "rate", "arrival", "thinktime", "thinktime-blocks"),
    "Engine, processors, memory": (
        *("ioengine", "direct", "hipri", "cpus-allowed", "cpus-allowed-policy"),
        *("numa-cpu-nodes", "numa-mem-policy"),
    ),
    "Steady state": ("until-steady", "steady-cap", "end-when-steady", "steady-round"),
    "How it is judged": ("pairs", "detect", "until", "threshold", "more", "rest"),
}
"""Options by the headings of `--help`; those that are named nowhere come last."""

_REST = "Other options"


class GroupedCommand(click.Command):
    """A command whose help tells its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section for each group that has some."""
        heading_of = {f"--{name}": heading for heading, names in GROUPS.items() for name in names}
        found: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (*GROUPS, _REST)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                heading = next((heading_of[name] for name in param.opts if name in heading_of), _REST)
                found[heading].append(record)
        for heading, records in found.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
