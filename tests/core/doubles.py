"""A backend of one setting that can lie in every way the real ones do, and what a changer needs around it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.core.changes.executor import ChangeExecutor
from app.core.session.events import AnyEvent, ChangeEnded
from app.core.session.journal import Journal
from app.core.session.state import ChangeRecord, Session, fold
from backends.change import Change, ChangeStep
from backends.errors import BlockedError, NotFoundError
from backends.identity import Identity
from backends.model import Inventory, Target
from backends.settings import Availability, Choice, Persistence, Reading, Risk, Setting

TARGET = Target(backend="fake", address="disk0")
SETTING = Setting(key="read_ahead_kb", label="Read-ahead", help="KiB read ahead.")
IDENTITY = Identity(name="disk0", serial="S1", size_bytes=1 << 30, devno="8:0", diskseq="7")


def planned(before: str | None, after: str, *, persistence: Persistence = Persistence.STORED, lock: str = "") -> Change:
    """A change of the fake's only setting."""
    undo = () if before is None else (ChangeStep(path="/fake/read_ahead_kb", text=before),)
    return Change(
        target=TARGET,
        key=SETTING.key,
        label=SETTING.label,
        before=before,
        after=after,
        writes=(ChangeStep(path="/fake/read_ahead_kb", text=after),),
        undo=undo,
        identity=IDENTITY,
        persistence=persistence,
        lock=lock,
    )


@dataclass
class FakeBackend:
    """Holds one value; `sets` is what really happens when somebody sets it."""

    value: str | None = "128"
    sets: Callable[[str], str | None] = lambda value: value
    reads_fail: bool = False
    error: BaseException | None = None
    why_not: str | None = None
    gate: asyncio.Event | None = None
    lock: str = ""
    risk: Risk = Risk.NONE
    applied: list[Change] = field(default_factory=list)
    entered: asyncio.Event = field(default_factory=asyncio.Event)

    async def inventory(self) -> Inventory:
        return Inventory()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        return (SETTING,)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        if self.reads_fail and self.applied:
            raise NotFoundError("The disk does not answer.")
        choices = tuple(Choice(value=value, label=value) for value in ("128", "256", "512"))
        return {SETTING.key: Reading(now=self.value, choices=choices, availability=Availability(why_not=self.why_not))}

    async def plan(self, target: Target, key: str, value: str) -> Change:
        return planned(self.value, value)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        now = (await self.read(target))[key]
        if now.availability.why_not is not None:
            raise BlockedError(f"{key} cannot be changed: {now.availability.why_not}.")
        return replace(planned(now.now, value, lock=self.lock), risk=self.risk)

    async def apply(self, change: Change) -> None:
        self.applied.append(change)
        self.entered.set()
        if self.gate is not None:
            await self.gate.wait()
        self.value = self.sets(change.after)
        if self.error is not None:
            raise self.error


class Bench:
    """A changer on a fake backend, its session folded as it goes."""

    def __init__(self, folder: Path, backend: FakeBackend | None = None) -> None:
        self.backend = backend or FakeBackend()
        self.journal = Journal(folder / "journal")
        self.session = Session()
        self.locks = folder / "locks"
        self.folder = folder / "session"
        self.refuse_events: Callable[[AnyEvent], None] = lambda event: None
        self.changer = ChangeExecutor(
            backends={"fake": self.backend},
            journal=self.journal,
            locks=self.locks,
            folder=self.folder,
            emit=self.emit,
            next_id=lambda: f"c{len(self.session.changes) + 1}",
        )

    def emit(self, event: AnyEvent) -> None:
        self.refuse_events(event)
        self.session = fold(self.session, event)

    async def set(self, after: str, *, before: str | None = "128") -> ChangeEnded:
        return await self.changer.apply(planned(before, after))

    def record(self, change_id: str = "c1") -> ChangeRecord:
        record = self.session.change(change_id)
        assert record is not None
        return record
