"""How often a slow link is drawn to."""

from __future__ import annotations

import pytest

from app.tui.session_updates import LOST_S, RedrawRate, RedrawThrottle


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def paced(took: float) -> tuple[RedrawThrottle, Clock]:
    """After a drawing that took so long to arrive."""
    clock = Clock()
    pace = RedrawThrottle(clock)
    pace.question_sent()
    clock.now += took
    pace.answer_received()
    return pace, clock


def test_a_terminal_that_never_answered_is_not_waited_for() -> None:
    pace = RedrawThrottle(Clock())
    assert (pace.answers, pace.wait()) == (False, 0.0)


@pytest.mark.parametrize("took", [0.1, 0.6, 3.0])
def test_after_an_answer_as_long_is_left_for_keys(took: float) -> None:
    assert paced(took)[0].wait() == pytest.approx(took)


def test_then_it_is_drawn_to_again() -> None:
    pace, clock = paced(0.6)
    clock.now += 0.61
    assert pace.wait() == 0.0


def test_until_it_has_answered_nothing_is_drawn() -> None:
    pace, clock = paced(0.1)
    pace.question_sent()
    clock.now += LOST_S - 1
    assert pace.wait() > 0


def test_an_answer_that_was_lost_is_not_waited_for_for_ever() -> None:
    pace, clock = paced(0.1)
    pace.question_sent()
    clock.now += LOST_S
    assert pace.wait() == 0.0


def redraws(*arrivals: float) -> list[float]:
    """When what arrived at these seconds is drawn at four redraws a second, if each waits for its turn."""
    clock = Clock()
    rate, begin, drawn = RedrawRate(4.0, clock), clock.now, []
    for arrival in arrivals:
        clock.now = max(clock.now, begin + arrival)
        clock.now += rate.wait()
        rate.record()
        drawn.append(round(clock.now - begin, 3))
    return drawn


def test_samples_at_the_rate_are_shown_when_they_arrive_whatever_was_drawn_before_them() -> None:
    samples = [0.03 + 0.25 * number for number in range(8)]
    assert redraws(0.0, *samples) == [0.0, *(round(at, 3) for at in samples)]


def test_more_than_the_rate_is_drawn_at_the_rate() -> None:
    drawn = redraws(*(0.05 * number for number in range(9)))
    assert drawn == [0.0, 0.05, *(0.25 * number for number in range(1, 8))]


def test_many_redraws_that_did_not_wait_do_not_hold_up_the_next_sample_for_long() -> None:
    clock = Clock()
    rate = RedrawRate(4.0, clock)
    for _ in range(50):
        rate.record()
    assert rate.wait() == pytest.approx(0.25)


def test_after_a_pause_one_redraw_may_come_early_and_not_more() -> None:
    assert redraws(0.0, 5.0, 5.1, 5.2) == [0.0, 5.0, 5.1, 5.25]
