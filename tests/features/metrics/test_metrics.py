"""Metrics of the racks: valid for both formats, the same labels at every look, serial numbers in one series only."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as prometheus

from app.features.metrics.definitions import METRICS, MetricsSnapshot, rows
from app.features.metrics.openmetrics import metrics_text, take_snapshot
from backends.registry import MachineBackends
from backends.settings import Reading
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from tests.backends.simulator.asking import FAST, NOW, still_rack
from tests.features.check.sights import VOLUME, array_of, on

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")


def openmetrics(text: str) -> Iterable[Family]:
    found: Iterable[Family] = text_string_to_metric_families(text)
    return found


LONG = pytest.mark.long


def racks() -> dict[str, Rack]:
    return {"lsi": still_rack(), "hpe": hpe_rack(lambda: NOW), "linux": linux_rack(lambda: NOW)}


@pytest.fixture(scope="module")
def looked() -> MetricsSnapshot:
    return asyncio.run(take_snapshot(MachineBackends.of(SimulatedHost(still_rack(), speed=FAST))))


def samples(text: str) -> dict[str, float]:
    """By name and labels."""
    return {
        f"{one.name}{sorted(one.labels.items())}": one.value for family in openmetrics(text) for one in family.samples
    }


@pytest.mark.parametrize("name", ["lsi", pytest.param("hpe", marks=LONG), pytest.param("linux", marks=LONG)])
async def test_all_of_a_rack_is_valid_for_both_formats(name: str) -> None:
    text = metrics_text(await take_snapshot(MachineBackends.of(SimulatedHost(racks()[name], speed=FAST))))
    both = [{one.name for family in parse(text) for one in family.samples} for parse in (openmetrics, prometheus)]
    assert both[0] == both[1]
    assert both[0] <= {one.name for one in METRICS}
    assert text.endswith("# EOF\n")


async def test_the_failed_battery_and_what_it_does_are_figures(looked: MetricsSnapshot) -> None:
    found = samples(metrics_text(looked))
    card = "raidbench_cache_protection[('kind', 'bbu'), ('state', 'failed'), ('target', 'megaraid:/c2')]"
    policy = "raidbench_setting_in_force[('key', 'write_cache'), ('target', 'megaraid:/c2/v0')]"
    assert (found[card], found[policy]) == (1.0, 0.0)
    assert found["raidbench_findings[('severity', 'fault')]"] == 2.0
    assert found["raidbench_task_progress_ratio[('target', 'megaraid:/c2/v0'), ('task', 'rebuild')]"] == 0.37


async def test_no_label_changes_by_itself(looked: MetricsSnapshot) -> None:
    again = await take_snapshot(MachineBackends.of(SimulatedHost(still_rack(), speed=FAST)))
    assert samples(metrics_text(again)).keys() == samples(metrics_text(looked)).keys()


async def test_serial_numbers_are_in_the_info_series_alone(looked: MetricsSnapshot) -> None:
    serials = {drive.serial for drive in looked.inventory.drives if drive.serial}
    rest = [row for row in metrics_text(looked).splitlines() if not row.startswith("raidbench_target_info")]
    assert len(serials) > 20
    assert [row for row in rest if any(serial in row for serial in serials)] == []


async def test_serial_numbers_can_be_left_out(looked: MetricsSnapshot) -> None:
    text = metrics_text(looked, serials=False)
    told = {drive.serial for drive in looked.inventory.drives} | {drive.wwn for drive in looked.inventory.drives}
    assert [one for one in told if one and one in text] == []
    assert 'model="ST3500630NS"' in text


def test_a_hostile_value_stays_within_its_label() -> None:
    snapshot = array_of(readings=on(VOLUME, scheduler=Reading(now='a"} 1\n# EOF\nevil{x="')))
    from backends.settings import Setting

    declared = {VOLUME: (Setting(key="scheduler", label="", help=""),)}
    text = metrics_text(MetricsSnapshot(inventory=snapshot.inventory, readings=snapshot.readings, settings=declared))
    assert [family.name for family in openmetrics(text) if "evil" in family.name] == []
    assert text.count("# EOF\n") == 1


def test_a_secret_is_in_no_series() -> None:
    from backends.settings import Setting

    declared = {VOLUME: (Setting(key="activation_key", label="", help="", secret=True),)}
    text = metrics_text(MetricsSnapshot(readings=on(VOLUME, activation_key="SECRET"), settings=declared))
    assert "activation_key" not in text


def test_what_is_not_told_has_no_series() -> None:
    told = {family.name for family in openmetrics(metrics_text(MetricsSnapshot()))}
    assert "raidbench_temperature_celsius" not in told


def test_the_page_has_the_table_that_the_program_goes_by() -> None:
    assert PAGE.endswith("\n".join(["", *rows(), ""]))


def test_every_name_says_its_unit_and_has_help() -> None:
    assert [one.name for one in METRICS if not re.fullmatch(r"raidbench_[a-z_]+", one.name) or not one.help] == []
    assert [one.name for one in METRICS if one.name.endswith(("_total", "_count", "_bucket", "_percent"))] == []
