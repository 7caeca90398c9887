"""What a value that is read now is to a change: decides for every way back what may be touched."""

from __future__ import annotations

from enum import StrEnum

from app.engine.session.state import ChangeRecord
from backends.change import Change


class ValueState(StrEnum):
    """How the present value stands to a change."""

    BEFORE = "before"
    """The value of before: there is nothing to be taken back."""
    OURS = "ours"
    """What the change brought about: it may be taken back."""
    FOREIGN = "foreign"
    """Neither old nor new: somebody else set it since, so nobody touches it."""


def standing(change: Change, now: str | None, *read_back: str | None) -> ValueState:
    """How the value `now` stands to a change; `read_back`: values that were read when it ended, None if none was."""
    if now == change.before:
        return ValueState.BEFORE
    return ValueState.OURS if now is not None and now in (change.after, *read_back) else ValueState.FOREIGN


def standing_of(record: ChangeRecord, now: str | None) -> ValueState:
    """How the value `now` stands to a change of a session, by what was wanted and what was read back."""
    return standing(record.change, now, None if record.end is None else record.end.now)
