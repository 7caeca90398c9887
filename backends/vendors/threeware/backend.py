"""The backend of 3ware cards: inventory, and the settings of a unit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from backends.change import Change, Write
from backends.changing import (
    denial_of,
    gone,
    lock_of,
    not_found,
    require_own,
    require_same,
    run_step,
    setting_of,
    take_steps,
    wanted,
)
from backends.host import Completed, Host
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.settings import Availability, Choice, Reading, Risk, Setting
from backends.text import clean
from backends.topology import look
from backends.topology.naming import identity
from backends.values import dataclass
from backends.vendors._listed import only_card, program_of, said
from backends.vendors.threeware import CARDS
from backends.vendors.threeware.inventory import NAME, UNIT, ThreewareCard, inventory, node_of
from backends.vendors.threeware.presence import PLACES, UNRECORDED
from backends.vendors.threeware.settings import READ_CACHE, SAID, UNIT_SETTINGS, WORDS, WRITE_CACHE, values
from backends.vendors.threeware.tables import Row, rows

SET_SECONDS = 120.0
"""After this a change is slow; it is waited for, and never killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnitView:
    """A unit at one moment."""

    program: str
    card: ThreewareCard
    row: Row
    identity: Identity
    lock: str
    frozen: str | None


class Threeware:
    """The 3ware cards of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def inventory(self) -> Inventory:
        """Every card that tw_cli sees, with units and drives."""
        program = program_of(self._host, PLACES, NAME, "tw_cli")
        if not isinstance(program, str):
            return program
        picture, found = await look(self._host), Inventory()
        for card in await self._cards(program):
            found = found.merge(inventory(card, picture))
        return found

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of a unit."""
        return UNIT_SETTINGS if target.backend == NAME and UNIT.fullmatch(target.address) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting of a unit now. Raises NotFoundError, DeviceGoneError."""
        if target.backend == NAME and target.scope != "array" and not self.settings(target):
            return {}
        return _readings(await self._view(target))

    async def ask_legal_values(self, target: Target) -> int:
        """The policies of a unit that nothing else tells, so that a recording has the answers."""
        program = self._host.which(PLACES)
        if program is None or not self.settings(target):
            return 0
        for word in UNRECORDED:
            await said(self._host, program, target.address, "show", word)
        return len(UNRECORDED)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """The command that sets `key` to `value`, and the one that brings the present value back."""
        setting = setting_of(self.settings(target), target, key)
        view = await self._view(target)
        wish = wanted(target, setting, _readings(view)[key], value)
        back = (_step(view.program, target, key, wish.now.now or ""),)
        return wish.change((_step(view.program, target, key, wish.value),), back, view.identity, view.lock)

    async def apply(self, change: Change) -> None:
        """Run the command, if the unit is the one that was planned for; none where the value is there already."""
        view = await self._view(change.target)
        require_same(change, view.identity)
        known = change.key in WORDS
        require_own(change, (_step(view.program, change.target, change.key, change.after),) if known else ())
        if _readings(view)[change.key].now == change.after:
            return
        await take_steps(change, lambda step: run_step(self._host, step, SET_SECONDS, _refusal))

    async def diagnose(self) -> tuple[Problem, ...]:
        """Nothing of its own: of a card without its tool the bus tells."""
        return ()

    async def _cards(self, program: str) -> tuple[ThreewareCard, ...]:
        found = rows(await said(self._host, program, "info"), "Ctl", "Model")
        pci = await only_card(self._host, CARDS) if len(found) == 1 else None
        return tuple([await self._card(program, row, pci) for row in found])

    async def _card(self, program: str, row: Row, pci: str | None) -> ThreewareCard:
        name = row["Ctl"]
        words = ("unitstatus", "drivestatus", *(("bbustatus",) if row.get("BBU", "-") != "-" else ()))
        told = await asyncio.gather(*(said(self._host, program, "info", name, word) for word in words))
        battery = rows(told[2], "Name", "BBUReady") if len(told) > 2 else ()
        return ThreewareCard(
            row=row,
            units=rows(told[0], "Unit", "UnitType", "Status"),
            ports=rows(told[1], "Status", "Unit", "Size"),
            battery=battery[0] if battery else None,
            pci=pci,
        )

    async def _view(self, target: Target) -> _UnitView:
        """What a unit is now. Raises NotFoundError, DeviceGoneError."""
        place, program = UNIT.fullmatch(target.address), self._host.which(PLACES)
        if target.backend != NAME or place is None or program is None:
            raise not_found(target)
        card = next((one for one in await self._cards(program) if one.name == f"c{place[1]}"), None)
        row = next((one for one in card.units if one["Unit"] == f"u{place[2]}"), None) if card is not None else None
        if card is None or row is None:
            raise gone(target)
        node = node_of(row, await look(self._host))
        known = Identity(
            name=target.address, model=card.row["Model"], serial=None if node is None else identity(node).serial
        )
        lock = f"{NAME}-{card.name}" if node is None else await lock_of(self._host, node.name)
        frozen = await denial_of(self._host, program)
        return _UnitView(program=program, card=card, row=row, identity=known, lock=lock, frozen=frozen)


def _readings(view: _UnitView) -> Mapping[str, Reading]:
    told = values(view.row.get("Cache", ""), view.row.get("AVrfy", view.row.get("AVerify", "")))
    return {setting.key: _reading(view, setting.key, told[setting.key]) for setting in UNIT_SETTINGS}


def _reading(view: _UnitView, key: str, now: str | None) -> Reading:
    why_not = "tw_cli does not tell of it" if now is None else view.frozen
    battery = view.card.row.get("BBU", "-")
    if key == WRITE_CACHE.key and now == "write-through" and battery != "-" and not view.card.protected:
        why_not = why_not or f"the battery is {battery}: the card does not cache writes before it is ready"
    column = "AVrfy" if key == "auto_verify" else "Cache"
    return Reading(
        now=now, raw=view.row.get(column), choices=_choices(view, key), availability=Availability(why_not=why_not)
    )


def _choices(view: _UnitView, key: str) -> tuple[Choice, ...]:
    if key == WRITE_CACHE.key:
        risk = Risk.NONE if view.card.protected else Risk.POWER_LOSS
        return (
            Choice(value="write-back", label="write-back", help="Reported done when it is in the card.", risk=risk),
            Choice(value="write-through", label="write-through", help="Reported done when it is on the drives."),
        )
    several = ("off", "basic", "intelligent") if key == READ_CACHE.key else ("on", "off")
    return tuple(Choice(value=one, label=one) for one in several)


def _step(program: str, target: Target, key: str, value: str) -> Write:
    """`quiet`: it asks nothing, and answers nothing that it would have asked."""
    return Write(argv=(program, target.address, "set", f"{WORDS[key]}={SAID.get(value, value)}", "quiet"))


def _refusal(done: Completed) -> str:
    """Why it was not set, in the tool's words; "" if it was, as far as it says."""
    text = f"{done.stdout}\n{done.stderr}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    failed = next((line for line in lines if "Failed" in line or line.startswith(("Error", "(0x"))), "")
    if done.returncode == 0 and not failed:
        return ""
    return clean(failed or (lines[-1] if lines else f"it ended with exit status {done.returncode}"), 300)
