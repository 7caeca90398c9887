"""Backend for 3ware controllers: inventory, settings of units, and creation of units."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from backends.array_planning import ArrayMatch, ArrayPlan, ArrayRequest, Candidate, CreatedArray
from backends.change import ChangeStep
from backends.change_steps import denial_of, evidence_of, gone_error, lock_of, not_found_error, require_still_free
from backends.errors import InvalidValueError, RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.settings import Choice, Reading, Risk, Setting, available_unless, offer
from backends.settings_backend import Settable
from backends.subject import refused_text
from backends.system.caching import uncached
from backends.text import clean
from backends.tool_output import deduplicate, manual_run_hint, truncation_problem
from backends.tool_output import first_lines_text as first_lines
from backends.topology import scan_topology
from backends.topology.device_identity import identity
from backends.values import dataclass
from backends.vendors._read_only import only_card, program_of, read_output, record_output
from backends.vendors.threeware import CARDS, PLACES, POLICIES, WHOLE
from backends.vendors.threeware.creation import (
    candidates,
    card_lock,
    existing_volume_ids,
    find_made,
    is_creation_step,
    plan_array,
    reply_to,
)
from backends.vendors.threeware.inventory import (
    CARD,
    NAME,
    UNIT,
    ThreewareCard,
    inventory,
    missing_rows,
    node_of,
    place_of,
)
from backends.vendors.threeware.settings import (
    CHOICES,
    QUIET,
    TOOL_WORDS,
    UNIT_SETTINGS,
    WORDS,
    WRITE_CACHE,
    Row,
    UnitDetails,
    parse_unit_details,
    policy,
    port_serial,
    repeated_names_reason,
    rows,
    values,
)

_UNITS, _PORTS, _BATTERIES = ("Unit", "UnitType", "Status"), ("Status", "Unit", "Size"), ("Name", "BBUReady")
"""Columns by which the tables of units, drives and batteries in tw_cli's output are recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnitView:
    """State of a unit at one moment."""

    program: str
    card: ThreewareCard
    row: Row
    identity: Identity
    lock: str
    frozen: str | None
    policies: Mapping[str, str]
    """Output of `show` for each setting that none of the tables contains, by key."""


class Threeware(Settable[_UnitView]):
    """The 3ware controllers of one host."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._seen: tuple[ThreewareCard, ...] | None = None

    async def inventory(self) -> Inventory:
        """Return all controllers that tw_cli reports, with units and drives."""
        program = program_of(self._host, PLACES, NAME, "tw_cli")
        if not isinstance(program, str):
            return program
        cards, problems = await self._cards(program)
        self._seen = cards = tuple([await self._with_serials(program, card) for card in cards])
        picture, merged = await scan_topology(self._host), Inventory(problems=problems)
        for card in cards:
            merged = merged.merge(inventory(card, picture))
        return replace(merged, problems=deduplicate(merged.problems))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings of a unit."""
        return UNIT_SETTINGS if target.backend == NAME and UNIT.fullmatch(target.address) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return all readings of a unit. Raises NotFoundError, DeviceGoneError."""
        if target.backend == NAME and target.scope != "array" and not self.settings(target):
            return {}
        return await super().read(target)

    async def readings_of(self, view: _UnitView) -> Mapping[str, Reading]:
        """Return the readings of a unit, with the allowed values."""
        fields = values(view.row.get("Cache", ""), view.row.get("AVrfy", view.row.get("AVerify", "")))
        fields |= {key: policy(key, text, view.identity.name) for key, text in view.policies.items()}
        return {setting.key: _reading(view, setting.key, fields[setting.key]) for setting in UNIT_SETTINGS}

    def identity_of(self, view: _UnitView, key: str) -> Identity:
        """Return the identity of a unit: its number, the controller's model, the serial number of the kernel disk."""
        return view.identity

    async def lock_for(self, view: _UnitView, key: str) -> str:
        """Return the lock of the unit's kernel disk, or of the controller if there is no such disk."""
        return view.lock

    def steps(
        self, view: _UnitView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """Return the step that sets a value. For settings in `QUIET`, the option `quiet` suppresses tw_cli's prompt."""
        if key not in WORDS:
            return ()
        arguments = (view.identity.name, "set", f"{WORDS[key]}={TOOL_WORDS.get(value, value)}")
        return (ChangeStep(argv=(view.program, *arguments, *(("quiet",) if key in QUIET else ()))),)

    def refusal(self, done: Completed) -> str:
        """Return why a value was not set, as the tool reports it; "" if the tool reports success."""
        text = f"{done.stdout}\n{done.stderr}"
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        failures = [line for line in lines if "Failed" in line or line.startswith(("Error", "(0x"))]
        failed = " ".join(failures[:2] if failures[1:2] and failures[1].startswith("(0x") else failures[:1])
        if done.returncode == 0 and not failed:
            return ""
        return clean(failed or (lines[-1] if lines else f"it exited with status {done.returncode}"), 300)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return (): the backend `hba` reports a controller whose tool is missing."""
        return ()

    async def candidates(self) -> tuple[Candidate, ...]:
        """Return all drives from the last inventory, with the reasons against each."""
        if self._seen is None:
            await self.inventory()
        return tuple(candidate for card in self._seen or () for candidate in candidates(card))

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """Return the plan with tw_cli's commands.

        The controller is read again: a drive may have become a spare meanwhile.
        """
        if assume_clean:
            raise InvalidValueError(
                "--assume-clean is not supported: a RAID controller always initialises parity.",
                hint="This is supported only for md.",
            )
        program, card, units, _ = await self._read_for_creation(controller)
        require_still_free(request, candidates(card))
        planned = plan_array(request, card, program)
        return replace(planned, before=existing_volume_ids(card, units), locks=(card_lock(card),))

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """Search for a created unit by the serial numbers of its drives.

        Another unit with the same name never matches.
        """
        with uncached():
            program, card, units, cards = await self._read_for_creation(array.controller)
            picture = await scan_topology(self._host)
        return find_made(array, card, units, picture, program=program, cards=cards)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """Run steps with tw_cli. Its prompt before a deletion is confirmed only if the prompt names the unit."""
        program, name = self._program_and_name(controller)
        for step in steps:
            if not is_creation_step(name, program, step.argv):
                text = clean(step.shown(), 200)
                raise RefusedError(
                    f"Refusing to run a step that neither creates nor deletes a unit of this controller: {text}"
                )
        for step in steps:
            command = Command(argv=step.argv, mutates=True, reply=reply_to(step.argv))
            done = await self._host.run(command)
            evidence = evidence_of(command, done)
            if refused := self.refusal(done):
                raise ToolFailedError(f"tw_cli reports: {refused.rstrip('.')}.", evidence=evidence)
            if "Done." not in done.stdout:
                asked = f"{first_line.rstrip('.')}." if (first_line := first_lines(done.stdout)) else "nothing."
                raise ToolFailedError(
                    f"tw_cli did not confirm the change, but reported: {asked}",
                    hint="raidbench does not answer an unexpected question of the tool. Run the command manually: "
                    f"{step.shown()}",
                    evidence=evidence,
                )

    def _program_and_name(self, controller: Target | None) -> tuple[str, str]:
        """Return the program and the name of the controller. Raises InvalidValueError, NotFoundError."""
        if controller is None:
            raise InvalidValueError("The controller for the array is missing.")
        card_match, program = CARD.fullmatch(controller.address), self._host.which(PLACES)
        if controller.backend != NAME or card_match is None or program is None:
            raise not_found_error(controller)
        return program, card_match[1]

    async def _read_for_creation(
        self, controller: Target | None
    ) -> tuple[str, ThreewareCard, Mapping[str, UnitDetails], int]:
        """Return the program, the controller with drive serial numbers, its unit details and the number of controllers.

        Raises InvalidValueError, NotFoundError, DeviceGoneError, ToolFailedError.
        """
        program, name = self._program_and_name(controller)
        assert controller is not None
        cards, problems = await self._cards(program)
        card = next((card for card in cards if card.name == name), None)
        if card is None:
            raise ToolFailedError(problems[0].message, hint=problems[0].hint) if problems else gone_error(controller)
        card = await self._with_serials(program, card)
        numbers = [row["Unit"] for row in card.units]
        pairs = await asyncio.gather(*(self._unit(program, card, unit) for unit in numbers))
        units = {unit: unit_details for unit, (unit_details, _) in zip(numbers, pairs, strict=True)}
        short = {unit: problem for unit, (_, problem) in zip(numbers, pairs, strict=True) if problem is not None}
        present = max(len(cards), len(await self._host.list(CARDS)))
        return program, replace(card, cut={**card.cut, **short}), units, present

    async def _unit(self, program: str, card: ThreewareCard, unit: str) -> tuple[UnitDetails, Problem | None]:
        """Return the details of a unit, and a problem if they are incomplete."""
        command = _show(program, f"/{card.name}/{unit}", "all")
        tool_output = await read_output(self._host, WHOLE, f"{NAME}:/{card.name}/{unit}", *command.argv)
        ports = [place_of(port) for port in card.ports if port["Unit"] == unit]
        unit_details = parse_unit_details(tool_output.text, f"/{card.name}/{unit}", ports)
        where = f"{NAME}:/{card.name}/{unit}"
        short = truncation_problem(where, command, unit_details.lost) if unit_details.lost else None
        return unit_details, tool_output.problem or short

    async def _with_serials(self, program: str, card: ThreewareCard) -> ThreewareCard:
        """Return the controller with the serial number of each drive.

        A serial number that is not in the table of drives is queried.
        """
        silent = [port for port in card.ports if port["Status"] != "NOT-PRESENT" and "Serial" not in port]
        pairs = await asyncio.gather(*(self._serial(program, card, port) for port in silent))
        serials = {place_of(port): serial for port, (serial, _) in zip(silent, pairs, strict=True)}
        short = {place_of(port): problem for port, (_, problem) in zip(silent, pairs, strict=True) if problem}
        ports = tuple({**port, "Serial": serials.get(place_of(port), port.get("Serial", ""))} for port in card.ports)
        return replace(card, ports=ports, cut={**card.cut, **short})

    async def _serial(self, program: str, card: ThreewareCard, port: Row) -> tuple[str, Problem | None]:
        """Return the serial number of a drive and a problem if the output is incomplete.

        A broken drive may have none.
        """
        where = f"/{card.name}/{place_of(port)}"
        command = _show(program, where, "serial")
        tool_output = await read_output(self._host, WHOLE, f"{NAME}:{where}", *command.argv)
        serial = port_serial(tool_output.text, where)
        missing = serial is None and port["Status"] == "OK"
        short = truncation_problem(f"{NAME}:{where}", command, "its serial number is missing") if missing else None
        return serial or "", tool_output.problem or short

    async def _cards(self, program: str) -> tuple[tuple[ThreewareCard, ...], tuple[Problem, ...]]:
        """Return all controllers that tw_cli reports, and a problem if the list may be incomplete."""
        tool_output = await read_output(self._host, WHOLE, NAME, program, "info")
        card_rows, present = rows(tool_output.text, "Ctl", "Model"), len(await self._host.list(CARDS))
        problem = tool_output.problem
        if problem is None and len(card_rows) < present:
            why = f"the kernel has {present} controllers, tw_cli lists {len(card_rows)}"
            problem = truncation_problem(NAME, Command(argv=(program, "info")), why)
        pci = await only_card(self._host, CARDS) if len(card_rows) == 1 else None
        cards = tuple([await self._card(program, row, pci) for row in card_rows])
        return cards, () if problem is None else (problem,)

    async def _card(self, program: str, row: Row, pci: str | None) -> ThreewareCard:
        name = row["Ctl"]
        questions = ("unitstatus", "drivestatus", *(("bbustatus",) if row.get("BBU", "-") != "-" else ()))
        asked = [
            read_output(self._host, WHOLE, f"{NAME}:/{name}", program, "info", name, question) for question in questions
        ]
        fields = dict(zip(questions, await asyncio.gather(*asked), strict=True))
        text = {question: tool_output.text for question, tool_output in fields.items()}
        battery = rows(text.get("bbustatus", ""), *_BATTERIES)
        card = ThreewareCard(
            row=row,
            units=rows(text["unitstatus"], *_UNITS),
            ports=rows(text["drivestatus"], *_PORTS),
            battery=battery[0] if battery else None,
            pci=pci,
        )
        short = {
            question: truncation_problem(f"{NAME}:/{name}", Command(argv=(program, "info", name, question)), why)
            for question, why in missing_rows(card).items()
        }
        columns = {"unitstatus": _UNITS, "drivestatus": _PORTS, "bbustatus": _BATTERIES}
        for question in questions:
            if why := repeated_names_reason(text[question], *columns[question]):
                command = Command(argv=(program, "info", name, question))
                short[question] = Problem(
                    where=f"{NAME}:/{name}", message=refused_text(command, why), hint=manual_run_hint(command)
                )
        cut = {question: problem for question, output in fields.items() if (problem := output.problem) is not None}
        return replace(card, cut=short | cut)

    async def read_state(self, target: Target, *, back: bool = False) -> _UnitView:
        """Return the current state of a unit. Raises NotFoundError, DeviceGoneError.

        `back`: the state is read for an undo, which incomplete output about drives or battery does not prevent.
        """
        unit_match, program = UNIT.fullmatch(target.address), self._host.which(PLACES)
        if target.backend != NAME or unit_match is None or program is None:
            raise not_found_error(target)
        cards, problems = await self._cards(program)
        card = next((card for card in cards if card.name == f"c{unit_match[1]}"), None)
        units = card.units if card is not None else ()
        row = next((unit for unit in units if unit["Unit"] == f"u{unit_match[2]}"), None)
        incomplete = (*problems, *(card.cut.values() if card is not None else ()))
        if card is None or row is None:
            raise ToolFailedError(incomplete[0].message, hint=incomplete[0].hint) if incomplete else gone_error(target)
        node = node_of(row, await scan_topology(self._host))
        unit_identity = Identity(
            name=target.address, model=card.row["Model"], serial=None if node is None else identity(node).serial
        )
        lock = card_lock(card) if node is None else await lock_of(self._host, node.name)
        if back:
            incomplete = tuple(problem for word, problem in card.cut.items() if word == "unitstatus")
        frozen = incomplete[0].message.rstrip(".") if incomplete else await denial_of(self._host, program)
        asked = [record_output(self._host, program, target.address, "show", word) for word in POLICIES]
        policies = dict(zip(POLICIES, await asyncio.gather(*asked), strict=True))
        return _UnitView(
            program=program, card=card, row=row, identity=unit_identity, lock=lock, frozen=frozen, policies=policies
        )


def _show(program: str, where: str, subject: str) -> Command:
    return Command(argv=(program, where, "show", subject))


def _reading(view: _UnitView, key: str, now: str | None) -> Reading:
    unsettled = "tw_cli does not report it" if now is None else None
    against = view.frozen
    if key == WRITE_CACHE.key and now == "write-through":
        against = against or _uncached_reason(view)
    if key in POLICIES:
        raw: str | None = clean(view.policies[key].strip().rpartition("=")[2], 40) if now is not None else None
    else:
        raw = view.row.get("AVrfy" if key == "auto_verify" else "Cache")
    return Reading(
        now=now, raw=raw, choices=_choices(view, key), availability=available_unless(None, unsettled, against)
    )


def _uncached_reason(view: _UnitView) -> str | None:
    """Return why the controller would not turn on the write cache, or None."""
    if view.card.uncached_reason:
        return view.card.uncached_reason
    if view.row["Status"] == "DEGRADED" and policy("storsave", view.policies["storsave"]) == "protect":
        return "the unit is degraded, and with StorSave `protect` the controller does not cache writes then"
    return None


def _choices(view: _UnitView, key: str) -> tuple[Choice, ...]:
    if key == WRITE_CACHE.key:
        risk = Risk.NONE if view.card.is_protected else Risk.POWER_LOSS
        return (
            offer("write-back", "A write is acknowledged when the controller has it.", risk=risk),
            offer("write-through", "A write is acknowledged when the drives have it."),
        )
    risky = {"perform": Risk.POWER_LOSS}
    return tuple(offer(name, risk=risky.get(name, Risk.NONE)) for name in CHOICES[key])
