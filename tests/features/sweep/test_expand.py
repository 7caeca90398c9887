"""From plan and machine to steps: combinations, reasons, order."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.session.sweep_steps import Purpose
from app.features.sweep.engine.estimate import HALVINGS, later_runs, seconds_left, switches
from app.features.sweep.engine.order import measured_seconds, pause_before
from app.features.sweep.engine.plan import PlanError
from app.features.sweep.engine.plan_expansion import expand
from tests.features.sweep.making import after, design, known, plan, started, values

CACHE = '[[axis]]\ntarget="array"\nsetting="cache"\nvalues=["off","on"]\n'
STRIP = '[[axis]]\ntarget="array"\nsetting="strip"\nvalues=["8k","64k","512k"]\n'
DEPTH = '[[axis]]\njob="iodepth"\nvalues=[1,8]\n'


def _axis(setting: str, value: str) -> str:
    return f'[[axis]]\ntarget="array"\nsetting="{setting}"\nvalues=["{value}"]\n'


def test_axes_are_combined() -> None:
    made = design(CACHE + STRIP + DEPTH)
    assert len(made.cells) == 12
    assert len({(values(cell)["cache"], values(cell)["strip"], cell.job["iodepth"]) for cell in made.cells}) == 12


def test_settings_make_rows_and_the_job_makes_columns() -> None:
    made = design(CACHE + DEPTH)
    assert [(cell.row, cell.column) for cell in made.cells] == [
        ("cache=off", "iodepth=1"),
        ("cache=off", "iodepth=8"),
        ("cache=on", "iodepth=1"),
        ("cache=on", "iodepth=8"),
    ]


def test_sizes_may_be_written_short() -> None:
    assert {values(cell)["strip"] for cell in design(STRIP).cells} == {"8192", "65536", "524288"}


def test_what_a_set_up_does_not_mention_stays_as_it_is() -> None:
    made = design('[[setup]]\nname="a"\n[[setup]]\nname="b"\narray={cache="on"}')
    assert [values(cell) for cell in made.cells] == [{"cache": "off"}, {"cache": "on"}]


def test_what_every_touched_setting_was_is_kept() -> None:
    assert [(one.key, one.value) for one in design(CACHE + STRIP).originals] == [("strip", "65536"), ("cache", "off")]


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("cache", "maybe", "Valid values: off, on"),
        ("locked", "b", "the card says no"),
        ("unread", "b", "could not be restored"),
        ("final", "b", "is not offered, which could not be restored"),
        ("boot", "b", "only takes effect after a restart"),
        ("colour", "red", "has no setting colour"),
    ],
)
def test_what_the_target_forbids_is_left_out_with_the_reason(setting: str, value: str, reason: str) -> None:
    made = design('[[setup]]\nname="fine"\n' + f'[[setup]]\nname="not"\narray={{{setting}="{value}"}}')
    assert [cell.row for cell in made.cells] == ["fine"]
    assert [one.row for one in made.skipped] == ["not"]
    assert reason in made.skipped[0].reason


def test_a_locked_setting_may_stay_at_its_value() -> None:
    assert [cell.row for cell in design(_axis("locked", "a")).cells] == ["locked=a"]


def test_a_rule_leaves_out_what_it_names() -> None:
    rule = '[[skip]]\narray={cache="on"}\njob={iodepth="8"}\nreason="Enough."\n'
    assert [(one.row, one.column, one.reason) for one in design(CACHE + DEPTH + rule).skipped] == [
        ("cache=on", "iodepth=8", "Enough.")
    ]


def test_a_role_that_nobody_named_says_how() -> None:
    made = expand(
        plan('[[setup]]\nname="a"\n[[setup]]\nname="b"\nmeasure="card"'), known(addresses={"array": "fake:v1"}), 1
    )
    assert "--target card=ADDRESS" in made.skipped[0].reason


def test_nothing_left_to_measure_is_an_error_that_says_why() -> None:
    with pytest.raises(PlanError) as error:
        design(_axis("cache", "maybe"))
    assert "Valid values" in error.value.hint


def test_rows_are_compared_with_what_is_set_now() -> None:
    made = design('[[axis]]\ntarget="array"\nsetting="cache"\nvalues=["on","off"]')
    on, off = made.cells
    assert (on.against, off.against) == (off.id, None)


def test_a_set_up_may_name_what_it_is_compared_with() -> None:
    made = design('[[setup]]\nname="a"\n[[setup]]\nname="b"\n[[setup]]\nname="c"\nagainst="b"')
    assert [cell.against for cell in made.cells] == [None, "k1", "k2"]


FEATURE = (
    '[feature.Turbo]\ntarget="card"\n[[setup]]\nname="slow"\nlacks="Turbo"\n[[setup]]\nname="quick"\nneeds="Turbo"\n'
)


def test_what_needs_a_feature_comes_after_what_must_not_have_it() -> None:
    made = design(FEATURE)
    assert [made.cell(step.cell).row for step in made.steps] == ["slow", "slow", "quick", "quick"]


def test_what_must_not_have_an_active_feature_is_left_out() -> None:
    made = design(FEATURE, active=True)
    assert [cell.row for cell in made.cells] == ["quick"]
    assert "is active" in made.skipped[0].reason


def test_the_slow_setting_changes_least() -> None:
    changes = {setting.key: times for setting, times in switches(design(CACHE + STRIP + DEPTH, seed=7))}
    assert changes["strip"] == 3  # two others, and back for the repeated baseline
    assert changes["cache"] > changes["strip"]


def test_what_others_are_compared_with_is_measured_again_at_the_end() -> None:
    made = design(STRIP)
    last = [step for step in made.steps if step.purpose is Purpose.BASELINE]
    assert [values(made.cell(step.cell))["strip"] for step in last] == ["65536", "65536"]
    assert made.steps[-2:] == tuple(last)


def test_nothing_is_measured_again_where_everything_is_flipped_in_place() -> None:
    assert {step.purpose for step in design(CACHE + DEPTH).steps} == {Purpose.SCREEN}


@given(st.integers(0, 10_000))
def test_every_cell_is_measured_as_often_as_asked_and_once_a_round(seed: int) -> None:
    made = design(CACHE + STRIP + DEPTH, seed=seed)
    screening = [(step.cell, step.round) for step in made.steps if step.purpose is Purpose.SCREEN]
    assert sorted(screening) == sorted((cell.id, turn) for cell in made.cells for turn in (1, 2))
    assert [step.number for step in made.steps] == list(range(1, len(made.steps) + 1))


@given(st.integers(0, 10_000))
def test_rounds_of_a_block_follow_each_other(seed: int) -> None:
    steps = design(CACHE + STRIP, seed=seed).steps
    for one, other in pairwise(steps):
        assert other.block >= one.block
        assert other.block > one.block or other.round >= one.round


def test_the_order_is_drawn_and_the_seed_brings_it_back() -> None:
    orders = {tuple(step.cell for step in design(CACHE + DEPTH, seed=seed).steps) for seed in range(20)}
    assert len(orders) > 5
    assert design(CACHE + DEPTH, seed=3).steps == design(CACHE + DEPTH, seed=3).steps


def test_no_two_pauses_of_a_sweep_are_of_one_length_and_the_seed_brings_them_back() -> None:
    made = design(CACHE + STRIP + DEPTH)
    known_cells = {cell.id: cell for cell in made.cells}
    for rest in (0, made.rest):
        asked = replace(made, rest=rest)
        pauses, again = ([pause_before(step, known_cells[step.cell], asked) for step in made.steps] for _ in range(2))
        assert pauses == again
        assert len(set(pauses)) == len(pauses)
        runs = [measured_seconds(known_cells[step.cell]) for step in made.steps]
        assert all(rest <= pause <= rest + run / 3 for pause, run in zip(pauses, runs, strict=True))


def test_the_estimate_counts_runs_changes_and_arrays_made_anew() -> None:
    plain, slow = design(DEPTH), design(STRIP)
    assert plain.seconds == 4 * (5 + 1 + 5 + 1 + 2)  # the pause is a second more on the average
    assert slow.seconds == 8 * 14 + 3 * 60


def test_time_left_follows_how_long_the_steps_really_take() -> None:
    record = started(design(DEPTH))
    assert seconds_left(record, 0.0) == 56
    record = after(record, record.steps[0], "r1")  # took 2 s instead of 14
    assert seconds_left(record, 0.0) == pytest.approx(6.0)


def test_what_a_curve_adds_is_in_the_time_that_is_told() -> None:
    plain, curve = design("", repeats=3), design("[curve]\n", repeats=3)
    each = curve.seconds - plain.seconds
    assert each == pytest.approx(later_runs(curve) * plain.seconds / 3)


def test_depths_of_the_matrix_are_not_counted_again() -> None:
    axis = '[[axis]]\njob="iodepth"\nvalues=[1,2,4,8]\n[saturation]\nto=8\n'
    assert later_runs(design(axis, repeats=3)) == 3 * HALVINGS


def test_the_time_left_has_the_rates_that_are_not_begun() -> None:
    rates = "[saturation]\nto=1\n[curve]\npercents=[20, 50, 80]\n"
    plain, curve = started(design("", repeats=3)), started(design(rates, repeats=3))
    assert seconds_left(curve, 0.0) == 4 * seconds_left(plain, 0.0)
