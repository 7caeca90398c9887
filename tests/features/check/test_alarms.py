"""The table of alarms says the truth: what it says a rule finds is found, and the rest is not."""

from __future__ import annotations

from collections import Counter

import pytest

from app.features.check.rule_table import RULES
from tests.features.check.alarms import ALARMS, Alarm
from tests.features.check.planted import MACHINES, PlantedHost
from tests.features.check.test_planted import PAGE, told_of


def _name(alarm: Alarm) -> str:
    return f"{alarm.source}: {alarm.fault}"


@pytest.mark.long
async def test_each_alarm_is_found_or_missed_as_the_table_says() -> None:
    bare = {name: await told_of(make()) for name, make in MACHINES.items()}
    wrong = []
    for alarm in ALARMS:
        if not alarm.machine:
            continue
        host = PlantedHost(MACHINES[alarm.machine](), alarm.plant)
        fresh = await told_of(host) - bare[alarm.machine]
        assert {*alarm.plant.answers, *alarm.plant.edits} <= host.grown, _name(alarm)
        if (alarm.rule, alarm.where) not in fresh if alarm.rule else fresh:
            wrong.append((_name(alarm), sorted(fresh)))
    assert wrong == []


def test_each_alarm_has_a_rule_and_a_machine_or_says_why_not() -> None:
    assert [_name(one) for one in ALARMS if bool(one.rule) == bool(one.missed)] == []
    assert [_name(one) for one in ALARMS if one.rule and (one.rule not in RULES or not one.machine)] == []
    assert [name for name, count in Counter(map(_name, ALARMS)).items() if count > 1] == []


def test_the_page_counts_the_alarms_and_names_the_missed_ones() -> None:
    missed = [one for one in ALARMS if not one.rule]
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"The rules find {len(ALARMS) - len(missed)} of {len(ALARMS)}. Each of these is planted." in page
    assert [_name(one) for one in missed if f"| {one.source} | {one.fault} | {one.missed} |" not in page] == []
    assert len(ALARMS) - len(missed) >= 60
