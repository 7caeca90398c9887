"""What Prometheus itself says of the metrics and of the rules, where its promtool is at hand."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from app.engine.metrics.alerts import ALERTS, rules_text
from app.engine.metrics.exposing import look, text_of
from backends.racks.host import SimulatedHost
from backends.registry import Machine
from tests.backends.racks.asking import FAST, still_rack

PROMTOOL = shutil.which("promtool")

pytestmark = pytest.mark.skipif(PROMTOOL is None, reason="promtool cannot be found: apt-get install prometheus")

RAISED: dict[str, tuple[str, str, str]] = {
    "RaidbenchCacheProtectionLost": (
        'raidbench_cache_protection{target="megaraid:/c2",kind="bbu",state="failed"}',
        "0 1",
        "megaraid:/c2: its bbu is failed, nothing keeps its cache",
    ),
    "RaidbenchNotWhole": ('raidbench_target_state{target="md:md0",state="degraded"}', "0 1", "md:md0 is degraded"),
    "RaidbenchFault": (
        'raidbench_finding{rule="barriers-off",severity="fault",where="/srv"}',
        "_ 1",
        "/srv: barriers-off",
    ),
    "RaidbenchSetAndNotInForce": (
        'raidbench_setting_in_force{target="megaraid:/c2/v0",key="write_cache"}',
        "1 0",
        "megaraid:/c2/v0: write_cache is set and not in force",
    ),
}
"""Alerts that come with the first scrape: a series, its values before and after, and what is said."""


def promtool(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROMTOOL or "", *words], input=given, capture_output=True, text=True, timeout=180)


def test_all_of_a_rack_passes_its_check() -> None:
    text = text_of(asyncio.run(look(Machine.of(SimulatedHost(still_rack(), speed=FAST)))))
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
