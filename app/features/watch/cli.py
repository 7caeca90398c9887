"""`watch`: what a night looks at: what has changed, the check, the drift of a file, a baseline where it is idle."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.exit_status import DONE, FOUND, UNDECIDED
from app.cli.options import current
from app.cli.output import data, lines, print_json, prose_to_stderr, say
from app.cli.session_context import on_workbench
from app.cli.shared_options import ignore_option, json_option, unit_option
from backends.errors import NotFoundError, RefusedError
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.apply.drift import Drift
    from app.features.check.finding import Finding, RuleResult
    from app.features.check.runner import CheckResult
    from app.features.watch.finding_status import Compared, News, ReportedFinding

DRIFT = "drift"
"""What differences from a file are kept as, beside the ids of rules."""

IDLE_SHARE, IDLE_SECONDS = 0.05, 10.0
"""A device is idle that is busy for no more of so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """What a watch found without a load."""

    changed: tuple[str, ...] | None
    """What has changed since the last one; None where there was none."""
    checked: CheckResult
    """What the rules say."""
    drifts: tuple[Drift, ...]
    """What differs from the file."""
    skipped: str
    """Why the baseline is not measured, "" where it is or none was named."""
    compared: Compared
    """Which findings and differences are new, worse or known."""


@command("watch", "raidbench watch site.toml --baseline nightly", "raidbench watch --unit")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--baseline", metavar="NAME", help="Also measure this read-only baseline if its device is idle.")
@ignore_option
@unit_option
@json_option
def watch_command(
    file: Path | None, baseline: str | None, ignored: tuple[str, ...], unit: str | None, as_json: bool
) -> int:
    """Report changes, new findings and drift since the last watch.

    FILE is a settings file: differences from it are drift. With --baseline, the baseline is measured again if its
    device is idle. A busy device is reported and not measured.

    Exit status: 5 if a warning, fault or difference is new or worse, or the baseline is worse; 4 if all of them are
    known from an earlier watch. Once a week, known ones are reported again with exit status 5.
    """
    if unit is not None:
        data(_units(unit, file, baseline, ignored).rstrip("\n"))
        return DONE
    from app.features.check.runner import require_known_rules

    ignore = require_known_rules(ignored)
    watched = on_workbench(_watch, file, baseline, ignore)
    _print_result(watched, as_json=as_json)
    status = FOUND if watched.compared.has_news else UNDECIDED if watched.compared.news else DONE
    if baseline is not None and not watched.skipped:
        from app.features.history.baseline_cli import CheckOptions, check_baseline

        with prose_to_stderr():
            worse = check_baseline(CheckOptions(name=baseline))
        status = FOUND if FOUND in (status, worse) else status
    return status


async def _watch(
    bench: Workbench, _: Interruption, file: Path | None, baseline: str | None, ignore: frozenset[str]
) -> _Watched:
    from app.features.check.collector import gather, readings_of
    from app.features.check.runner import evaluate
    from app.features.watch import last_watch

    inventory = await bench.hardware.probe()
    readings, problems = await readings_of(bench.hardware.machine, inventory)
    kernel = clean(await bench.host.read("/proc/sys/kernel/osrelease") or "", 64)
    now = last_watch.remember(kernel, inventory, readings)
    kept = bench.paths.state / "watched.json"
    recorded = current().machine is not None
    before = None if recorded else last_watch.load(kept)
    if not recorded:
        last_watch.keep(kept, now)
    checked = evaluate(await gather(bench.host, inventory, readings), ignore=ignore, problems=problems)
    drifts = await _drifts(bench, file)
    skipped = "" if baseline is None else await _why_skipped(bench, baseline)
    compared = _compare(checked, drifts, None if recorded else bench.paths.state / "watched-findings.json")
    return _Watched(
        changed=None if before is None else tuple(last_watch.changes_since(before, now)),
        checked=checked,
        drifts=drifts,
        skipped=skipped,
        compared=compared,
    )


def _compare(checked: CheckResult, drifts: tuple[Drift, ...], kept: Path | None) -> Compared:
    """Return which warnings, faults and differences are new since the last watch, and keep them for the next one."""
    from app.features.check.finding import Severity
    from app.features.check.rule_table import RULES
    from app.features.watch import finding_status

    findings = [_finding(result) for result in checked.from_on(Severity.WARN)]
    findings += [_difference(drift) for drift in drifts]
    before = finding_status.ReportedFindings() if kept is None else finding_status.load(kept)
    silent = [problem.where for problem in checked.problems]
    compared = finding_status.compare(findings, before, time.time(), rules=(*RULES, DRIFT), silent=silent)
    if kept is not None:
        finding_status.keep(kept, compared.keep)
    return compared


def _finding(result: RuleResult[Finding]) -> ReportedFinding:
    from app.features.watch.finding_status import ReportedFinding

    rule, finding = result.rule, result.outcome
    return ReportedFinding(rule=rule.id, where=finding.where, rank=rule.severity.rank, evidence=finding.evidence)


def _difference(drift: Drift) -> ReportedFinding:
    from app.features.check.finding import Severity
    from app.features.watch.finding_status import ReportedFinding

    where = f"{drift.target or '-'} {drift.key or drift.why}"
    evidence = f"{drift.kind.value} {drift.now} {drift.wanted}"
    return ReportedFinding(rule=DRIFT, where=where, rank=Severity.WARN.rank, evidence=evidence)


async def _drifts(bench: Workbench, file: Path | None) -> tuple[Drift, ...]:
    if file is None:
        return ()
    from app.features.apply.applying import unsaved_differences
    from app.features.apply.drift import DriftScan
    from app.features.apply.settings_file import read_file

    wanted = read_file(file)
    state = await DriftScan(bench, wanted).look()
    return (*state.drifts, *(await unsaved_differences(bench, state) if wanted.persist else ()))


async def _why_skipped(bench: Workbench, name: str) -> str:
    """Why a baseline is not measured now, "" where it is. Raises RefusedError for one that writes, NotFoundError."""
    from app.core.analysis.past_runs.earlier_runs import node_of
    from app.core.fio.job import Job
    from app.features.history.baselines import Baselines
    from backends.topology import kernel_name

    baseline = Baselines(bench.paths).load(name)
    if Job.from_fields(baseline.start.job).writes:
        raise RefusedError(
            f"The baseline {name} writes: nobody is there at night to answer for that.",
            hint="Name one that only reads.",
        )
    device = node_of(bench.session.inventory, baseline.thing) or baseline.start.device
    if device is None:
        raise NotFoundError(f"What the baseline {name} was measured on is not here.")
    share = await _busy_share(bench, kernel_name(device))
    return "" if share is None or share <= IDLE_SHARE else f"{device} is busy ({share:.0%} of {IDLE_SECONDS:g} s)"


async def _busy_share(bench: Workbench, name: str) -> float | None:
    """Share of ten seconds in which a disk had something to do; None where nobody counts."""
    from app.core.benchmark.device_stats.diskstats import parse, since
    from app.core.benchmark.device_stats.sampler import PATH

    if not bench.host.capabilities.live:
        return None
    before = parse(await bench.host.read(PATH) or "", (name,)).get(name)
    if before is None:
        return None
    await asyncio.sleep(IDLE_SECONDS)
    now = parse(await bench.host.read(PATH) or "", (name,)).get(name)
    return None if now is None else since(before, now).busy_ms / (IDLE_SECONDS * 1000)


def _print_result(watched: _Watched, *, as_json: bool) -> None:
    from app.features.apply import presentation
    from app.features.check import presentation as check_view
    from app.features.watch.finding_status import News

    if as_json:
        print_json(
            changed=None if watched.changed is None else list(watched.changed),
            **check_view.findings_json(watched.checked),
            drift=[presentation.drift_json(drift) for drift in watched.drifts],
            news=[
                {"id": rule, "where": where, "news": news.value}
                for (rule, where), news in watched.compared.news.items()
            ],
            baseline_skipped=watched.skipped or None,
        )
        return
    if watched.changed is None:
        say("This is the first watch: the next one tells what has changed.")
    elif watched.changed:
        lines(f"changed   {clean(name, 300)}" for name in watched.changed)
    else:
        say("Nothing has changed since the last watch.")
    for result in watched.checked.findings:
        text = f"{clean(result.outcome.where, 200)}: {clean(result.outcome.message, 500)}"
        news = watched.compared.news.get(_finding(result).key)
        lines([f"{result.rule.severity.value:<8}  {result.rule.id}  {text}{_news_text(news)}"])
    lines(
        f"{presentation.drift_line(drift)}{_news_text(watched.compared.news.get(_difference(drift).key))}"
        for drift in watched.drifts
    )
    if News.REMINDER in watched.compared.news.values():
        say("This is a reminder: a week has passed since the known findings were last reported.")
    if watched.skipped:
        say(f"The baseline is skipped, which is no night: {clean(watched.skipped, 300)}.")
    say(f"{check_view.summary(watched.checked)} {plural(len(watched.drifts), 'difference')} from the file.")


def _news_text(news: News | None) -> str:
    """Return what is appended to the line of a finding; notes are not compared."""
    return "" if news is None else f" ({news.value})"


def _units(which: str, file: Path | None, baseline: str | None, ignored: tuple[str, ...]) -> str:
    from app.core.changes.systemd_units import units_text
    from backends.self_exec import persistent_argv

    parts = [*persistent_argv(), "watch", *([str(file.absolute())] if file is not None else [])]
    parts += ["--baseline", baseline] if baseline is not None else []
    parts += [word for name in ignored for word in ("--ignore", name)]
    return units_text(
        "raidbench-watch",
        which,
        parts,
        description="Storage: what has changed, what is wrong, what drifted",
        calendar="*-*-* 02:30",
        spread="30min",
        well=(UNDECIDED,),
        environment={name: os.environ[name] for name in ("RAIDBENCH_STATE_DIR",) if name in os.environ},
    )
