"""Metrics of the health, links and batteries of controllers and drives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.features.metrics.definitions import METRICS, MetricsSnapshot
from backends.model import Array, Controller, Drive, Fact, Health, Inventory, Protection, Scope, State, Target
from backends.pci import Link
from backends.text import parse_volts
from backends.vendors.megaraid.megacli.adapter import parse_battery
from backends.vendors.megaraid.storcli.battery import parse_answer
from tests.case_loop import loop_over

CONTROLLER = Target(backend="x", address="/c0", scope=Scope.CONTROLLER)
ARRAY = Target(backend="x", address="/c0/v0", scope=Scope.ARRAY)
DRIVE = Target(backend="x", address="/c0/s1")
HEALTH = Health(
    predicts_failure=True,
    media_errors=0,
    other_errors=7,
    predictive_errors=2,
    wear_percent=42.0,
    temperature=31.0,
    temperature_limit=65.0,
    locked=False,
)


def values(looked: MetricsSnapshot, name: str) -> dict[tuple[str, ...], float]:
    (metric,) = (metric for metric in METRICS if metric.name == f"raidbench_{name}")
    return dict(metric.samples(looked))


def looked(health: Health = HEALTH, link: str = "12.0Gb/s") -> MetricsSnapshot:
    facts = (Fact(label="Link", value=link), Fact(label="Temperature", value="30 °C"))
    pcie = (Fact(label="PCIe link", value="8.0 GT/s x4, the device supports 8.0 GT/s x8"),)
    protection = Protection(kind="bbu", state="optimal", temperature=29.0, voltage=4.059)
    return MetricsSnapshot(
        inventory=Inventory(
            controllers=(Controller(target=CONTROLLER, vendor="x", protection=protection, facts=pcie),),
            arrays=(Array(target=ARRAY, controller=CONTROLLER, state=State.OPTIMAL, members=(DRIVE,)),),
            drives=(
                Drive(target=DRIVE, controller=CONTROLLER, array=ARRAY, state=State.ONLINE, health=health, facts=facts),
            ),
        )
    )


@loop_over(
    ("name", "value"),
    [
        ("predicts_failure", 1.0),
        ("media_errors", 0.0),
        ("other_errors", 7.0),
        ("predictive_errors", 2.0),
        ("endurance_used_ratio", 0.42),
        ("temperature_celsius", 31.0),
        ("temperature_limit_celsius", 65.0),
        ("drive_locked", 0.0),
        ("link_bytes_per_second", 1.5e9),
    ],
)
def test_health_and_link_of_a_drive_are_metrics(name: str, value: float) -> None:
    assert values(looked(), name) == {("x:/c0/s1",): value}


def test_a_fact_is_used_where_health_is_not_reported_and_nothing_else_has_a_series() -> None:
    bare = looked(Health(), link="Unknown")
    assert values(bare, "temperature_celsius") == {("x:/c0/s1",): 30.0}
    for name in ("predicts_failure", "media_errors", "drive_locked", "drive_foreign", "link_bytes_per_second"):
        assert values(bare, name) == {}


def test_a_state_is_one_series() -> None:
    assert values(looked(), "target_state") == {("x:/c0/v0", "optimal"): 1.0, ("x:/c0/s1", "online"): 1.0}
    assert values(looked(), "cache_protection") == {("x:/c0", "bbu", "optimal"): 1.0}


def test_a_drive_is_joined_to_its_array_and_controller() -> None:
    owners = {labels[0]: labels[1:4] for labels in values(looked(), "target_info")}
    assert owners == {
        "x:/c0": ("controller", "x:/c0", ""),
        "x:/c0/v0": ("array", "x:/c0", "x:/c0/v0"),
        "x:/c0/s1": ("drive", "x:/c0", "x:/c0/v0"),
    }


def test_links_of_the_kernel_are_preferred_to_facts() -> None:
    links = {CONTROLLER: Link(speed="16.0 GT/s PCIe", width=8), DRIVE: Link(speed="8.0 GT/s", width=4)}
    seen = replace(looked(), links=links)
    assert values(seen, "pcie_link_transfers_per_second") == {("x:/c0",): 16e9, ("x:/c0/s1",): 8e9}
    assert values(seen, "pcie_link_lanes") == {("x:/c0",): 8.0, ("x:/c0/s1",): 4.0}


def test_a_controller_has_its_pcie_link_and_the_values_of_its_battery() -> None:
    assert values(looked(), "pcie_link_transfers_per_second") == {("x:/c0",): 8e9}
    assert values(looked(), "pcie_link_lanes") == {("x:/c0",): 4.0}
    assert values(looked(), "cache_protection_temperature_celsius") == {("x:/c0",): 29.0}
    assert values(looked(), "cache_protection_volts") == {("x:/c0",): 4.059}


def test_megacli_reports_the_voltage_beside_its_verdict() -> None:
    text = "BatteryType: iBBU\nVoltage: 3912 mV\nTemperature: 27 C\nBattery State: Optimal\n  Voltage  : OK\n"
    backup = parse_battery(text)
    assert backup is not None
    assert (backup.voltage, backup.temperature_c) == (3.912, 27)


@pytest.mark.parametrize("row", [("Voltage", "9181 mV"), ("Voltage(mV)", "9181")])
def test_storcli_reports_the_voltage(row: tuple[str, str]) -> None:
    rows = [("Type", "CVPM02"), ("State", "Optimal"), row]
    backup = parse_answer({"Cachevault_Info": [{"Property": key, "Value": value} for key, value in rows]}, "cachevault")
    assert backup is not None
    assert backup.voltage == 9.181


@pytest.mark.parametrize("text", ["OK", "", "0 mV", "4059 mA", None])
def test_other_text_is_no_voltage(text: str | None) -> None:
    assert parse_volts(text) is None
