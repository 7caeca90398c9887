"""Advice on a job of several sections: of each by itself, with its name."""

from __future__ import annotations

from dataclasses import replace

from app.core.benchmark.conditions.facts import MeasuredSoFar, RunFacts
from app.core.fio.job import Engine, Job
from app.core.fio.sections import JobSection, join_sections
from app.features.advice.rules import ABOUT_A_SECTION, KEYS, NOT_OF_SECTIONS, advise
from tests.features.advice.facts import BLAMELESS, over, said

SOUND = BLAMELESS.job
DEEP = replace(SOUND, ioengine=Engine.PSYNC, iodepth=32)


def facts_of(*jobs: Job, measured: MeasuredSoFar | None = None) -> RunFacts:
    job = join_sections([JobSection(name=f"s{number}", job=one) for number, one in enumerate(jobs)])
    return replace(BLAMELESS, job=job, measured=measured)


def test_nothing_is_said_against_blameless_sections() -> None:
    assert advise(facts_of(SOUND, SOUND)) == ()


def test_advice_names_the_section_that_it_is_about() -> None:
    found = said(facts_of(SOUND, DEEP), "sync-depth")
    assert found.message.startswith("s1: ")
    assert "s0" not in found.message


def test_what_is_so_of_all_sections_is_said_once_without_names() -> None:
    assert said(facts_of(DEEP, DEEP), "sync-depth") == said(replace(BLAMELESS, job=DEEP), "sync-depth")


def test_sections_of_which_the_same_is_said_are_named_together() -> None:
    assert said(facts_of(DEEP, SOUND, DEEP), "sync-depth").message.startswith("s0, s2: ")


def test_a_section_is_judged_by_its_own_figures() -> None:
    done = over()
    few = replace(done, reads=50, writes=0)
    found = said(facts_of(SOUND, SOUND, measured=replace(done, sections=(done, few))), "few-ios")
    assert found.message.startswith("s1: 50 reads are too few")


def test_the_sum_of_sections_is_not_judged_to_be_unsteady() -> None:
    unsteady = over(rounds=(1000.0, 5000.0, 1000.0, 5000.0, 1000.0, 5000.0))
    assert "not-steady" in [one.key for one in advise(replace(BLAMELESS, measured=unsteady))]
    assert "not-steady" not in [one.key for one in advise(facts_of(SOUND, SOUND, measured=unsteady))]


def test_every_key_about_sections_is_that_of_a_rule() -> None:
    assert set(KEYS) >= ABOUT_A_SECTION | NOT_OF_SECTIONS
