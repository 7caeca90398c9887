"""What Prometheus itself says of the metrics and of the rules, where its promtool is at hand."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from app.features.metrics.alerts import ALERTS, rules_text
from app.features.metrics.openmetrics import metrics_text, take_snapshot
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from tests.backends.simulator.asking import FAST, still_rack

PROMTOOL = shutil.which("promtool")

pytestmark = pytest.mark.skipif(PROMTOOL is None, reason="promtool cannot be found: apt-get install prometheus")

RAISED: dict[str, tuple[str, str, str]] = {
    "RaidbenchCacheProtectionLost": (
        'raidbench_cache_protection{target="megaraid:/c2",kind="bbu",state="failed"}',
        "_ 1",
        "megaraid:/c2: the bbu is failed, so the cache is not protected",
    ),
    "RaidbenchNotWhole": ('raidbench_target_state{target="md:md0",state="degraded"}', "_ 1", "md:md0 is degraded"),
    "RaidbenchFault": (
        'raidbench_finding{rule="barriers-off",severity="fault",where="/srv"}',
        "_ 1",
        "/srv: barriers-off",
    ),
    "RaidbenchPredictedFailure": (
        'raidbench_predicts_failure{target="megaraid:/c0/e1/s2"}',
        "0 1",
        "megaraid:/c0/e1/s2 predicts a failure",
    ),
    "RaidbenchSetAndNotInForce": (
        'raidbench_setting_in_force{target="megaraid:/c2/v0",key="write_cache"}',
        "1 0",
        "megaraid:/c2/v0: write_cache is configured but not effective",
    ),
}
"""Alerts that come with the first scrape: a series, its values before and after, and what is said."""


def promtool(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROMTOOL or "", *words], input=given, capture_output=True, text=True, timeout=180)


def test_all_of_a_rack_passes_its_check() -> None:
    text = metrics_text(asyncio.run(take_snapshot(MachineBackends.of(SimulatedHost(still_rack(), speed=FAST)))))
    done = promtool("check", "metrics", given=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_rules_pass_its_check(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(rules_text())
    done = promtool("check", "rules", str(tmp_path / "rules.yml"))
    assert (done.returncode, f"{len(ALERTS)} rules found" in done.stdout) == (0, True)


@pytest.mark.parametrize("name", RAISED)
def test_an_alert_comes_with_the_first_scrape_and_not_before(tmp_path: Path, name: str) -> None:
    series, values, summary = RAISED[name]
    (alert,) = (one for one in ALERTS if one.name == name)
    labels = dict(part.split("=", 1) for part in series[series.index("{") + 1 : -1].split(","))
    told = {key: json.loads(value) for key, value in labels.items()} | {"severity": alert.severity}
    raised = {"exp_labels": told, "exp_annotations": {"summary": summary}}
    alerts = [
        {"eval_time": "0m", "alertname": name, "exp_alerts": []},
        {"eval_time": "1m", "alertname": name, "exp_alerts": [raised]},
    ]
    test = {"interval": "1m", "input_series": [{"series": series, "values": values}], "alert_rule_test": alerts}
    (tmp_path / "rules.yml").write_text(rules_text())
    (tmp_path / "test.yml").write_text(json.dumps({"rule_files": ["rules.yml"], "tests": [test]}))  # JSON is YAML
    done = promtool("test", "rules", str(tmp_path / "test.yml"))
    assert done.returncode == 0, done.stdout + done.stderr


LOOK = 'raidbench_last_look_timestamp_seconds{instance="a"}'
FAILED_BATTERY = {
    'raidbench_cache_protection{instance="a",target="x:/c0",kind="bbu",state="failed"}': "1",
    'raidbench_finding{instance="a",rule="battery-failed",severity="fault",where="x:/c0"}': "1",
    'raidbench_finding{instance="a",rule="battery-replace",severity="warn",where="x:/c0"}': "1",
    'raidbench_finding{instance="a",rule="policy-not-in-force",severity="warn",where="x:/c0/v0"}': "1",
    'raidbench_target_info{instance="a",target="x:/c0/v0",kind="array",controller="x:/c0",array="x:/c0/v0"}': "1",
    'raidbench_setting_in_force{instance="a",target="x:/c0/v0",key="write_cache"}': "0",
}
DEGRADED_ARRAY = {
    'raidbench_target_state{instance="a",target="x:/c0/v0",state="degraded"}': "1",
    'raidbench_target_state{instance="a",target="x:/c0/s1",state="failed"}': "1",
    'raidbench_finding{instance="a",rule="array-degraded",severity="fault",where="x:/c0/v0"}': "1",
    'raidbench_finding{instance="a",rule="drive-failed",severity="fault",where="x:/c0/s1"}': "1",
    'raidbench_target_info{instance="a",target="x:/c0/s1",kind="drive",controller="x:/c0",array="x:/c0/v0"}': "1",
}
LOOSE_DRIVE = {
    'raidbench_target_state{instance="a",target="x:/c0/s1",state="failed"}': "1",
    'raidbench_target_info{instance="a",target="x:/c0/s1",kind="drive",controller="x:/c0",array=""}': "1",
}
WORN_BATTERY = {
    'raidbench_cache_protection{instance="a",target="x:/c0",kind="bbu",state="optimal"}': "1",
    'raidbench_finding{instance="a",rule="battery-replace",severity="warn",where="x:/c0"}': "1",
}
OTHER_CAUSE = {
    'raidbench_cache_protection{instance="a",target="x:/c0",kind="bbu",state="optimal"}': "1",
    'raidbench_target_info{instance="a",target="x:/c0/v0",kind="array",controller="x:/c0",array="x:/c0/v0"}': "1",
    'raidbench_setting_in_force{instance="a",target="x:/c0/v0",key="write_cache"}': "0",
}
CACHING_DRIVES = FAILED_BATTERY | {
    'raidbench_finding{instance="a",rule="drive-cache-unprotected",severity="warn",where="x:/c0/v0"}': "1",
}
FAILING_DRIVE = {
    'raidbench_predicts_failure{instance="a",target="x:/c0/s1"}': "1",
    'raidbench_predictive_errors{instance="a",target="x:/c0/s1"}': "3",
    'raidbench_finding{instance="a",rule="drive-failing",severity="fault",where="x:/c0/s1"}': "1",
}
COUNTED_FAILURES = {
    'raidbench_predicts_failure{instance="a",target="x:/c0/s1"}': "0",
    'raidbench_predictive_errors{instance="a",target="x:/c0/s1"}': "3",
    'raidbench_finding{instance="a",rule="drive-failing",severity="fault",where="x:/c0/s1"}': "1",
}
FULL_POOL = {
    'raidbench_pool_full_ratio{instance="a",target="zfs:tank"}': "0.95",
    'raidbench_finding{instance="a",rule="pool-filling",severity="warn",where="zfs:tank"}': "1",
}
FILLING_POOL = {
    'raidbench_pool_full_ratio{instance="a",target="zfs:tank"}': "0.85",
    'raidbench_finding{instance="a",rule="pool-filling",severity="warn",where="zfs:tank"}': "1",
}
WORN_DRIVE = {
    'raidbench_endurance_used_ratio{instance="a",target="x:/c0/s1"}': "0.95",
    'raidbench_finding{instance="a",rule="drive-worn",severity="warn",where="x:/c0/s1"}': "1",
}
INCIDENTS: dict[str, tuple[dict[str, str], str]] = {
    "failed battery": (FAILED_BATTERY, "RaidbenchCacheProtectionLost"),
    "failed battery before drives that cache": (CACHING_DRIVES, "RaidbenchCacheProtectionLost"),
    "drive that predicts its failure": (FAILING_DRIVE, "RaidbenchPredictedFailure"),
    "drive with predicted failures in a counter": (COUNTED_FAILURES, "RaidbenchPredictedFailure"),
    "full pool": (FULL_POOL, "RaidbenchTooFull"),
    "filling pool": (FILLING_POOL, "RaidbenchWarning"),
    "worn drive": (WORN_DRIVE, "RaidbenchWarning"),
    "degraded array": (DEGRADED_ARRAY, "RaidbenchNotWhole"),
    "failed drive of no array": (LOOSE_DRIVE, "RaidbenchNotWhole"),
    "battery that works and must be replaced": (WORN_BATTERY, "RaidbenchWarning"),
    "policy that is overruled for another reason": (OTHER_CAUSE, "RaidbenchSetAndNotInForce"),
}
"""The series of one incident, and the only alert that fires."""


def counted(tmp_path: Path, series: dict[str, str], expected: dict[str, dict[str, int]]) -> None:
    """Assert how many alerts of each name fire at each time; of a name that is not expected, none does."""
    tests = [
        {"expr": f'count(ALERTS{{alertstate="firing",alertname="{alert.name}"}}) or vector(0)', "eval_time": at}
        | {"exp_samples": [{"labels": "{}", "value": names.get(alert.name, 0)}]}
        for at, names in expected.items()
        for alert in ALERTS
    ]
    given = [{"series": name, "values": values} for name, values in series.items()]
    (tmp_path / "rules.yml").write_text(rules_text())
    test = {"interval": "1m", "input_series": given, "promql_expr_test": tests}
    (tmp_path / "test.yml").write_text(json.dumps({"rule_files": ["rules.yml"], "tests": [test]}))
    done = promtool("test", "rules", str(tmp_path / "test.yml"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("incident", INCIDENTS)
def test_an_incident_fires_one_alert(tmp_path: Path, incident: str) -> None:
    series, alert = INCIDENTS[incident]
    lasting = {f"{name}": f"{value}x60" for name, value in series.items()} | {LOOK: "0+60x60"}
    counted(tmp_path, lasting, {"30m": {alert: 1}})


def test_a_file_that_is_removed_is_silence_on_that_host_alone(tmp_path: Path) -> None:
    other = LOOK.replace('"a"', '"b"')
    series = {LOOK: "0+60x10 stale", other: "0+60x60"}
    counted(tmp_path, series, {"10m": {}, "15m": {}, "20m": {"RaidbenchSilent": 1}, "50m": {"RaidbenchSilent": 1}})


def test_metrics_that_never_came_are_silence(tmp_path: Path) -> None:
    counted(tmp_path, {"up": "1x60"}, {"4m": {}, "10m": {"RaidbenchSilent": 1}})


def test_a_file_that_is_no_longer_written_is_silence(tmp_path: Path) -> None:
    counted(tmp_path, {LOOK: "0x60"}, {"30m": {}, "40m": {"RaidbenchSilent": 1}})
