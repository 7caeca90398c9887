"""Advice where it is read: in JSON, in the log, in reports, in lists of runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation import json_schema
from app.core.presentation.events import describe_event
from app.core.presentation.run import caveat_mark
from app.core.session.event_codec import decode, encode
from app.core.session.event_types import AdviceGiven
from app.core.session.events import LiveEvent, LoggedEvent, RunEnded
from app.core.session.results import Advice, RunResult, RunStatus
from app.core.session.state import fold, replay
from tests.core import sessions

ADVICE = Advice(key="governor", message="The governor is powersave.", do="Set it.")


def ended(advice: tuple[Advice, ...] = (ADVICE,), warnings: tuple[str, ...] = ()) -> list[LoggedEvent]:
    """A run with advice."""
    start, end = sessions.run("r1", warnings=warnings)
    assert isinstance(end, RunEnded)
    return [start, replace(end, figures=replace(end.figures, advice=advice))]


def test_json_has_advice_before_notes() -> None:
    record = replay([sessions.started(), *ended(warnings=("A note.",))]).runs[0]
    assert json_schema.run(record, session="")["advice"] == [
        {"key": "governor", "message": "The governor is powersave.", "do": "Set it.", "about": []},
        {"key": "note", "message": "A note.", "do": None, "about": []},
    ]


def test_the_log_keeps_it() -> None:
    end = ended()[-1]
    assert decode(encode(end)) == end


def test_the_log_tells_it() -> None:
    assert "The governor is powersave. Set it." in describe_event(ended()[-1]).body


def test_what_is_said_while_a_job_runs_takes_the_place_of_what_was() -> None:
    session = replay([sessions.started(), sessions.run("r1")[0]])
    for advice in ((ADVICE,), ()):
        session = fold(session, LiveEvent(at=1.0, id="r1", progress=AdviceGiven(advice=advice)))
    assert session.active is not None
    assert session.active.advice == ()


@pytest.mark.parametrize(("count", "mark"), [(0, ""), (1, " !"), (3, " !3")])
def test_lists_of_runs_count_it(count: int, mark: str) -> None:
    figures = ended((ADVICE,) * count)[-1]
    assert isinstance(figures, RunEnded)
    assert caveat_mark(figures.figures) == mark


def test_a_run_of_which_nothing_is_said_bears_no_mark() -> None:
    assert caveat_mark(RunResult(status=RunStatus.OK)) == ""
