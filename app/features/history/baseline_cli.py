"""The `baseline` command: save runs under a name, and later measure the same job again to compare the results."""

from __future__ import annotations

from contextlib import closing

import click

from app.cli.async_runner import Interruption
from app.cli.bench import measure_runs
from app.cli.bench_progress import RunProgressPrinter
from app.cli.bench_target import resolve_target
from app.cli.command import CliGroup
from app.cli.error_exit import exit_status
from app.cli.exit_status import DONE, FAILED, FOUND, INTERRUPTED, UNDECIDED
from app.cli.options import PERCENT, current, gather_options
from app.cli.output import document, lines, print_json, report_error, say
from app.cli.render import table_lines
from app.cli.runs import find_run
from app.cli.session_context import loaded_session, on_workbench
from app.cli.shared_options import confirm_option, json_option
from app.core.analysis.past_runs.earlier_runs import device_id_of_run, node_of
from app.core.analysis.past_runs.index import load_past_runs
from app.core.analysis.regression import LATER_THRESHOLD_PERCENT
from app.core.analysis.sample_groups import Replicates
from app.core.analysis.verdict import FEWEST_RUNS
from app.core.benchmark.run_plan import BenchmarkRequest
from app.core.fio.job import Job
from app.core.presentation.table import without_empty_columns
from app.core.session.state import RunRecord
from app.core.session.store import LoadedSession
from app.core.workbench import Workbench
from app.features.history.baseline_check import STATUS, check_runs
from app.features.history.baseline_presentation import baseline_json, baselines_table, check_json, check_text
from app.features.history.baselines import Baseline, Baselines, baseline_of
from backends.errors import AnotherDeviceError, InvalidValueError, NotFoundError, RaidbenchError
from backends.text import clean
from backends.values import dataclass


@click.group("baseline", cls=CliGroup)
def baseline_command() -> None:
    """Save runs as a baseline and measure against it later."""


@baseline_command.command(
    "save", examples=("raidbench baseline save before-update", "raidbench baseline save nightly r3")
)
@click.argument("name")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--replace", is_flag=True, help="Replace an existing baseline of this name.")
@json_option
def save_command(name: str, runs: tuple[str, ...], replace: bool, as_json: bool) -> int:
    """Save a run and its repeats as a baseline.

    RUN is a run such as r3, or SESSION/r3 for a run of another session (default: the last run of the session). If you
    name several runs, exactly these are saved.
    """
    loaded, records = _find_runs(runs)
    baseline = baseline_of(name, loaded, records)
    Baselines(current().paths).save(baseline, replace=replace)
    if as_json:
        print_json(baseline=baseline_json(baseline))
    ids = ", ".join(record.id for record in records)
    say(f"Baseline {name}: {ids} of {clean(baseline.session, 100)}. Repeat it with `raidbench baseline check {name}`.")
    return DONE


@baseline_command.command("list", examples=("raidbench baseline list",))
@json_option
def list_command(as_json: bool) -> int:
    """List the baselines."""
    store = Baselines(current().paths)
    baselines: list[Baseline] = []
    for name in store.names():
        try:
            baselines.append(store.load(name))
        except NotFoundError:  # deleted meanwhile
            continue
        except RaidbenchError as error:
            say(f"{name}: {clean(error.message, 300)}")
    if as_json:
        print_json(baselines=[baseline_json(baseline) for baseline in baselines])
    elif baselines:
        lines(table_lines(without_empty_columns(baselines_table(baselines))))
    else:
        say("There is no baseline yet. Save the last run and its repeats with `raidbench baseline save NAME`.")
    return DONE


@baseline_command.command("remove", examples=("raidbench baseline remove before-update",))
@click.argument("name")
@json_option
def remove_command(name: str, as_json: bool) -> int:
    """Remove a baseline. Its runs stay."""
    Baselines(current().paths).remove(name)
    if as_json:
        print_json(removed=name)
    say(f"The baseline {name} was removed.")
    return DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """Options of `baseline check`."""

    name: str
    repeats: int | None = None
    threshold: float = LATER_THRESHOLD_PERCENT
    typed: str | None = None
    worse_is_1: bool = False
    as_json: bool = False


@baseline_command.command("check", examples=("raidbench baseline check before-update",))
@click.argument("name")
@click.option(
    "--repeats",
    type=click.IntRange(FEWEST_RUNS, 1000),
    metavar="N",
    help=f"Number of runs (default: as many as the baseline has, at least {FEWEST_RUNS}).",
)
@click.option(
    "--threshold",
    type=PERCENT,
    default=f"{LATER_THRESHOLD_PERCENT:g}",
    metavar="PERCENT",
    help=f"Smallest loss that matters (default: {LATER_THRESHOLD_PERCENT:g} %).",
)
@confirm_option
@click.option(
    "--worse-is-1", is_flag=True, help="Exit with 1 instead of 5 if the result is worse. Only for this release."
)
@json_option
@gather_options(CheckOptions)
def check_command(options: CheckOptions) -> int:
    """Measure the job of a baseline again and report a loss.

    The job runs on the same device, in a session of its own. From the tenth check on, all checks since the baseline
    form a control chart.

    Exit status: 0 if the loss is below the threshold; 5 if the result is worse, once for each episode; 4 if the result
    is undecided, was reported before, or could not be measured.
    """
    return check_baseline(options)


def check_baseline(options: CheckOptions) -> int:
    """Measure the job of a baseline again, print the result of the check, and return the exit status."""
    try:
        baseline = Baselines(current().paths).load(options.name)
        rights = not baseline.start.target.startswith("/")
        status = on_workbench(_check, baseline, options, rights=rights)
        return FAILED if options.worse_is_1 and status == FOUND else status
    except RaidbenchError as error:
        if exit_status(error) != FAILED:
            raise
        report_error(error)  # the status is not 1, which with --worse-is-1 means that the result is worse
        return UNDECIDED


async def _check(bench: Workbench, interruption: Interruption, baseline: Baseline, options: CheckOptions) -> int:
    where, shown = await _find_device(bench, baseline)
    start = baseline.start
    request = BenchmarkRequest(
        where=where, name=shown, job=Job.from_fields(start.job), profile=start.profile, steady=start.steady
    )
    repeats = options.repeats or len(baseline.runs)
    with closing(RunProgressPrinter(bench, stream=False)) as follower:
        records, _ = await measure_runs(bench, interruption, request, repeats, options.typed, follower, fresh=True)
    if interruption.is_requested():
        return INTERRUPTED
    _require_same_device(bench, baseline, records)
    result = check_runs(baseline, records, load_past_runs(bench.paths).runs, threshold=options.threshold)
    if options.as_json:
        document(check_json(result, str(bench.folder)))
    else:
        lines([clean(check_text(result), 2000)])
    return STATUS[result.judgement.standing]


async def _find_device(bench: Workbench, baseline: Baseline) -> tuple[str, str]:
    """Return the present path and the display name of the baseline's device. Raises NotFoundError when the device is
    gone.
    """
    start = baseline.start
    if start.scratch is not None or (start.target.startswith("/") and start.target != start.device):
        return await resolve_target(bench, start.target)
    inventory = await bench.hardware.probe()
    node = node_of(inventory, baseline.thing)
    if node is not None:
        things = inventory.at(node)
        return node, str(things[0].target) if things else node
    if baseline.thing != f"{bench.host.name} {start.target}":
        raise NotFoundError(
            f"The device of baseline {baseline.name} was not found: {clean(baseline.thing, 200)}.",
            hint="List the devices with `raidbench devices`.",
        )
    return await resolve_target(bench, start.target)


def _require_same_device(bench: Workbench, baseline: Baseline, records: list[RunRecord]) -> None:
    """Raise AnotherDeviceError when the new runs did not measure the baseline's device, for example because the scratch
    file is now on another disk.
    """
    for record in records:
        name = device_id_of_run(record.start, bench.session.inventory, bench.host.name)
        if name != baseline.thing:
            raise AnotherDeviceError(
                f"{clean(record.start.target, 200)} is now on another device: {clean(name, 200)}, not"
                f" {clean(baseline.thing, 200)}.",
                hint="Nothing was compared. Save a baseline of the new device with `raidbench baseline save`.",
            )


def _find_runs(names: tuple[str, ...]) -> tuple[LoadedSession, tuple[RunRecord, ...]]:
    """Return the session of the named runs, and the runs.

    Raises NotFoundError if there is no such run, InvalidValueError for runs of several sessions.
    """
    if len({name.rpartition("/")[0] for name in names}) > 1:
        raise InvalidValueError("A baseline can only contain runs of one session.", hint="Specify runs of one session.")
    pairs = [find_run(name) for name in names]
    loaded = pairs[0][0] if pairs else loaded_session()
    records = [record for _, record in pairs]
    if not records:
        if not loaded.session.runs:
            raise NotFoundError(
                f"The session {loaded.folder.name} has no run.", hint="Measure one with `raidbench bench`."
            )
        records = [loaded.session.runs[-1]]
    if len(records) > 1:
        return loaded, tuple(records)
    return loaded, Replicates(loaded.session.runs).of(records[0]) or (records[0],)
