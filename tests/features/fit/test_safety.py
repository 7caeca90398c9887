"""Which findings, drives and machines make a fast answer unsafe or unknown."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.session.events import RecordedFinding
from app.features.fit.safety import RULES, Safety, SafetyJudgement, judge_safety
from backends.model import Inventory, Media, Protection
from tests.features.check.sights import CARD, card, disk


def finding(rule: str, where: str = "block:sda") -> RecordedFinding:
    return RecordedFinding(rule=rule, severity="fault", where=where, message="Bad.", evidence="", mends="Fix it.")


def judged(*findings: RecordedFinding, **more: Any) -> SafetyJudgement:
    known = {"inventory": Inventory(), "drives": [disk(media=Media.SSD)], "controllers": [], "in_vm": False}
    return judge_safety(findings, **{**known, "flush_p50_s": 0.0001, **more})


@pytest.mark.parametrize("rule", sorted(RULES))
def test_each_rule_about_lost_flushes_makes_it_unsafe(rule: str) -> None:
    found = judged(finding(rule))
    assert found.safety is Safety.UNSAFE
    assert found.fixes == ("Fix it.",)
    assert rule in found.reasons[0]


def test_other_findings_do_not() -> None:
    assert judged(finding("scheduler-unfit")).safety is Safety.NO_FINDING


@pytest.mark.parametrize(("state", "safety"), [("optimal", Safety.NO_FINDING), ("failed", Safety.UNSAFE)])
def test_forced_write_back_is_unsafe_only_without_a_battery(state: str, safety: Safety) -> None:
    inventory = Inventory(controllers=(card(protection=Protection(kind="bbu", state=state)),))
    assert judged(finding("writes-always-cached", str(CARD)), inventory=inventory).safety is safety


def test_a_rotating_drive_that_answers_within_half_a_turn_has_a_cache() -> None:
    fast: dict[str, Any] = {"drives": [disk()], "flush_p50_s": 0.0015}
    assert judged(**fast).safety is Safety.UNSAFE
    assert judged(**fast | {"flush_p50_s": 0.004}).safety is Safety.NO_FINDING
    assert judged(**fast | {"flush_p50_s": None}).safety is Safety.NO_FINDING
    assert judged(**fast, controllers=[card()]).safety is Safety.NO_FINDING
    assert judged(**fast, controllers=[card(protection=None)]).safety is Safety.UNSAFE


def test_a_virtual_machine_is_never_called_safe() -> None:
    for found in (judged(in_vm=True), judged(drives=[disk(media=Media.VIRTUAL)])):
        assert found.safety is Safety.UNKNOWN
    assert judged(finding("flushes-off"), in_vm=True).safety is Safety.UNSAFE


def test_what_is_not_known_is_not_called_safe() -> None:
    assert judged(drives=[]).safety is Safety.UNKNOWN
    assert judge_safety(None, Inventory(), [disk()], [], in_vm=False, flush_p50_s=None).safety is Safety.UNKNOWN
