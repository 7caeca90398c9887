"""Plans: strict, and every error says where and what is legal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.session.sweep_steps import Rank
from app.features.sweep.engine.builtin_plans import EARLIER, plan_files
from app.features.sweep.engine.plan import JobAxis, PlanError, SettingAxis
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import load_plan, parse_plan
from app.features.sweep.engine.raid_level_axis import axis_of, with_drives
from backends.errors import NotFoundError
from backends.model import Level
from tests.case_loop import loop_over
from tests.features.sweep.making import HEAD, known, plan


def test_an_axis_is_of_a_setting_or_of_the_job() -> None:
    found = plan(
        '[[axis]]\ntarget="array"\nsetting="cache"\nvalues=["off","on"]\n[[axis]]\njob="bs"\nvalues=["4k",8192]'
    )
    assert found.axes == (
        SettingAxis(target="array", setting="cache", values=("off", "on")),
        JobAxis(job="bs", values=("4k", "8192")),
    )


def test_a_set_up_names_settings_of_any_role() -> None:
    found = plan('[[setup]]\nname = "x"\narray = { cache = "on", "write_mostly.{array}" = true }')
    assert found.setups[0].settings == (("array", "cache", "on"), ("array", "write_mostly.{array}", "yes"))


def test_times_and_ranks_are_read() -> None:
    found = plan("[saturation]\np99 = '1.5ms'\nto = 256", head=HEAD.replace("repeats = 2", "rest='1m'\nrank='p99'"))
    assert (found.rest, found.rank) == (60, Rank.P99)
    assert found.saturation is not None
    assert (found.saturation.p99_ns, found.saturation.lowest, found.saturation.highest) == (1_500_000, 1, 256)


@pytest.mark.parametrize(
    ("words", "rank"),
    [
        ('[[axis]]\njob="rate_iops"\nvalues=[100, 200]', Rank.P99),
        ('[[workload]]\nname="a"\nrate="1M"\n[[workload]]\nname="b"\nrate_iops=9', Rank.P99),
        ('[[workload]]\nname="a"\nrate="1M"\n[[workload]]\nname="b"', Rank.IOPS),
        ('[[axis]]\njob="iodepth"\nvalues=[1, 2]', Rank.IOPS),
    ],
)
def test_a_load_at_a_fixed_rate_is_ranked_by_its_tail(words: str, rank: Rank) -> None:
    assert plan(words).rank is rank


@pytest.mark.parametrize(("words", "threshold"), [("", 2.0), ("threshold = 5", 5.0), ("threshold = 0.5", 0.5)])
def test_the_threshold_is_read_and_goes_into_the_design(words: str, threshold: float) -> None:
    found = plan("", head=HEAD.replace("repeats = 2", words))
    assert (found.threshold, expand(found, known(), 1).threshold_percent) == (threshold, threshold)


def test_a_curve_looks_for_the_plateau_first() -> None:
    found = plan("[curve]\npercents = [25, 50, 100]")
    assert found.curve is not None
    assert found.curve.percents == (25, 50, 100)
    assert found.saturation is not None
    assert found.saturation.p99_ns is None


@loop_over(
    ("text", "line", "words"),
    [
        ("colour = 3", 12, "unknown key 'colour' in [job]"),
        ("[colour]", 12, "unknown key 'colour'"),
        ("[[axis]]\nsetting = 'cache'\ntarget = 'nobody'\nvalues = ['on']", 14, "is a role that is not in [targets]"),
        ("[[axis]]\njob = 'bs'\nvalues = []", 14, "1 to 64 values"),
        ("[[axis]]\njob = 'bs'\nvalues = ['4k', '4k']", 14, "contains a value twice"),
        ("[[axis]]\njob = 'bs'\nvalues = ['huge']", 14, "bs:"),
        ("[[axis]]\njob = 'colour'\nvalues = [1]", 13, "unknown field 'colour'"),
        ("[[axis]]\njob = 'profile'\nvalues = ['nothing']", 14, "no workload named 'nothing'"),
        ("[[axis]]\nvalues = [1]", 12, "either a setting of a target or a field"),
        ("[[setup]]\nname = 'a'\n[[setup]]\nname = 'a'", 13, "needs a unique name"),
        ("[[setup]]\nname = 'a'\nagainst = 'b'", 14, "names an unknown configuration"),
        ("[[setup]]\nname = 'a'\nneeds = 'Turbo'", 14, "no [feature.Turbo]"),
        ("[[setup]]\nname = 'a'\narray = 3", 14, "must be a table of settings"),
        ("[[skip]]\nworkload = 'w'\nreason = 'r'", 13, "unknown workload 'w'"),
        ("[[skip]]\njob = { bs = '4k' }", 12, "a reason is missing"),
        ("[saturation]\np99 = '2'", 13, "a time with a unit"),
        ("[saturation]\np99='2ms'\nwithin = 5", 14, "either for a p99 limit or for the plateau"),
        ("[saturation]\nwithin = 80", 13, "up to 50"),
        ("[curve]\npercents = [50, 40, 60]", 13, "3 to 64 increasing percentages"),
        ("[saturation]\np99='2ms'\n[curve]", 14, "percentages of the plateau"),
        ("[saturation]\np99='2ms'\nfrom = 9\nto = 3", 14, "from is 9, to is 3"),
        ("[feature.Turbo]\ntarget = 'nobody'", 13, "is a role that is not in [targets]"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PlanError) as error:
        plan(text)
    assert words in error.value.message
    assert f"plan.toml, line {line}:" in error.value.message


def test_what_is_measured_must_be_clear() -> None:
    with pytest.raises(PlanError, match="the target to measure is missing"):
        parse_plan(b"[targets]\na = 'x:1'\nb = 'x:2'", "p")


def test_the_only_target_is_measured() -> None:
    assert parse_plan(b"[targets]\na = 'x:1'", "p").measure == "a"


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"a = ", b"[targets]\na = 1", b"targets = 3", b"[[axis]]\n", b"axis = 3"]
)
def test_what_is_no_plan_says_so(data: bytes) -> None:
    with pytest.raises(PlanError):
        parse_plan(data, "p")


@given(st.text(max_size=200))
def test_no_text_makes_it_stumble(text: str) -> None:
    for each in (text, HEAD + text):
        try:
            parse_plan(each.encode("utf-8", "surrogatepass"), "p")
        except PlanError:
            continue


@loop_over("name", sorted(plan_files()))
def test_every_plan_that_comes_along_can_be_read(name: str) -> None:
    assert load_plan(name).title


def test_the_published_tables_are_among_them() -> None:
    names = ("a", "b", "c", "d", "e", "f-ds4700", "f-ds3400", "f-5805", "f-rs2bl080")
    wanted = {f"articles-{name}" for name in names}
    assert {*wanted, "block-size", "queue-depth", "iometer"} <= plan_files().keys()
    assert all(load_plan(name).published for name in wanted)


@pytest.mark.parametrize(("before", "now"), EARLIER.items())
def test_a_plan_is_found_by_the_name_that_it_had_before(before: str, now: str) -> None:
    assert load_plan(before).source == load_plan(f"{now}.toml").source


def test_an_unknown_plan_names_those_there_are() -> None:
    with pytest.raises(NotFoundError) as error:
        load_plan("nothing")
    assert "articles-a" in error.value.hint


LEVELS = """[measure]
repeats = 2
[[axis]]
array = "level"
values = ["raid0", "raid1"]
pool = "ssd of kernel"
members = { raid0 = 4, raid1 = 2 }
"""


def test_members_may_differ_by_level() -> None:
    found = parse_plan(LEVELS.encode(), "p").levels
    assert found is not None
    assert (found.members, found.members_of) == (4, {Level.RAID0: 4, Level.RAID1: 2})


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ("{ raid0 = 4 }", "every level of the axis: raid0, raid1"),
        ("{ raid0 = 4, raid1 = 2, raid5 = 3 }", "every level of the axis"),
        ("{ raid0 = 4, raid1 = 0 }", "a whole number from 1 to 256"),
    ],
)
def test_members_by_level_name_all_of_them_and_nothing_else(members: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        parse_plan(LEVELS.replace("{ raid0 = 4, raid1 = 2 }", members).encode(), "p")


def test_what_is_left_out_may_be_said_of_a_level() -> None:
    (rule,) = parse_plan((LEVELS + "[[skip]]\nlevel = 'raid1'\nreason = 'r'").encode(), "p").skips
    assert rule.levels == (Level.RAID1,)
    with pytest.raises(PlanError, match="unknown key 'level'"):
        plan("[[skip]]\nlevel = 'raid1'\nreason = 'r'")


def test_other_drives_make_all_arrays_of_a_plan() -> None:
    read = parse_plan(LEVELS.encode(), "p")
    other = with_drives(read, drives=None, members=3, pool="hdd of c0").levels
    named = with_drives(read, drives="sdb, sdc", members=0, pool="").levels
    assert other is not None
    assert named is not None
    assert (other.members, other.members_of, other.pool, other.drives) == (3, {}, "hdd of c0", ())
    assert (named.members_of, named.pool, named.drives) == ({}, "", ("sdb", "sdc"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"drives": "sdb", "members": 2, "pool": ""}, "Use one of: --drives"),
        ({"drives": None, "members": 0, "pool": "ssd of c0"}, "number of drives from --pool"),
    ],
)
def test_drives_are_named_or_counted(words: dict[str, Any], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        with_drives(parse_plan(LEVELS.encode(), "p"), **words)


def test_a_plan_that_makes_no_arrays_takes_no_drives() -> None:
    with pytest.raises(PlanError, match="creates no arrays"):
        with_drives(plan(""), drives="sdb", members=0, pool="")


def test_levels_of_the_command_line_that_there_are_not_are_refused_by_name() -> None:
    with pytest.raises(PlanError, match=r"^--level can be raid0, raid1"):
        axis_of("raid5,raid7", drives="a,b,c", members=0, pool="", strip=None, assume_clean=False)
