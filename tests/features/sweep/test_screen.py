"""What is ticked as a plan, a plan as facts, a sweep as a matrix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.changes.arrays.candidates import WantedArrays
from app.core.fio.profiles import PROFILES, profile
from app.core.presentation.table import Tone, text_of
from app.core.session.sweep_record import CurrentStep
from app.core.session.sweep_steps import Design, OverwrittenDevice
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import parse_plan
from app.features.sweep.engine.results import results
from app.features.sweep.engine.risk_assessment import RiskAssessment
from app.features.sweep.presentation.sweep import cell_text, left_out_text, matrix, names_at, ranking, workloads_go_down
from app.features.sweep.screen.draft import LEVEL_AXIS, Draft, DraftAxis, axes_of, plan_text
from app.features.sweep.screen.plan_view import axis_rows, fold_text, plan_groups, question
from app.features.sweep.screen.results_view import grid, header_text, state_text
from backends.device_label import DeviceLabel
from backends.model import Level
from backends.settings import Reading, Risk, Setting, Span
from tests.case_loop import loop_over
from tests.features.sweep.making import HEAD, VOLUME, after, design, known, measured, plan, started
from tests.features.sweep.screen_sweeps import TWO_BY_THREE
from widgets.table_layout import plain

HOLDERS = known().holders["array"]


def draft(name: str = "randread-4k") -> Draft:
    return Draft(address=str(VOLUME), job=profile(name).job, profile=name)


def axes(of: Draft) -> dict[str, DraftAxis]:
    return {axis.key: axis for axis in axes_of(HOLDERS, of)}


def ticked(of: Draft, **values: tuple[str, ...]) -> Draft:
    """`setting__ahead=("none", "all")`."""
    known_axes = axes(of)
    for name, each in values.items():
        for value in each:
            of = of.toggle(known_axes[name.replace("__", ":")], value)
    return of


def made(of: Draft) -> Design:
    """The design of what is ticked, its one target being the array of the tests."""
    text = plan_text(of, tuple(axes(of).values()))
    found = known(addresses={"target": str(VOLUME)})
    return expand(parse_plan(text.encode(), "x"), found, 1)


def test_numbers_of_a_setting_have_their_unit_also_those_that_were_typed() -> None:
    reading = Reading(now="128", span=Span(minimum=0, maximum=4096, step=4, unit="KiB"))
    holder = replace(
        HOLDERS[0], settings={"kib": Setting(key="kib", label="Ahead", help="")}, readings={"kib": reading}
    )
    found = {axis.key: axis for axis in axes_of((holder,), draft())}
    axis = found["setting:kib"]
    shown = draft().toggle(axis, "32").toggle(axis, "640")
    rows = axis_rows(tuple(found.values()), shown, frozenset({axis.key}), folded=False)
    texts = [plain(row.cells[0]) for row in rows if row.key.startswith(axis.key)]
    assert [text.split("] ")[-1] for text in texts[1:-1]] == [
        *(f"{number} KiB" for number in (32, 64, 128, 256, 512, 2048)),
        "640 KiB",
    ]
    assert plain(next(row for row in rows if row.key == axis.key).cells[1]) == "32 KiB, 640 KiB"


def test_ticked_settings_and_fields_are_combined() -> None:
    wanted = made(ticked(draft(), setting__ahead=("none", "all"), job__iodepth=("1", "32")))
    assert {(cell.row, cell.column) for cell in wanted.cells} == {
        (f"ahead={ahead}", f"iodepth={depth}") for ahead in ("none", "all") for depth in ("1", "32")
    }


@loop_over("name", PROFILES)
def test_the_plan_measures_the_job_that_was_chosen(name: str) -> None:
    one = draft(name)
    text = plan_text(one, tuple(axes(one).values()))
    job = expand(parse_plan(text.encode(), "x"), known(addresses={"target": str(VOLUME)}), 1).cells[0].job
    assert job == {key: value for key, value in one.job.texts().items() if value}


def test_a_read_share_makes_a_plain_pattern_a_mixed_one() -> None:
    wanted = made(ticked(draft(), job__rwmixread=("100", "70")))
    assert {(cell.job["rw"], cell.job["rwmixread"]) for cell in wanted.cells} == {("randrw", "100"), ("randrw", "70")}


def test_workloads_keep_their_own_fields() -> None:
    wanted = made(ticked(draft(), job__profile=("randread-4k", "seqread-4m")))
    assert {cell.job["bs"] for cell in wanted.cells} == {"4k", "4M"}


def test_ticking_twice_unticks() -> None:
    of = ticked(draft(), setting__ahead=("none", "none"))
    assert of.ticked == {}


def test_one_number_of_runs_holds() -> None:
    assert made(ticked(draft(), measure__repeats=("2", "5"), setting__ahead=("none", "all"))).repeats == 5


def test_raising_the_load_of_one_job_is_a_plan_of_its_own() -> None:
    of = ticked(draft(), measure__load=("curve",))
    assert of.varies
    wanted = made(of)
    assert wanted.curve is not None
    assert wanted.saturation is not None


def test_the_load_that_is_not_raised_is_no_plan() -> None:
    assert not ticked(draft(), measure__load=("curve", "")).varies


def test_one_value_alone_is_nothing_to_compare() -> None:
    assert not ticked(draft(), setting__ahead=("none",)).varies


@pytest.mark.parametrize(
    ("key", "why"),
    [("setting:boot", "restart"), ("setting:locked", "the card says no"), ("setting:unread", "could not be restored")],
)
def test_what_no_sweep_can_change_says_why(key: str, why: str) -> None:
    assert why in axes(draft())[key].why_not


def over_drives(strip: int | None = None) -> Draft:
    taken = replace(draft(), ticked={"measure:load": ("curve",), "setting:ahead": ("all",)})
    wanted = WantedArrays(drives=("scsi:sda", "scsi:sdb"), level=Level.RAID0, strip_bytes=strip)
    return taken.over_arrays(wanted)


def ticked_arrays(of: Draft, **values: tuple[str, ...]) -> Draft:
    listed = {axis.name: axis for axis in axes_of((), of)}
    for name, each in values.items():
        for value in each:
            of = of.toggle(listed[name], value)
    return of


def test_spans_are_offered_as_the_drives_can_be_divided_and_ticked_for_levels_that_have_some() -> None:
    drives = tuple(f"scsi:sd{letter}" for letter in "abcdefghijkl")
    wanted = draft().over_arrays(WantedArrays(drives=drives, level=Level.RAID50))
    offered = {axis.name: [value.label for value in axis.values] for axis in axes_of((), wanted)}
    assert offered["spans"] == ["2 of 6 drives", "3 of 4 drives", "4 of 3 drives", "6 of 2 drives"]
    ticked = ticked_arrays(wanted, spans=("3", "2"))
    levels = parse_plan(plan_text(ticked, axes_of((), ticked)).encode(), "x").levels
    assert levels is not None
    assert levels.spans == {Level.RAID50: (2, 3)}
    assert ticked.arrays != wanted.arrays
    spanless = replace(ticked, ticked={**ticked.ticked, LEVEL_AXIS: ("raid5",)})
    assert "spans" not in plan_text(spanless, axes_of((), spanless))
    few = replace(wanted, drives=drives[:3])
    assert "spans" not in {axis.name for axis in axes_of((), few)}


def test_levels_of_the_same_drives_are_ticked_as_a_plan_has_them() -> None:
    wanted = ticked_arrays(over_drives(64 << 10), level=("raid1",), strip=("128k",), assume_clean=("yes",))
    levels = parse_plan(plan_text(wanted, axes_of((), wanted)).encode(), "x").levels
    assert levels is not None
    assert levels.drives == ("scsi:sda", "scsi:sdb")
    assert levels.levels == (Level.RAID0, Level.RAID1)
    assert levels.strips == (64 << 10, 128 << 10)
    assert levels.assume_clean


def test_layouts_are_ticked_for_raid_10_alone() -> None:
    wanted = ticked_arrays(over_drives(64 << 10), level=("raid10",), layout=("n2", "f2"))
    levels = parse_plan(plan_text(wanted, axes_of((), wanted)).encode(), "x").levels
    assert levels is not None
    assert levels.layouts == ("n2", "f2")
    without = replace(wanted, ticked={**wanted.ticked, LEVEL_AXIS: ("raid5",)})
    assert "layout" not in plan_text(without, axes_of((), without))


def test_of_arrays_that_are_made_nothing_of_another_target_is_left() -> None:
    wanted = over_drives()
    text = plan_text(wanted, axes_of((), wanted))
    assert not any(word in text for word in ("[targets]", "setting", "curve", "strip", "assume_clean", str(VOLUME)))


def test_without_a_level_there_is_nothing_to_make() -> None:
    without = ticked_arrays(over_drives(), level=("raid0",), iodepth=("1", "2"))
    assert not without.varies
    assert ticked_arrays(without, level=("raid5",)).varies


def test_an_opened_axis_shows_its_values_and_which_is_set() -> None:
    of = ticked(draft(), setting__ahead=("all",))
    shown = {
        row.key: [plain(cell) for cell in row.cells]
        for row in axis_rows(axes_of(HOLDERS, of), of, frozenset({"setting:ahead"}))
    }
    assert shown["setting:ahead"] == ["▾ Read-ahead", "all"]
    assert shown["setting:ahead|none"] == ["  [ ] none", "now"]
    assert shown["setting:ahead|all"] == ["  [x] all", ""]


def words(surveyed: RiskAssessment) -> str:
    return "\n".join(
        f"{group.heading}: " + "; ".join(f"{fact.label} {fact.value}" for fact in group.facts)
        for group in plan_groups(surveyed)
    )


def test_folded_only_what_was_chosen_is_listed() -> None:
    of = ticked(draft(), setting__ahead=("all",))
    listed = axis_rows(axes_of(HOLDERS, of), of, frozenset(), folded=True)
    assert [row.key for row in listed if not row.separator] == ["setting:ahead"]


def test_how_many_are_folded_away_is_told_with_the_key() -> None:
    of = ticked(draft(), setting__ahead=("all",))
    axes = axes_of(HOLDERS, of)
    assert fold_text(axes, of, folded=True) == f"{len(axes) - 1} not selected, <sweep.fold> shows them"


def test_without_a_choice_nothing_is_to_be_folded() -> None:
    assert fold_text(axes_of(HOLDERS, draft()), draft(), folded=False) == ""


def test_the_plan_tells_steps_changes_and_order() -> None:
    told = words(RiskAssessment(design=TWO_BY_THREE, risk=Risk.NONE))
    assert "12 steps" in told
    assert "Changes, all restored: ahead" in told
    assert "restored to none at the end" in told
    assert "round 2" in told


STRIPS = design('[[axis]]\ntarget="array"\nsetting="strip"\nvalues=["64k", "8k"]\n')
LOSING = RiskAssessment(
    design=replace(STRIPS, destroys=(OverwrittenDevice(device="/dev/sdx", name="sdx", found=("ext4 'data'",)),)),
    risk=Risk.DESTROYS_DATA,
    plates=(DeviceLabel(name="/dev/sdx", description="ACME X1, serial number AB12345678, 1 TiB", token="345678"),),
)


def test_the_plan_tells_which_steps_destroy() -> None:
    told = words(LOSING)
    assert "/dev/sdx ALL DATA WILL BE LOST: by steps 3, 4" in told
    assert "ext4 'data'" in told


def test_the_plan_and_the_question_tell_what_is_written() -> None:
    worn = replace(LOSING, wear=("Written to /dev/sdx: 30 GiB at most.",))
    assert "Wear:  Written to /dev/sdx: 30 GiB at most." in words(worn)
    assert "Written to /dev/sdx: 30 GiB at most." in question(worn, ()).risks


def test_what_destroys_wants_the_word_of_the_device_typed() -> None:
    asked = question(LOSING, ())
    assert (asked.tier, asked.required) == ("destructive", "345678")
    assert asked.evidence == ("/dev/sdx: ext4 'data'",)


@pytest.mark.parametrize(
    ("risk", "tier"), [(Risk.NONE, "harmless"), (Risk.PERFORMANCE, "harmless"), (Risk.POWER_LOSS, "risky")]
)
def test_the_question_is_as_strict_as_its_worst_step(risk: Risk, tier: str) -> None:
    assert question(RiskAssessment(design=TWO_BY_THREE, risk=risk), ()).tier == tier


def test_what_is_refused_cannot_be_begun() -> None:
    asked = question(
        RiskAssessment(design=TWO_BY_THREE, risk=Risk.NONE, refused=("It is mounted.",), hint="Unmount it."), ()
    )
    assert (asked.tier, asked.reasons) == ("refused", ("It is mounted.", "Unmount it."))


SIX = expand(
    plan(
        '[[axis]]\ntarget = "array"\nsetting = "ahead"\nvalues = ["none", "some", "all"]\n'
        '[[axis]]\njob = "iodepth"\nvalues = [1, 32]\n',
        head=HEAD.replace("repeats = 2", "repeats = 6"),
    ),
    known(),
    4,
)
"""As often as a verdict takes."""

HALF = {"ahead=none": 1000.0, "ahead=some": 1010.0, "ahead=all": 500.0}
"""One value is as good as the baseline, one much worse."""


def test_the_longer_side_of_the_matrix_goes_down() -> None:
    record, runs = measured(TWO_BY_THREE, HALF)
    assert not workloads_go_down(results(record, runs))


def test_a_worse_cell_has_its_sign_and_a_lower_bar() -> None:
    record, runs = measured(SIX, HALF)
    shown = matrix(record, results(record, runs))
    worse = shown.places[shown.down.index("ahead=all")][0]
    base = shown.places[shown.down.index("ahead=none")][0]
    assert (worse.sign, worse.tone, base.sign) == ("↓", Tone.BAD, "◎")
    assert worse.level == pytest.approx(0.495, abs=0.01)


def test_bars_of_one_set_up_show_how_its_workloads_differ() -> None:
    depths = design('[[axis]]\njob = "iodepth"\nvalues = [1, 32]\n')
    record, runs = measured(depths, {"iodepth=1": 1000.0, "iodepth=32": 4000.0})
    levels = [place.level for row in matrix(record, results(record, runs)).places for place in row]
    assert max(filter(None, levels)) == 1.0
    assert min(filter(None, levels)) < 0.5


def test_the_cell_that_is_measured_is_inverse() -> None:
    record = started(TWO_BY_THREE)
    record = replace(record, current=CurrentStep(step=TWO_BY_THREE.steps[0], since=0.0))
    shown = grid(matrix(record, results(record, ())))
    assert sum(cell.running for row in shown.cells for cell in row) == 1


def test_what_leads_is_framed_and_what_is_worse_is_not() -> None:
    record, runs = measured(SIX, HALF)
    shown = grid(matrix(record, results(record, runs)))
    framed = {name: row[0].framed for name, row in zip(shown.rows, shown.cells, strict=True)}
    assert (framed["ahead=all"], any(framed.values())) == (False, True)


def test_cells_count_their_runs_until_there_is_a_figure() -> None:
    record = started(TWO_BY_THREE)
    shown = matrix(record, results(record, ()))
    assert {cell.text for row in shown.places for cell in row} == {"0/2"}


def test_the_cell_under_the_cursor_is_told_about() -> None:
    record, runs = measured(SIX, HALF)
    seen = results(record, runs)
    one = seen.at(*names_at(seen, 2, 0))
    assert one is not None
    told = cell_text(seen, record, one)
    assert told.startswith("ahead=all; iodepth=1\n6 of 6 runs")
    assert "slower" in told


def test_the_ranking_has_the_best_first() -> None:
    record, runs = measured(TWO_BY_THREE, {"ahead=none": 1000.0, "ahead=some": 1500.0, "ahead=all": 500.0})
    rows = ranking(results(record, runs), "iodepth=1").rows
    assert [text_of(row.cells[1]) for row in rows] == ["ahead=some", "ahead=none", "ahead=all"]


def test_the_header_says_how_far_it_is() -> None:
    record = after(started(TWO_BY_THREE), TWO_BY_THREE.steps[0], "r1")
    assert header_text(record, 10.0).startswith("sweep 1/12 ETA ")


def test_one_that_nobody_runs_says_so() -> None:
    words, tone = state_text(started(TWO_BY_THREE), running=False)
    assert (words.startswith("INTERRUPTED after 0 of 12 steps"), tone) == (True, "bad")


def test_a_combination_that_is_left_out_says_why() -> None:
    locked = design('[[axis]]\ntarget = "array"\nsetting = "locked"\nvalues = ["a", "b"]\n')
    assert "the card says no" in left_out_text(started(locked), "locked=b", locked.cells[0].column)
