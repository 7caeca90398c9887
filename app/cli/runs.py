"""`runs` and `compare`: list runs, and compare two of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.options import current, over_hosts
from app.cli.output import is_text_wanted, lines, paint, print_json, say
from app.cli.render import table_lines
from app.cli.session_context import picked_session, readable_sessions
from app.cli.shared_options import json_option, judge_again_option, threshold_option
from app.core.analysis.comparison import Comparison, compare, compare_sections
from app.core.analysis.sample_groups import Replicates
from app.core.analysis.stored_verdicts import stored_comparison, without_stored_verdicts
from app.core.presentation import json_schema, json_schema_compare
from app.core.presentation.comparison import NO_PAIR, ab_headings, comparison_table, experiment_lines, sides_table
from app.core.presentation.comparison_text import caveat_texts, comparison_sentence
from app.core.presentation.run import targets_table
from app.core.presentation.run_list import ListedRun, against_cell, runs_table
from app.core.presentation.table import Cell
from app.core.session import store
from app.core.session.folders import run_count, session_folders
from app.core.session.state import ExperimentRecord, RunRecord
from app.core.session.store import LoadedSession
from backends.errors import NotFoundError, RaidbenchError
from backends.text import clean
from widgets.text_utils import units

PSEUDONYMS = (
    "One of the runs is redacted. Its serial numbers, host names and similar data are pseudonyms, so they differ."
)
_MAX_SESSIONS = 50
"""Maximum number of further sessions whose repeats are used when runs of two sessions are compared."""


@command("runs", "raidbench runs", "raidbench runs --all --json")
@click.option("--all", "everything", is_flag=True, help="Include the runs of earlier sessions.")
@json_option
@over_hosts()
def runs_command(everything: bool, as_json: bool) -> int:
    """List the runs of the session.

    Settings that differ between the runs are columns.
    """
    sessions = list(readable_sessions())[::-1] if everything else _session()
    pairs = [(loaded, run) for loaded in sessions for run in loaded.session.runs]
    if as_json:
        print_json(
            session=None if everything or not sessions else sessions[0].display_path,
            runs=[json_schema.run(run, session=loaded.display_path) for loaded, run in pairs],
            experiments=[
                _experiment_json(loaded, record, stored_comparison(loaded.session, record.id))
                for loaded in sessions
                for record in loaded.session.experiments
            ],
        )
        if not is_text_wanted():
            return DONE
    if not pairs:
        say(_no_runs_text(sessions))
        return DONE
    lines(_table(pairs, named=everything))
    for loaded in sessions:
        for record in loaded.session.experiments:
            shown = next(experiment_lines(record, stored_comparison(loaded.session, record.id)))
            lines([f"{f'{loaded.folder.name}/' if everything else ''}{record.id}  {clean(shown, 1000)}"])
    return DONE


def _session() -> list[LoadedSession]:
    """Return a list with the selected session, or else the last one; an empty list if there is none yet."""
    try:
        return [picked_session()]
    except NotFoundError:
        if current().session is not None:
            raise
        return []


def _no_runs_text(shown: Sequence[LoadedSession]) -> str:
    """Return a message that the shown sessions have no runs; with the command that lists those of other sessions."""
    start = "`raidbench bench TARGET` starts one."
    shown_folders = {loaded.folder for loaded in shown}
    counts = [run_count(folder) for folder in session_folders(current().paths) if folder not in shown_folders]
    if not any(counts):
        return f"There are no runs yet: {start}"
    have = units.plural(sum(map(bool, counts)), "other session has", "other sessions have")
    others = f"{have} {units.plural(sum(counts), 'run')}: `raidbench runs --all` lists them."
    return f"This session has no runs: {start} {others}"


def _earlier_repeats(run: RunRecord, *excluded: LoadedSession) -> Iterator[tuple[RunRecord, ...]]:
    """Yield the runs of each recent session, newest first, that contains the job of `run`; skip `excluded` sessions."""
    from app.core.analysis.past_runs.earlier_runs import job_text
    from app.core.analysis.past_runs.index import load_past_runs

    job = job_text(run.start.job_texts)
    root = current().paths.sessions
    excluded_names = {loaded.folder.name for loaded in excluded}
    past = load_past_runs(current().paths).runs
    names = dict.fromkeys(
        past_run.session
        for past_run in reversed(past)
        if past_run.job == job and past_run.session not in excluded_names
    )
    for name in list(names)[:_MAX_SESSIONS]:
        with contextlib.suppress(RaidbenchError):
            yield store.load(root / name).session.runs


def _table(pairs: list[tuple[LoadedSession, RunRecord]], *, named: bool) -> list[str]:
    by_session = {loaded.folder: Replicates(loaded.session.runs) for loaded, _ in pairs}
    listed = [
        ListedRun(
            record=run,
            name=f"{loaded.folder.name}/{run.id}" if named else run.id,
            repeats=by_session[loaded.folder],
            baseline=loaded.session.baseline == run.id,
            against=_baseline_cell(loaded, run, by_session[loaded.folder]),
        )
        for loaded, run in pairs
    ]
    return table_lines(runs_table(listed, full=True))


def _baseline_cell(loaded: LoadedSession, run: RunRecord, repeats: Replicates) -> Cell | None:
    baseline = None if loaded.session.baseline is None else loaded.session.run(loaded.session.baseline)
    return None if baseline is None else against_cell(baseline, run, repeats, loaded.session.experiments)


@command("compare", "raidbench compare r1 r2", "raidbench compare e1 --json")
@click.argument("a")
@click.argument("b", required=False)
@threshold_option()
@judge_again_option
@json_option
def compare_command(a: str, b: str | None, threshold: float | None, judge_again: bool, as_json: bool) -> int:
    """Compare two runs or show an experiment.

    A and B are runs such as r3, or SESSION/r3 for a run of another session or archive. Repeats of both runs are
    included. The difference is in percent of A. For an experiment of `raidbench ab`, give only its name, such as e1.
    """
    if b is None:
        if threshold is not None:
            raise click.UsageError("--threshold cannot be used for an experiment: its plan fixed the threshold.")
        return _experiment(a, judge_again, as_json)
    (where_a, run_a), (where_b, run_b) = find_run(a), find_run(b)
    earlier = () if where_a.folder == where_b.folder else tuple(_earlier_repeats(run_a, where_a, where_b))
    sides = (run_a, run_b, where_a.session.runs, where_b.session.runs)
    comparison = compare(
        *sides, names=(a, b), earlier=earlier, threshold=threshold, experiments=where_a.session.experiments
    )
    sections = compare_sections(*sides, names=(a, b), earlier=earlier, threshold=threshold)
    if where_a.redacted != where_b.redacted:
        say(PSEUDONYMS)
    if as_json:
        print_json(
            a=json_schema.run(run_a, session=where_a.display_path),
            b=json_schema.run(run_b, session=where_b.display_path),
            sentence=comparison_sentence(comparison),
            interleaved=comparison.sides.interleaved,
            threshold_percent=comparison.sides.threshold,
            runs_a=[run.id for run in comparison.sides.a],
            runs_b=[run.id for run in comparison.sides.b],
            figures=list(map(json_schema_compare.figure, comparison.rows)),
            sections=[
                {
                    "name": name,
                    "sentence": comparison_sentence(section),
                    "figures": list(map(json_schema_compare.figure, section.rows)),
                }
                for name, section in sections
            ]
            or None,
            settings=_differences(comparison.settings),
            job=_differences(comparison.job),
            provenance=_differences(comparison.provenance),
            two_sessions=comparison.sides.apart,
            between_sessions=json_schema_compare.between(comparison.between),
            caveats=list(caveat_texts(comparison)),
        )
        return DONE
    return _side_by_side(comparison, a, b, sections)


def _differences(rows: Iterable[tuple[str, Any, Any]]) -> list[json_schema.Json]:
    return [{"key": key, "a": item, "b": other} for key, item, other in rows]


def _experiment(name: str, judge_again: bool, as_json: bool) -> int:
    """Show an experiment of `raidbench ab` and return the exit status. `name`: `e1` or `SESSION/e1`."""
    session, slash, experiment_id = name.rpartition("/")
    loaded, record = find_experiment(session if slash else None, experiment_id)
    comparison = stored_comparison(
        without_stored_verdicts(loaded.session) if judge_again else loaded.session, record.id
    )
    if as_json:
        print_json(experiment=_experiment_json(loaded, record, comparison))
        return DONE
    if comparison is None:
        say(f"{record.id}: {NO_PAIR}")
        return DONE
    return _side_by_side(comparison, *ab_headings(record))


def _experiment_json(
    loaded: LoadedSession, record: ExperimentRecord, comparison: Comparison | None
) -> json_schema.Json:
    return json_schema_compare.experiment(record, loaded.session, comparison, session=loaded.display_path)


def find_experiment(session: str | None, experiment_id: str) -> tuple[LoadedSession, ExperimentRecord]:
    """Return a session and its experiment with this id. `session`: None for the last session.

    Raises NotFoundError, which names the existing experiments.
    """
    loaded = picked_session(session)
    record = loaded.session.experiment(experiment_id)
    if record is None:
        names = ", ".join(experiment.id for experiment in loaded.session.experiments) or "none"
        raise NotFoundError(
            f"The session {loaded.folder.name} has no experiment {clean(experiment_id, 40)}.",
            hint=f"Experiments: {names}. To compare two runs, use `raidbench compare r1 r2`.",
        )
    return loaded, record


def find_run(name: str) -> tuple[LoadedSession, RunRecord]:
    """Return the run that `name` (`r3` or `SESSION/r3`) names, and its session.

    Raises NotFoundError, which names the existing runs.
    """
    session, slash, run_id = name.rpartition("/")
    loaded = picked_session(session if slash else None)
    run = loaded.session.run(run_id)
    if run is None:
        names = ", ".join(run.id for run in loaded.session.runs) or "none"
        raise NotFoundError(
            f"The session {loaded.folder.name} has no run {clean(run_id, 40)}.",
            hint=f"Runs: {names}. `raidbench runs --all` lists the runs of earlier sessions.",
        )
    return loaded, run


def _side_by_side(comparison: Comparison, a: str, b: str, sections: Sequence[tuple[str, Comparison]] = ()) -> int:
    lines([paint(clean(comparison_sentence(comparison), 1000), "bold")])
    lines(clean(f"{name}: {comparison_sentence(section)}", 1000) for name, section in sections)
    lines([""])
    lines([*table_lines(sides_table(comparison, a, b)), "", *table_lines(comparison_table(comparison, a, b))])
    section = targets_table(comparison.a, comparison.b, (a, b))
    lines(["", *table_lines(section)] if section.rows else [])
    for caveat in caveat_texts(comparison):
        say(clean(caveat, 600))
    return DONE
