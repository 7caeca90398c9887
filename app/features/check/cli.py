"""The `check` command: report performance and safety problems of the configuration, without any load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.exit_status import DONE, FOUND, NAGIOS
from app.cli.options import over_hosts
from app.cli.output import Verbatim, is_text_wanted, lines, paint, print_json, say, terminal_width
from app.cli.session_context import on_workbench
from app.cli.shared_options import ignore_option, json_option
from backends.errors import RaidbenchError
from backends.text import clean
from widgets.text_utils.text import wrap_words

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.check.finding import Finding, RuleResult
    from app.features.check.runner import CheckResult

_COLOURS = {"fault": "red", "warn": "yellow", "note": "dim"}


@command("check", "raidbench check", "raidbench check md:md0 --severity fault", "raidbench check --nagios")
@click.argument("target", required=False)
@click.option(
    "--severity",
    type=click.Choice(("note", "warn", "fault")),
    default="warn",
    show_default=True,
    help="Lowest severity that sets exit status 5.",
)
@ignore_option
@click.option("--nagios", is_flag=True, help="Print one line and exit with 0 to 3, as a Nagios plugin.")
@json_option
@over_hosts("nagios")
def check_command(target: str | None, severity: str, ignored: tuple[str, ...], nagios: bool, as_json: bool) -> int:
    """Check the configuration for faults and slow settings.

    With TARGET, only the findings of TARGET and its related objects are shown: the arrays and drives of a controller,
    the members and the controller of an array, the controller of a drive, and their partitions and filesystems.

    Each finding names its rule, the evidence and the fix. The check is read-only and creates no load. A rule whose data
    cannot be read is reported as unknown.
    """
    if nagios and as_json:
        raise click.UsageError("--nagios and --json cannot be combined.")
    try:
        checked = on_workbench(_check, target, ignored, quiet=True)
    except RaidbenchError as error:
        if not nagios:
            raise
        lines([f"RAIDBENCH UNKNOWN - {clean(error.message, 500).replace('|', '/')}"])
        return NAGIOS["UNKNOWN"]
    return _print_result(checked, severity, nagios=nagios, as_json=as_json)


async def _check(bench: Workbench, _: Interruption, target: str | None, ignored: tuple[str, ...]) -> CheckResult:
    from app.features.check.runner import check, require_known_rules

    ignore = require_known_rules(ignored)
    about = None if target is None else await bench.hardware.find(target)
    inventory = await bench.hardware.probe_if_stale()
    return await check(bench.hardware.machine, inventory, about=about, ignore=ignore)


def _print_result(checked: CheckResult, severity: str, *, nagios: bool, as_json: bool) -> int:
    from app.features.check import presentation as view
    from app.features.check.finding import Severity

    least = Severity(severity)
    status = FOUND if checked.from_on(least) else DONE
    if nagios:
        word, rows = view.plugin(checked, least)
        lines(rows)
        return NAGIOS[word]
    if as_json:
        print_json(**view.findings_json(checked))
        if not is_text_wanted():
            return status
    width = terminal_width()
    lines(row for finding in checked.findings for row in _rows(finding, width))
    for result in checked.unknown:
        where, why = clean(result.outcome.where, 200), clean(result.outcome.why, 300)
        say(f"Unknown: {result.rule.id} at {where}: {why}.")
    for problem in checked.problems:
        say(f"{clean(problem.where)}: {clean(problem.message, 500)} {clean(problem.hint, 500)}".rstrip())
    say(view.summary(checked))
    return status


def _rows(result: RuleResult[Finding], width: int | None) -> list[str]:
    from app.features.check.presentation import finding_lines

    finding, severity = result.outcome, result.rule.severity.value
    head = f"{paint(f'{severity:<5}', _COLOURS[severity])}  {result.rule.id}  {clean(finding.where, 200)}"
    rows = [head, *wrap_words(clean(finding.message, 500), width, " " * 7)]
    command = finding.staged.command if finding.staged is not None else None
    for label, text in finding_lines(finding):
        first = f"       {label:<8} "
        rows += [Verbatim(f"{first}{text}")] if text == command else wrap_words(clean(text, 500), width, first)
    return rows
