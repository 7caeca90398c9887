"""Runs of two sessions are a question: what differs beneath comes first, and nothing is called chance or a verdict."""

from __future__ import annotations

from app.core.analysis.comparison import Comparison, compare
from app.core.presentation.comparison_text import caveat_texts, comparison_sentence
from app.core.session.events import LoggedEvent
from app.core.session.state import RunRecord, replay
from tests.core import sessions

HERE = {"backing_inode": "8:1:7", "backing_bytes": "4096", "kernel_x": "1"}
SWAPPED = HERE | {"backing_inode": "8:1:8"}


def runs(*iops: float, provenance: dict[str, str] | None = None, setting: str = "128") -> tuple[RunRecord, ...]:
    """The runs of a session of its own."""
    events: list[LoggedEvent] = [sessions.started()]
    for at, one in enumerate(iops):
        settings = {"read_ahead_kb": setting}
        events += sessions.run(f"r{at + 1}", iops=one, provenance=provenance or HERE, settings=settings)
    return replay(events).runs


def two(a: tuple[RunRecord, ...], b: tuple[RunRecord, ...], *earlier: tuple[RunRecord, ...]) -> Comparison:
    return compare(a[0], b[0], a, b, names=("S1/r1", "S2/r1"), earlier=earlier)


def test_a_swapped_backing_file_is_named_first() -> None:
    told = comparison_sentence(two(runs(100), runs(632.7, provenance=SWAPPED)))
    assert told.startswith("Differences in addition to settings and job: inode of the backing file.")


def test_two_sessions_are_never_called_chance() -> None:
    told = two(runs(100, 101), runs(105, 106))
    assert "chance" not in " ".join((comparison_sentence(told), *caveat_texts(told)))


def test_two_sessions_of_the_same_get_no_verdict() -> None:
    told = two(runs(100, 101, 99), runs(600, 601, 599))
    assert "Not decided between S1/r1 and S2/r1: read IOPS +500.0 %" in comparison_sentence(told)
    assert "in 3 and 3 runs from two sessions; not measured in turn, so" in comparison_sentence(told)


def test_that_nothing_else_differs_is_said() -> None:
    assert "No recorded difference in addition to settings and job." in comparison_sentence(two(runs(100), runs(105)))


def test_all_repeats_of_both_sessions_are_taken() -> None:
    told = two(runs(100, 101, 99), runs(600, 601))
    assert (len(told.sides.a), len(told.sides.b)) == (3, 2)


def test_what_differs_has_its_value_on_each_side() -> None:
    assert two(runs(100), runs(105, provenance=SWAPPED)).provenance == (("backing_inode", "8:1:7", "8:1:8"),)


def test_what_is_known_of_one_side_alone_differs() -> None:
    told = two(runs(100), runs(105, provenance=HERE | {"turbo": "off"}))
    assert told.provenance == (("turbo", None, "off"),)


def test_many_differences_are_counted() -> None:
    many = HERE | {f"k{number}": "1" for number in range(9)}
    assert "k0, k1, k2, k3, k4, k5 and 3 more." in comparison_sentence(two(runs(100), runs(105, provenance=many)))


def test_the_thing_itself_is_named_before_all_else_and_the_boot_last() -> None:
    other = {"boot_id": "b", "a_first": "1", "drive_serial": "S2"}
    told = two(runs(100, provenance={"x": "1"}), runs(105, provenance={"x": "1"} | other))
    assert [key for key, _, _ in told.provenance] == ["drive_serial", "a_first", "boot_id"]


def test_the_knobs_of_another_scheduler_are_no_difference_of_their_own() -> None:
    one = HERE | {"queue_iosched_fifo_batch": "16", "queue_iosched_read_expire": "500"}
    other = HERE | {"queue_iosched_low_latency": "1", "queue_iosched_read_expire": "100"}
    told = two(runs(100, provenance=one), runs(105, provenance=other))
    assert told.provenance == (("queue_iosched_read_expire", "500", "100"),)


def test_how_far_earlier_sessions_of_the_same_lie_apart_is_told() -> None:
    earlier = (runs(100, 100), runs(110, 110), runs(90, 90), runs(100, 100))
    assert "Session-to-session noise: 11.7 % (4 other sessions)." in comparison_sentence(
        two(runs(100), runs(105), *earlier)
    )


def test_three_earlier_sessions_tell_nothing_of_that() -> None:
    assert "scattered" not in comparison_sentence(two(runs(100), runs(105), runs(100), runs(110), runs(90)))


def test_sessions_of_something_else_tell_nothing_of_that() -> None:
    others = [runs(100, provenance=SWAPPED), runs(100, setting="4096"), runs(100), runs(110), runs(90)]
    assert two(runs(100), runs(105), *others).between is None


def test_a_file_that_was_swapped_within_a_session_makes_no_repeat() -> None:
    both = (runs(100)[0], runs(100, 632.7, provenance=SWAPPED)[1])
    told = comparison_sentence(compare(*both, both, both))
    assert "Differences in addition to settings and job: inode of the backing file." in told
    assert "repeats" not in told


def test_repeats_with_something_else_beneath_are_not_chance() -> None:
    both = (runs(100)[0], runs(100, 105, provenance=HERE | {"governor": "powersave"})[1])
    told = comparison_sentence(compare(*both, both, both))
    assert told == "Differences in addition to settings and job: governor. r2 repeats r1: read IOPS +5.0 %."


def between(b: tuple[float, ...], threshold: float = 2.0) -> Comparison:
    """Three runs of A, three of B, three of A once more."""
    events: list[LoggedEvent] = [sessions.started()]
    for at, iops in enumerate((1000, 1001, 999, *b, 1000, 1001, 999)):
        settings = {"read_ahead_kb": "4096" if at in (3, 4, 5) else "128"}
        events += sessions.run(f"r{at + 1}", iops=iops, at=1003.0 + at, settings=settings)
    found = replay(events).runs
    return compare(found[0], found[3], found, found, threshold=threshold)


def test_a_difference_within_the_threshold_is_none() -> None:
    told = comparison_sentence(between((1040, 1041, 1039), threshold=6.0))
    assert told.startswith("No difference between kernel read-ahead 128 KiB and 4096 KiB")
    assert "all within +-6 %" in told


def test_a_difference_beyond_a_threshold_of_ones_own_says_so() -> None:
    told = comparison_sentence(between((1100, 1101, 1099), threshold=6.0))
    assert told.startswith("Faster with kernel read-ahead 4096 KiB than with 128 KiB")
    assert "up to +-6 % counts as no difference here" in told


def test_the_usual_threshold_needs_no_word() -> None:
    assert "no difference here" not in comparison_sentence(between((1100, 1101, 1099)))


def test_repeats_of_the_very_same_are_chance_and_drift() -> None:
    one, other = both = runs(100, 105)
    assert (
        comparison_sentence(compare(one, other, both, both))
        == "r2 repeats r1: read IOPS +5.0 %, which is due to chance and drift."
    )
