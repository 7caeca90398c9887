"""Changes of level over sessions, and what differed when they came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.core.analysis.past_runs.earlier_runs import PastRun
from app.core.analysis.past_runs.series import changed_since_before, series_of

DAY = 86_400.0


def past(
    value: float,
    *,
    session: str = "s1",
    id: str = "r1",
    at: float = 0.0,
    settings: dict[str, str] | None = None,
    kernel: str = "6.1",
    thing: str = "wwn 1",
    tried: bool = False,
) -> PastRun:
    """A run of random reads."""
    return PastRun(
        session=session,
        id=id,
        at=at,
        host="pear",
        simulated=False,
        thing=thing,
        target="block:sda",
        workload="randread-4k",
        profile="randread-4k",
        job="iodepth=64",
        settings=settings or {"read_ahead_kb": "128"},
        around={"kernel": kernel},
        figure="iops",
        direction="read",
        value=value,
        p99_ns=None,
        status="ok",
        tried=tried,
    )


def days(values: Sequence[float], kernels: Sequence[str] = ()) -> Iterator[PastRun]:
    """A session a day."""
    for day, value in enumerate(values):
        kernel = kernels[day] if kernels else "6.1"
        yield past(value, session=f"day{day}", at=day * DAY, kernel=kernel)


BEFORE = (100.0, 101.0, 99.0, 100.5)
AFTER = (80.0, 81.0, 79.0, 80.5)


def changes_of(runs: Sequence[PastRun]) -> list[str]:
    return [change.first.name for series in series_of(runs).values() for change in series.changes]


def test_a_change_of_level_is_found_where_it_came() -> None:
    assert changes_of(list(days((*BEFORE, *AFTER)))) == ["day4/r1"]


def test_what_differed_is_named() -> None:
    runs = list(days((*BEFORE, *AFTER), ["6.1"] * 4 + ["6.8"] * 4))
    (series,) = series_of(runs).values()
    assert series.changes[0].differs == (("kernel", "6.1", "6.8"),)


def test_runs_of_one_session_are_one_point() -> None:
    runs = [past(value, session=f"day{n // 4}", id=f"r{n}", at=n) for n, value in enumerate((*BEFORE, *AFTER))]
    (series,) = series_of(runs).values()
    assert (len(series.points), changes_of(runs)) == (2, [])


def test_within_the_only_session_each_run_is_a_point() -> None:
    runs = [past(value, id=f"r{n}", at=n) for n, value in enumerate((*BEFORE, *AFTER))]
    assert changes_of(runs) == ["s1/r4"]


def test_other_settings_in_one_session_are_another_point() -> None:
    runs = [*days(BEFORE), past(100.0, session="day3", id="r2", at=4 * DAY, settings={"read_ahead_kb": "64"})]
    (series,) = series_of(runs).values()
    assert len(series.points) == 5


def test_what_was_tried_and_put_back_does_not_count() -> None:
    tries = [past(50.0, session="day9", id=f"r{n}", at=9 * DAY + n, tried=True) for n in range(9)]
    assert changes_of([*days(BEFORE), *tries]) == []


def test_two_things_are_two_series() -> None:
    assert len(series_of([past(1.0), past(1.0, thing="wwn 2")])) == 2


def test_a_run_tells_what_differs_from_the_one_before_on_its_thing() -> None:
    other = past(1.0, id="r2", thing="wwn 2", settings={"read_ahead_kb": "999"})
    runs = [past(1.0), other, past(1.0, id="r3", settings={"read_ahead_kb": "64"})]
    assert changed_since_before(runs)["s1/r3"] == (("read_ahead_kb", "128", "64"),)


def test_the_first_run_on_a_thing_differs_from_nothing() -> None:
    assert changed_since_before([past(1.0)])["s1/r1"] == ()
