"""The `watch` command: nightly, it checks for changes, findings and drift from a file, and measures a baseline."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.exit_status import DONE, FOUND, UNDECIDED
from app.cli.options import current
from app.cli.output import data, lines, print_json, prose_to_stderr, say, terminal_width
from app.cli.session_context import on_workbench
from app.cli.shared_options import ignore_option, json_option, unit_option
from backends.errors import NotFoundError, RefusedError
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils.text import wrap_words
from widgets.text_utils.units import fraction, plural

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.apply.drift import Drift
    from app.features.check.finding import Finding, RuleResult
    from app.features.check.runner import CheckResult
    from app.features.watch.finding_status import News, ReportedFinding, WatchComparison

DRIFT = "drift"
"""Rule id under which differences from the settings file are saved with the findings."""

IDLE_SHARE, IDLE_SECONDS = 0.05, 10.0
"""A device counts as idle if it is busy for at most this share of this number of seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _WatchResult:
    """The result of a watch, except for the result of the baseline."""

    changed: tuple[str, ...] | None
    """Changes since the last watch; None if this is the first watch."""
    checked: CheckResult
    """Results of the check rules."""
    drifts: tuple[Drift, ...]
    """Differences from the settings file."""
    skipped: str
    """Why the baseline is not measured; "" if it is measured or if no baseline was given."""
    compared: WatchComparison
    """Which of the findings and differences are new, worse or known."""


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
    result = on_workbench(_watch, file, baseline, ignore)
    _print_result(result, as_json=as_json)
    status = FOUND if result.compared.has_news else UNDECIDED if result.compared.news else DONE
    if baseline is not None and not result.skipped:
        from app.features.history.baseline_cli import CheckOptions, check_baseline

        with prose_to_stderr():
            worse = check_baseline(CheckOptions(name=baseline))
        status = FOUND if FOUND in (status, worse) else status
    return status


async def _watch(
    bench: Workbench, _: Interruption, file: Path | None, baseline: str | None, ignore: frozenset[str]
) -> _WatchResult:
    from app.features.check.collector import gather
    from app.features.check.runner import evaluate
    from app.features.watch import last_watch

    inventory = await bench.hardware.probe()
    readings, problems = await bench.hardware.machine.read_devices(inventory)
    kernel = clean(await bench.host.read("/proc/sys/kernel/osrelease") or "", 64)
    now = last_watch.remember(kernel, inventory, readings)
    kept = bench.paths.state / "watched.json"
    recorded = current().machine is not None
    before = None if recorded else last_watch.load(kept)
    if not recorded:
        last_watch.save(kept, now)
    checked = evaluate(await gather(bench.host, inventory, readings), ignore=ignore, problems=problems)
    drifts = await _drifts(bench, file)
    skipped = "" if baseline is None else await _why_skipped(bench, baseline)
    compared = _compare(checked, drifts, None if recorded else bench.paths.state / "watched-findings.json")
    return _WatchResult(
        changed=None if before is None else tuple(last_watch.changes_since(before, now)),
        checked=checked,
        drifts=drifts,
        skipped=skipped,
        compared=compared,
    )


def _compare(checked: CheckResult, drifts: tuple[Drift, ...], kept: Path | None) -> WatchComparison:
    """Return which warnings, faults and differences are new since the last watch. Save them for the next watch.

    `kept`: file with the findings of the last watch; None to neither load nor save them.
    """
    from app.features.check.finding import Severity
    from app.features.check.rule_table import RULES
    from app.features.watch import finding_status

    findings = [_finding(result) for result in checked.from_on(Severity.WARN)]
    findings += [_difference(drift) for drift in drifts]
    before = finding_status.ReportedFindings() if kept is None else finding_status.load(kept)
    silent = [problem.where for problem in checked.problems]
    compared = finding_status.compare(findings, before, time.time(), rules=(*RULES, DRIFT), silent=silent)
    if kept is not None:
        finding_status.save(kept, compared.to_store)
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
    """Return why a baseline is not measured now; "" if it is measured.

    Raises RefusedError if the baseline writes to its device, NotFoundError if the device is missing.
    """
    from app.core.analysis.past_runs.earlier_runs import node_of
    from app.core.fio.job import Job
    from app.features.history.baselines import Baselines
    from backends.topology import kernel_name

    baseline = Baselines(bench.paths).load(name)
    if Job.from_fields(baseline.start.job).writes:
        raise RefusedError(
            f"The baseline {name} writes to the device, which `watch` does not allow.",
            hint="Specify a read-only baseline.",
        )
    device = node_of(bench.session.inventory, baseline.thing) or baseline.start.device
    if device is None:
        raise NotFoundError(f"The device of baseline {name} was not found.")
    share = await _busy_share(bench, kernel_name(device))
    return "" if share is None or share <= IDLE_SHARE else f"{device} is busy ({fraction(share)} of {IDLE_SECONDS:g} s)"


async def _busy_share(bench: Workbench, name: str) -> float | None:
    """Wait for `IDLE_SECONDS`, and return the share of this time for which a disk was busy; None without counters."""
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


def _print_result(result: _WatchResult, *, as_json: bool) -> None:
    from app.features.apply import presentation
    from app.features.check import presentation as check_view
    from app.features.watch.finding_status import News

    if as_json:
        print_json(
            changed=None if result.changed is None else list(result.changed),
            **check_view.findings_json(result.checked),
            drift=[presentation.drift_json(drift) for drift in result.drifts],
            news=[
                {"id": rule, "where": where, "news": news.value} for (rule, where), news in result.compared.news.items()
            ],
            baseline_skipped=result.skipped or None,
        )
        return
    if result.changed is None:
        say("This is the first watch. The next one reports changes.")
    elif result.changed:
        lines(f"changed   {clean(name, 300)}" for name in result.changed)
    else:
        say("Nothing has changed since the last watch.")
    for finding in result.checked.findings:
        text = f"{clean(finding.outcome.where, 200)}: {clean(finding.outcome.message, 500)}"
        news = result.compared.news.get(_finding(finding).key)
        first = f"{finding.rule.severity.value:<8}  "
        lines(wrap_words(f"{finding.rule.id}  {text}{_news_text(news)}", terminal_width(), first))
    lines(
        f"{presentation.drift_line(drift)}{_news_text(result.compared.news.get(_difference(drift).key))}"
        for drift in result.drifts
    )
    if News.REMINDER in result.compared.news.values():
        say("Weekly reminder of known findings:")
    if result.skipped:
        say(f"The baseline was not measured, so there is no result for this night: {clean(result.skipped, 300)}.")
    say(f"{check_view.summary(result.checked)} {plural(len(result.drifts), 'difference')} from the file.")


def _news_text(news: News | None) -> str:
    """Return the suffix for the line of a finding; "" for notes, which are not compared."""
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
        description="Storage report: changes, findings and drift",
        calendar="*-*-* 02:30",
        spread="30min",
        well=(UNDECIDED,),
    )
