"""A vendor whose only disk is set by a slow program: it waits until somebody lets it go on, then sets the value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from backends.change import Change, ChangeStep
from backends.change_steps import evidence_of
from backends.errors import ToolFailedError
from backends.host import Command, Host
from backends.identity import Identity
from backends.model import Drive, Inventory, Problem, Target
from backends.protocol import Vendor
from backends.settings import Choice, Persistence, Reading, Setting

TARGET = Target(backend="slow", address="d0")
SETTING = Setting(key="wce", label="Write cache", help="Of the drive.", persistence=Persistence.STORED)

SDPARM = """#!/bin/sh
# sdparm VALUE: says that it began, waits for a line from the outside, sets the value.
echo "$1" > {folder}/begun
read -r _ < {folder}/go
echo "setting $1" || true
echo "$1" > {folder}/value
"""


class SlowBackend:
    """The disk whose files lie in a folder."""

    def __init__(self, host: Host, folder: Path) -> None:
        self._host = host
        self._folder = folder

    async def inventory(self) -> Inventory:
        return Inventory(drives=(Drive(target=TARGET, model="Slow", serial="SLOW1"),))

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        return (SETTING,)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        choices = (Choice(value="off", label="off"), Choice(value="on", label="on"))
        return {"wce": Reading(now=await self._host.read(str(self._folder / "value")), choices=choices)}

    async def plan(self, target: Target, key: str, value: str) -> Change:
        before = (await self.read(target))["wce"].now
        return Change(
            target=target,
            key="wce",
            label=SETTING.label,
            before=before,
            after=value,
            writes=(self._step(value),),
            undo=(self._step(before or ""),),
            persistence=SETTING.persistence,
            identity=Identity(name="d0", serial="SLOW1"),
            lock=f"slow-{self._folder}",  # of this test: as root, all locks of the machine lie in one place
        )

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        return await self.plan(target, key, value)

    def _step(self, value: str) -> ChangeStep:
        return ChangeStep(argv=(str(self._folder / "sdparm"), value))

    async def apply(self, change: Change) -> None:
        for step in change.writes:
            command = Command(argv=step.argv, mutates=True)
            done = await self._host.run(command)
            if done.returncode:
                raise ToolFailedError("sdparm failed", evidence=evidence_of(command, done))


def vendor(folder: str) -> Vendor:
    """The vendor of the disk in `folder`."""
    return Vendor(name="slow", backend=lambda host: SlowBackend(host, Path(folder)))
