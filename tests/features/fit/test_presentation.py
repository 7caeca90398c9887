"""The answer in words: whose limit it is, what it cannot have seen, what to change."""

from __future__ import annotations

from app.features.fit.assessment import FitResult
from app.features.fit.demands import Demands
from app.features.fit.engine import FitPlan
from app.features.fit.presentation import result_json, result_lines
from app.features.fit.profiles import fit_profile
from backends.model import Media
from tests.features.fit.making import UNSAFE, assessed, run


def plan(name: str) -> FitPlan:
    return FitPlan(profile=fit_profile(name), demands=Demands(), folder="/srv/data", mount=None, ready=None)


def said(result: FitResult) -> str:
    return "\n".join(result_lines(plan(result.profile.name), result))


def test_a_yes_says_how_long_it_held_and_what_it_cannot_have_seen() -> None:
    text = said(assessed("etcd", run(1)))
    assert text.startswith("YES: /srv/data is fit for etcd.")
    assert "limit 10.0 ms (etcd FAQ; OpenShift up to 4.20), 8 runs" in text
    assert "Held for 144 s" in text
    assert "rarer than one in 31 s" in text
    assert "it cannot have seen" in text


def test_a_no_names_the_limit_the_interval_and_the_change_and_has_no_reach() -> None:
    text = said(assessed("etcd", run(12)))
    assert text.startswith("NO: /srv/data is not fit for etcd.")
    assert "p99 of a flush 12.0 ms [" in text
    assert "Change: use another disk." in text
    assert "cannot have seen" not in text


def test_a_disk_that_others_use_is_to_be_its_own() -> None:
    assert "a disk of its own" in said(assessed("etcd", run(12), busy_share=0.4))


def test_a_limit_of_the_user_is_called_that() -> None:
    text = said(assessed("etcd", run(15), demands=Demands(limit=0.010)))
    assert "(your limit)" in text


def test_sources_that_disagree_are_shown() -> None:
    assert "OpenShift 4.21 says 20 ms" in said(assessed("etcd", run(1)))


def test_without_a_number_the_answer_asks_for_one_and_says_what_there_is() -> None:
    text = said(assessed("postgres", run(iops=303)))
    assert text.startswith("NOT DECIDED: whether /srv/data is fit for PostgreSQL.")
    assert "Say how many commits a second you need (--commits N)" in text
    assert "Here one connection gets 303 [303, 303] commits a second." in text


def test_fast_but_not_safe_says_why() -> None:
    text = said(assessed("etcd", run(1), safety=UNSAFE))
    assert text.startswith("FAST, NOT SAFE: ")
    assert "Safe: not safe. flushes-off: The kernel sends no flushes." in text


def test_a_program_that_writes_for_hours_asks_for_a_preconditioned_drive() -> None:
    assert "`raidbench precondition`" in said(assessed("ceph-osd", run(iops=5000), media=Media.SSD))


def test_the_json_has_the_limit_its_source_and_the_reach() -> None:
    result = result_json(plan("etcd"), assessed("etcd", run(12)))
    assert (result["verdict"], result["conditions"][0]["limit"]) == ("no", 0.010)
    assert result["conditions"][0]["reasons"] == ["over", "stuck"]
    assert result["reach"]["seconds"] == 144
    few = result_json(plan("etcd"), assessed("etcd", run(0)))
    assert few["conditions"][0]["measured"]["high"] is None
