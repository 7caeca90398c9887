"""The time in which all hosts measured, and who was not in it."""

from __future__ import annotations

from app.features.fleet.multihost.common_interval import common_window, late_starts


def test_it_begins_with_the_last_and_ends_with_the_first() -> None:
    window = common_window({"a": (0.0, 10.0), "b": (0.4, 10.4), "c": (0.2, 9.8)})
    assert window is not None
    assert (window.begin, window.end, window.hosts, window.outside) == (0.4, 9.8, ("a", "b", "c"), {})
    assert abs(window.seconds - 9.4) < 1e-9


def test_who_began_too_late_is_left_outside_and_named() -> None:
    window = common_window({"a": (0.0, 10.0), "b": (0.1, 10.1), "c": (7.0, 17.0)})
    assert window is not None
    assert (window.begin, window.end, window.hosts) == (0.1, 10.0, ("a", "b"))
    assert window.outside == {"c": "it began 7.0 s after the first"}


def test_who_ended_too_early_is_left_outside_and_named() -> None:
    window = common_window({"a": (0.0, 10.0), "b": (0.1, 10.1), "c": (0.0, 2.0)})
    assert window is not None
    assert window.hosts == ("a", "b")
    assert window.outside == {"c": "it ended 8.0 s before the others"}


def test_half_of_the_usual_time_is_enough() -> None:
    window = common_window({"a": (0.0, 10.0), "b": (5.0, 15.0)})
    assert window is not None
    assert (window.begin, window.end, window.outside) == (5.0, 10.0, {})


def test_hosts_that_measured_at_different_times_have_no_window_but_that_of_one() -> None:
    window = common_window({"a": (0.0, 10.0), "b": (20.0, 30.0)})
    assert window is not None
    assert len(window.hosts) == 1
    assert len(window.outside) == 1


def test_without_hosts_there_is_none() -> None:
    assert common_window({}) is None
    assert common_window({"a": (3.0, 3.0)}) is None


def test_only_whole_intervals_count() -> None:
    window = common_window({"a": (0.0, 10.0), "b": (1.0, 11.0)})
    assert window is not None
    spans = [(0.9, 1.15), (1.0, 1.25), (9.75, 10.0), (9.8, 10.05)]
    assert [window.holds(span) for span in spans] == [False, True, True, False]


def test_late_is_more_than_a_second_after_the_first_by_the_plan() -> None:
    spans = {"a": (100.2, 110.0), "b": (101.1, 110.0), "c": (101.3, 110.0), "d": (102.3, 110.0)}
    planned = {"a": 100.0, "b": 100.0, "c": 100.0, "d": 102.0}
    assert {host: round(wait, 3) for host, wait in late_starts(spans, planned).items()} == {"c": 1.1}
