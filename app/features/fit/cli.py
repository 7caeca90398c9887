"""The `fit` command: measures a folder as a program uses it, and answers whether it is fit."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.bench_progress import RunProgressPrinter
from app.cli.bench_target import resolve_target
from app.cli.command import command
from app.cli.exit_status import DONE, FOUND, INTERRUPTED, UNDECIDED
from app.cli.options import current, gather_options
from app.cli.output import lines, paint, print_json, say, say_lines
from app.cli.session_context import on_workbench, open_checked_session
from app.cli.shared_options import json_option
from backends.errors import InvalidValueError, RefusedError
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.fit.profiles import Demands, FitProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class _FitOptions:
    """The options of `fit`."""

    profile: str
    folder: str
    limit: str | None
    heavy: bool
    commits: int | None
    p99: str | None
    iops: int | None
    mbps: int | None
    length: str | None
    as_json: bool


@command("fit", "raidbench fit etcd", "raidbench fit prometheus .")
@click.argument("profile")
@click.argument("folder", default=".", metavar="[FOLDER]")
@click.option("--limit", metavar="DURATION", help="Limit of the latency, such as 20ms (etcd, k8s, vm).")
@click.option("--heavy", is_flag=True, help="Apply the documented limit for heavy load (etcd, k8s).")
@click.option(
    "--commits",
    type=click.IntRange(1, 10**7),
    metavar="N",
    help="Commits per second of one connection (postgres, mysql).",
)
@click.option("--p99", metavar="DURATION", help="Limit of the p99 of a flush, such as 5ms (postgres, mysql).")
@click.option("--iops", type=click.IntRange(4, 10**7), metavar="N", help="I/Os per second (vm, ceph-osd).")
@click.option("--mbps", type=click.IntRange(1, 10**6), metavar="N", help="Megabytes per second (kafka).")
@click.option("--for", "length", metavar="DURATION", help="Duration, such as 15m.")
@json_option
@gather_options(_FitOptions)
def fit_command(options: _FitOptions) -> int:
    """Answer whether a folder is fit for etcd, a database or VMs.

    PROFILE is etcd, k8s, ceph-osd, postgres, mysql, vm, kafka or prometheus. FOLDER is the folder of its data (default:
    the current one). Eight runs take three minutes.

    The exit status is 0 for yes, 5 for no and for fast but not safe, 4 for not decided.
    """
    from app.features.fit.profiles import fit_profile, require_suitable

    profile, demands = fit_profile(options.profile), _demands(options)
    require_suitable(profile, demands)
    if current().read_only and profile.workload:
        raise RefusedError("Read-only mode: no scratch file is created.", hint="Leave out --read-only to measure.")
    return on_workbench(_fit, options, profile, demands)


async def _fit(
    bench: Workbench, interruption: Interruption, options: _FitOptions, profile: FitProfile, demands: Demands
) -> int:
    from app.features.fit.assessment import FitAnswer
    from app.features.fit.engine import busy_share, judge_fit, measure_fit, plan_fit, runs_for
    from app.features.fit.presentation import plan_lines, result_json, result_lines

    folder, _ = await resolve_target(bench, options.folder if "/" in options.folder else f"./{options.folder}")
    length = _seconds(options.length, "--for")
    plan = await plan_fit(bench, profile, folder, demands, **({} if length is None else {"runs": runs_for(length)}))
    say_lines(plan_lines(plan))
    busy, runs = None, []
    if plan.request is not None:
        busy = await busy_share(bench, plan.disk)
        await open_checked_session(bench)
        with (
            closing(RunProgressPrinter(bench, stream=False)) as printer,
            interruption.stop_on_signal(bench.jobs.stop),
        ):
            runs = await measure_fit(
                bench,
                plan,
                begin=lambda number: printer.begin(f"{number}/{plan.runs} "),
                is_stopped=interruption.is_requested,
            )
        if interruption.is_requested() or len(runs) < plan.runs:
            say("Stopped before all runs were complete, so there is no answer.")
            return INTERRUPTED
    else:
        await bench.hardware.probe_if_stale()
    result = await judge_fit(bench, plan, runs, busy)
    if options.as_json:
        runs_of = [run.id for run in bench.session.runs[-len(runs) :]] if runs else []
        print_json(**result_json(plan, result), session=str(bench.folder) if runs else None, runs=runs_of)
    else:
        first, *rest = result_lines(plan, result)
        lines([paint(first, "bold"), *rest])
        lines(["SIMULATED"] if bench.simulated else [])
    if runs:
        last = bench.session.runs[-1].id
        say(f"The runs up to {last} are in {clean(str(bench.folder), 300)}")
    return {FitAnswer.YES: DONE, FitAnswer.UNDECIDED: UNDECIDED}.get(result.answer, FOUND)


def _demands(options: _FitOptions) -> Demands:
    from app.features.fit.profiles import Demands

    return Demands(
        limit_s=_seconds(options.limit, "--limit"),
        heavy=options.heavy,
        commits=options.commits,
        p99_s=_seconds(options.p99, "--p99"),
        iops=options.iops,
        mbps=options.mbps,
    )


_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*([a-z]+)", re.ASCII)


def _seconds(text: str | None, option: str) -> float | None:
    """Return the seconds in a text such as `20ms` or `15m`; None without a text. Raises InvalidValueError."""
    if text is None:
        return None
    match = _DURATION.fullmatch(text.strip().lower())
    seconds = 0.0 if match is None else float(match[1]) * _UNITS.get(match[2], 0.0)
    if not 0 < seconds <= 86_400:
        raise InvalidValueError(
            f"{option}: '{clean(text, 40)}' is not a duration.", hint="Write 500us, 10ms, 90s or 15m."
        )
    return seconds
