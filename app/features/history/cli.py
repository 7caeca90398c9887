"""The `history` command: list the runs of all sessions, and where the level of the results changed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.output import document, lines, say
from app.cli.render import table_lines
from app.cli.run_filters import all_runs, select_runs
from app.cli.session_context import loaded_session
from app.cli.shared_options import json_option, redact_option
from app.core.analysis.past_runs.earlier_runs import Condition, PastRun
from app.core.analysis.past_runs.series import RunSeries, series_of
from app.doors import action
from app.features.history.baseline_check import status_of_history
from app.features.history.presentation import change_lines, episode_lines, history_document, history_table
from backends.errors import InvalidValueError
from backends.text import clean
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.session.store import LoadedSession
    from backends.redaction import Redactor

_SPAN = re.compile(r"(\d+) ?([hdw])")
_SECONDS = {"h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}


@command("history", "raidbench history", "raidbench history md:md0 --since 30d --plot")
@click.argument("target", required=False)
@click.option("--workload", "--profile", metavar="NAME", help="Show only runs of this profile.")
@click.option(
    "--since", metavar="WHEN", help="Show only runs since a date (2026-01-31) or within a period (12h, 30d, 8w)."
)
@click.option("--plot", is_flag=True, help="Draw the runs of the last measured profile.")
@json_option
@redact_option
def history_command(
    target: str | None, workload: str | None, since: str | None, plot: bool, as_json: bool, redact: bool
) -> int:
    """List the runs of all sessions and where results changed.

    The oldest run is first. Each row shows the differences from the run before. TARGET is an address or device as
    `raidbench devices` lists it, a file, a serial number or a WWN. A device is identified by its WWN or serial number,
    even if its name was different in an earlier session.

    Exit status: 5 if a loss began with the last session, as in `raidbench baseline check`; 4 if a reported loss
    continues.
    """
    moment = None if since is None else parse_moment(since)
    every_run, also = all_runs()
    runs = select_runs(every_run, target, workload=workload, since=moment)
    series = series_of(runs)
    status = status_of_history(run_series.chart.standing for run_series in series.values())
    redactor = _redactor(runs, also) if redact else None
    if as_json:
        body = history_document(runs, series)
        from app.core.session.redaction import redact_json

        document(body if redactor is None else redact_json(body, redactor))
        return status
    if not runs:
        say("No matching runs." if every_run else "There are no runs yet: `raidbench bench TARGET` starts one.")
        return DONE
    rows = [*_rows(runs, series), *(_picture_rows(runs, series) if plot else ())]
    lines(rows if redactor is None else map(redactor.text, rows))
    if plot and len(series) > 1:
        say(f"{units.plural(len(series) - 1, 'other condition')} not drawn. Select one with TARGET and --workload.")
    return status


def _redactor(runs: Sequence[PastRun], also: Sequence[LoadedSession]) -> Redactor:
    """Return an object that hides all identifying names that occur in the sessions of the runs.

    Raises NotFoundError when a session is gone, StorageError when it cannot be read.
    """
    from app.core.session.multihost_names import joint_hosts
    from app.core.session.redaction import redactor_of_sessions

    elsewhere = {loaded.folder.name: loaded for loaded in also}
    names = dict.fromkeys(run.session for run in runs)
    sessions = [elsewhere.get(name) or loaded_session(name) for name in names]
    return redactor_of_sessions(
        *(loaded.session for loaded in sessions),
        others=[host for loaded in sessions for host in joint_hosts(loaded.folder)],
    )


def _rows(runs: Sequence[PastRun], series: Mapping[Condition, RunSeries]) -> Iterator[str]:
    changes = [change for run_series in series.values() for change in run_series.changes]
    yield from table_lines(history_table(runs, changes))
    for heading, sentences in (("Shifts of the level:", change_lines), ("Worse:", episode_lines)):
        rows = [row for run_series in series.values() for row in sentences(run_series)]
        if rows:
            yield from ("", heading, *(f"  {clean(row, 500)}" for row in rows))


def _picture_rows(runs: Sequence[PastRun], series: Mapping[Condition, RunSeries]) -> Iterator[str]:
    """Yield the lines of the graph for `--plot`, as wide as the terminal."""
    draw = action("plots.history_lines")
    last = next((run for run in reversed(runs) if run.condition in series), None)
    drawn = None if last is None or draw is None else draw(last, runs)
    if drawn is None:
        say("Nothing to draw: there is no complete run outside an A/B experiment or a sweep.")
    else:
        yield from ("", *drawn)


def parse_moment(text: str) -> float:
    """Return the time, in seconds since the epoch, of a date such as `2026-01-31` or of an age such as `30d`. Raises
    InvalidValueError if `text` is neither.
    """
    span = _SPAN.fullmatch(text.strip())
    if span is not None:
        return time.time() - int(span[1]) * _SECONDS[span[2]]
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"):
        try:
            return time.mktime(time.strptime(text.strip(), form))
        except (ValueError, OverflowError):
            continue
    raise InvalidValueError(
        f"{clean(text, 60)!r} is not a valid time.",
        hint="Use a date such as 2026-01-31, or a period such as 12h, 30d or 8w.",
    )
