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
from app.cli.options import DURATION, current, gather_options
from app.cli.output import lines, paint, print_json, say, say_lines
from app.cli.session_context import on_workbench, open_checked_session
from app.cli.shared_options import json_option
from app.features.fit.demands import Demands
from backends.errors import RefusedError
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.fit.profiles import FitProfile


class _Latency(click.ParamType[float]):
    """Option type: a time above 0 and up to a minute, written `500us`, `2.5ms` or `1s`, in seconds."""

    name = "duration"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds. Raises click.BadParameter if it is no such time."""
        match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)\s*(us|ms|s)", value.strip().lower(), re.ASCII)
        seconds = 0.0 if match is None else float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[match[2]]
        if not 0 < seconds <= 60:
            self.fail(f"'{clean(value, 40)}' is not a duration. Write 500us, 10ms or 1s.", param, ctx)
        return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class _FitOptions(Demands):
    """The options of `fit`."""

    profile: str
    folder: str
    length: int | None
    as_json: bool


@command("fit", "raidbench fit etcd", "raidbench fit prometheus .")
@click.argument("profile")
@click.argument("folder", default=".", metavar="[FOLDER]")
@click.option(
    "--limit", type=_Latency(), metavar="DURATION", help="Limit of the latency, such as 20ms (etcd, k8s, vm)."
)
@click.option("--heavy", is_flag=True, help="Apply the documented limit for heavy load (etcd, k8s).")
@click.option(
    "--commits",
    type=click.IntRange(1, 10**7),
    metavar="N",
    help="Commits per second of one connection (postgres, mysql).",
)
@click.option(
    "--p99", type=_Latency(), metavar="DURATION", help="Limit of the p99 of a flush, such as 5ms (postgres, mysql)."
)
@click.option("--iops", type=click.IntRange(4, 10**7), metavar="N", help="I/Os per second (vm, ceph-osd).")
@click.option("--mbps", type=click.IntRange(1, 10**6), metavar="N", help="Megabytes per second (kafka).")
@click.option("--for", "length", type=DURATION, metavar="DURATION", help="Duration, such as 15m.")
@json_option
@gather_options(_FitOptions)
def fit_command(options: _FitOptions) -> int:
    """Answer whether a folder is fit for etcd, a database or VMs.

    PROFILE is etcd, k8s, ceph-osd, postgres, mysql, vm, kafka or prometheus. FOLDER is the folder of its data (default:
    the current one). Eight runs take three minutes.

    The exit status is 0 for yes, 5 for no and for fast but not safe, 4 for not decided.
    """
    from app.features.fit.profiles import fit_profile, require_suitable

    profile = fit_profile(options.profile)
    require_suitable(profile, options)
    if current().read_only and profile.workload:
        raise RefusedError("Read-only mode: no scratch file is created.", hint="Leave out --read-only to measure.")
    return on_workbench(_fit, options, profile)


async def _fit(bench: Workbench, interruption: Interruption, options: _FitOptions, profile: FitProfile) -> int:
    from app.features.fit.decision import FitAnswer
    from app.features.fit.engine import busy_share, judge_fit, measure_fit, plan_fit, runs_for
    from app.features.fit.presentation import plan_lines, result_json, result_lines

    folder, _ = await resolve_target(bench, options.folder if "/" in options.folder else f"./{options.folder}")
    longer = {} if options.length is None else {"runs": runs_for(options.length)}
    plan = await plan_fit(bench, profile, folder, options, **longer)
    say_lines(plan_lines(plan))
    busy, runs = None, []
    if plan.ready is not None:
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
