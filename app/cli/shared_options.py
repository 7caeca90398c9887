"""Options that several commands have, each with the same help text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from app.cli.options import PERCENT

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

HOSTS_HELP = "Run on these hosts over SSH, such as node[1-40] or a group @raid; !node7 excludes a host."

json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

dry_run_option: Decorator = click.option("--dry-run", is_flag=True, help="Show the plan and change nothing.")

yes_option: Decorator = click.option("--yes", is_flag=True, help="Do not ask before harmless steps.")

confirm_option: Decorator = click.option(
    "--confirm",
    "typed",
    metavar="TOKEN",
    help="Confirmation token of a dangerous step, such as the end of a serial number, or 24-3fa9c1 for 24 drives."
    " Run without it to see the token.",
)

redact_option: Decorator = click.option(
    "--redact",
    is_flag=True,
    help="Replace serial numbers, host and user names, addresses, WWNs, labels, UUIDs and mount points by pseudonyms.",
)

force_option: Decorator = click.option("--force", is_flag=True, help="Overwrite an existing file or folder.")

seed_option: Decorator = click.option(
    "--seed", type=click.IntRange(0, 2**31), metavar="N", help="Seed of the random order."
)

detach_option: Decorator = click.option(
    "--detach", is_flag=True, help="Run in the background. `raidbench attach` shows the progress."
)

judge_again_option: Decorator = click.option(
    "--judge-again", is_flag=True, help="Judge experiments by the current rules, not by the rules with which they ran."
)

ignore_option: Decorator = click.option(
    "--ignore", "ignored", metavar="ID", multiple=True, help="Skip this rule. May be repeated."
)

unit_option: Decorator = click.option(
    "--unit",
    type=click.Choice(("both", "service", "timer")),
    is_flag=False,
    flag_value="both",
    help="Print systemd units that run this command regularly.",
)


def output_option(*, required: bool = False) -> Decorator:
    """Return the decorator that adds the option `--output` to a command."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE",
        required=required,
        help="Write to FILE, completely or not at all.",
    )


def threshold_option() -> Decorator:
    """Return the decorator that adds the option `--threshold` of an A/B comparison to a command."""
    from app.core.analysis.stats import THRESHOLD_PERCENT  # only commands that compare need this import

    return click.option(
        "--threshold",
        type=PERCENT,
        metavar="PERCENT",
        help=f"Smallest difference that matters (default: {THRESHOLD_PERCENT:g} %; an ended experiment keeps its own).",
    )
