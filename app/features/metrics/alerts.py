"""Alerting rules for Prometheus, and a dashboard for Grafana. No I/O."""

from __future__ import annotations

import json
from typing import Any

from app.features.metrics.definitions import METRICS, PREFIX
from backends.model import BROKEN, State
from backends.values import dataclass

_NAMES = {metric.name for metric in METRICS}


def _m(name: str) -> str:
    """Return the full name of a metric. Raises KeyError if `METRICS` has no such metric."""
    if PREFIX + name not in _NAMES:
        raise KeyError(name)
    return PREFIX + name


_NOT_WHOLE = "|".join(state.value for state in BROKEN if state is not State.REBUILDING)


_LOOK = _m("last_look_timestamp_seconds")
_LOST = f'{_m("cache_protection")}{{state=~"failed|missing|degraded"}} == 1'
_BROKEN = f'{_m("target_state")}{{state=~"{_NOT_WHOLE}"}} == 1'


def _targets_below(owner: str, alert: str, more: str = "") -> str:
    """Return PromQL for the targets whose controller or array has an alert.

    `owner`: label with the owner, `controller` or `array`; `alert`: expression of the alert; `more`: label filter for
    the targets.
    """
    owners = f'label_replace({alert}, "{owner}", "$1", "target", "(.*)")'
    return f"({_m('target_info')}{more} and on (instance, {owner}) {owners})"


_FULL = " or ".join(f"{_m(f'pool_{part}full_ratio')} > 0.9" for part in ("", "data_", "metadata_"))

_COVERED = "array-degraded|battery-failed|drive-failed|drive-failing|policy-not-in-force"
"""Check rules with an alert of their own, as a regular expression. The general alerts about findings omit them."""


def _finding_unless(rule: str, alert: str) -> str:
    """Return PromQL for the findings of a rule, except those on targets for which the expression `alert` is true."""
    where = f'label_replace({alert}, "where", "$1", "target", "(.*)")'
    return f'({_m("finding")}{{rule="{rule}"}} == 1 unless on (instance, where) {where})'


_FOLLOWING = {
    "battery-replace": _LOST,
    "drive-cache-unprotected": _targets_below("controller", _LOST),
    "pool-filling": f"({_FULL})",
}
"""Check rules whose findings only repeat another alert while that alert fires; the values are its PromQL expression."""

_WARNINGS = " or ".join(
    (
        f'{_m("finding")}{{severity="warn",rule!~"{"|".join((_COVERED, *_FOLLOWING))}"}} == 1',
        *(_finding_unless(rule, alert) for rule, alert in _FOLLOWING.items()),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alerting rule for Prometheus."""

    name: str
    """Name that Prometheus shows."""
    expr: str
    """Condition of the alert in PromQL."""
    lasting: str
    """Time for which the condition must be true before the alert fires; "0m" fires at once."""
    severity: str
    """`critical`, `warning` or `info`."""
    summary: str
    """Text of the alert in one line. Prometheus fills in the labels."""


ALERTS: tuple[Alert, ...] = (
    Alert(
        name="RaidbenchCacheProtectionLost",
        expr=_LOST,
        lasting="0m",
        severity="critical",
        summary="{{ $labels.target }}: the {{ $labels.kind }} is {{ $labels.state }}, so the cache is not protected",
    ),
    Alert(
        name="RaidbenchNotWhole",
        expr=f"{_BROKEN} unless on (instance, target) "
        + _targets_below("array", _BROKEN, '{kind="drive"}'),  # no alert for a drive if its array has one
        lasting="0m",
        severity="critical",
        summary="{{ $labels.target }} is {{ $labels.state }}",
    ),
    Alert(
        name="RaidbenchPredictedFailure",
        expr=f"{_m('predicts_failure')} == 1 or {_m('predictive_errors')} > 0",
        lasting="0m",
        severity="warning",
        summary="{{ $labels.target }} predicts a failure",
    ),
    Alert(
        name="RaidbenchFault",
        expr=f'{_m("finding")}{{severity="fault",rule!~"{_COVERED}"}} == 1',
        lasting="0m",
        severity="critical",
        summary="{{ $labels.where }}: {{ $labels.rule }}",
    ),
    Alert(
        name="RaidbenchSetAndNotInForce",
        expr=f'{_m("setting_in_force")}{{key=~"write_cache|read_cache|read_ahead|io_policy"}} == 0'
        " unless on (instance, target) " + _targets_below("controller", _LOST),  # a lost protection has its own alert
        lasting="0m",
        severity="warning",
        summary="{{ $labels.target }}: {{ $labels.key }} is configured but not effective",
    ),
    Alert(
        name="RaidbenchWarning",
        expr=_WARNINGS,
        lasting="15m",
        severity="warning",
        summary="{{ $labels.where }}: {{ $labels.rule }}",
    ),
    Alert(
        name="RaidbenchTooFull",
        expr=_FULL,
        lasting="15m",
        severity="critical",
        summary="{{ $labels.target }} is {{ $value | humanizePercentage }} full",
    ),
    Alert(
        name="RaidbenchProblem",
        expr=f"{_m('problems')} > 0",
        lasting="30m",
        severity="warning",
        summary="{{ $value }} devices or tools do not respond or report a problem: raidbench devices",
    ),
    Alert(
        name="RaidbenchSilent",
        expr=f"time() - {_LOOK} > 1800 or (last_over_time({_LOOK}[1d]) unless {_LOOK})"
        f" or absent(last_over_time({_LOOK}[1d]))",  # the metrics are too old, or missing on one host or on all
        lasting="5m",
        severity="warning",
        summary="raidbench reports nothing: its metrics are missing, or older than half an hour",
    ),
)


def rules_text() -> str:
    """Return a rules file for Prometheus in YAML. Strings are quoted as in JSON, which YAML accepts."""
    rows = ["groups:", "  - name: raidbench", "    rules:"]
    for alert in ALERTS:
        rows += [
            f"      - alert: {alert.name}",
            f"        expr: {json.dumps(alert.expr)}",
            f"        for: {alert.lasting}",
            "        labels:",
            f"          severity: {alert.severity}",
            "        annotations:",
            f"          summary: {json.dumps(alert.summary)}",
        ]
    return "\n".join(rows) + "\n"


_PANELS: tuple[tuple[str, str, str, str, str], ...] = (
    ("Faults", "stat", f'sum({_m("findings")}{{severity="fault"}})', "", "short"),
    ("Warnings", "stat", f'sum({_m("findings")}{{severity="warn"}})', "", "short"),
    ("Devices or tools that failed", "stat", f"sum({_m('problems')})", "", "short"),
    ("Findings", "table", f"{_m('finding')} == 1", "", "short"),
    ("Degraded or failed", "table", _BROKEN, "", "short"),
    ("Configured but not effective", "table", f"{_m('setting_in_force')} == 0", "", "short"),
    ("Temperature", "timeseries", _m("temperature_celsius"), "{{target}}", "celsius"),
    ("Endurance used", "timeseries", _m("endurance_used_ratio"), "{{target}}", "percentunit"),
    ("Pools", "timeseries", f"{_m('pool_full_ratio')} or {_m('pool_data_full_ratio')}", "{{target}}", "percentunit"),
    ("Background work", "timeseries", _m("task_progress_ratio"), "{{target}} {{task}}", "percentunit"),
    (
        "Battery optimal",
        "timeseries",
        f'{_m("cache_protection")}{{state="optimal"}} or 0 * {_m("cache_protection")}',
        "{{target}}",
        "short",
    ),
    ("Duration of the scan", "timeseries", _m("look_seconds"), "{{instance}}", "s"),
)
"""Title, kind, PromQL expression, legend and unit of each panel of the dashboard."""


def board_text() -> str:
    """Return a dashboard to import into Grafana. Its only variable is the data source."""
    panels: list[dict[str, Any]] = []
    for at, (title, kind, expr, legend, unit) in enumerate(_PANELS):
        stat = kind == "stat"
        target = {"expr": expr, "legendFormat": legend, "refId": "A", "instant": kind != "timeseries"}
        panels.append(
            {
                "id": at + 1,
                "title": title,
                "type": kind,
                "datasource": {"type": "prometheus", "uid": "${source}"},
                "targets": [target | ({"format": "table"} if kind == "table" else {})],
                "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
                "gridPos": {"x": at * 8, "y": 0, "w": 8, "h": 4}
                if stat
                else {"x": (at - 3) % 3 * 8, "y": 4 + (at - 3) // 3 * 8, "w": 8, "h": 8},
            }
        )
    source = {"name": "source", "label": "Source", "type": "datasource", "query": "prometheus"}
    board = {
        "title": "Storage by raidbench",
        "uid": "raidbench",
        "schemaVersion": 39,
        "tags": ["storage", "raidbench"],
        "refresh": "5m",
        "time": {"from": "now-7d", "to": "now"},
        "templating": {"list": [source]},
        "panels": panels,
    }
    return json.dumps(board, indent=1) + "\n"
