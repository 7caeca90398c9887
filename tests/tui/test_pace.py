"""How often a slow link is drawn to."""

from __future__ import annotations

import pytest

from app.tui.session_updates import LOST_S, RedrawThrottle


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
