"""The backend of 3ware cards: inventory, and the settings of a unit."""

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
from backends.tool_output import deduplicated, manual_run_hint, truncation_problem
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
    makes,
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
    SAID,
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
"""Columns of the three tables of a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnitView:
    """A unit at one moment."""

    program: str
    card: ThreewareCard
    row: Row
    identity: Identity
    lock: str
    frozen: str | None
    policies: Mapping[str, str]
    """What `show` answers, by the settings that no table tells."""


class Threeware(Settable[_UnitView]):
    """The 3ware cards of one host."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._seen: tuple[ThreewareCard, ...] | None = None

    async def inventory(self) -> Inventory:
        """Every card that tw_cli sees, with units and drives."""
        program = program_of(self._host, PLACES, NAME, "tw_cli")
        if not isinstance(program, str):
            return program
        cards, problems = await self._cards(program)
        self._seen = cards = tuple([await self._with_serials(program, card) for card in cards])
        picture, merged = await scan_topology(self._host), Inventory(problems=problems)
        for card in cards:
            merged = merged.merge(inventory(card, picture))
        return replace(merged, problems=deduplicated(merged.problems))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Those of a unit."""
        return UNIT_SETTINGS if target.backend == NAME and UNIT.fullmatch(target.address) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting of a unit now. Raises NotFoundError, DeviceGoneError."""
        if target.backend == NAME and target.scope != "array" and not self.settings(target):
            return {}
        return await super().read(target)

    async def readings_of(self, view: _UnitView) -> Mapping[str, Reading]:
        """What the card tells of a unit, and what may be set."""
        fields = values(view.row.get("Cache", ""), view.row.get("AVrfy", view.row.get("AVerify", "")))
        fields |= {key: policy(key, text, view.identity.name) for key, text in view.policies.items()}
        return {setting.key: _reading(view, setting.key, fields[setting.key]) for setting in UNIT_SETTINGS}

    def identity_of(self, view: _UnitView, key: str) -> Identity:
        """A unit by its number, with the card's model and the serial number of its disk."""
        return view.identity

    async def lock_for(self, view: _UnitView, key: str) -> str:
        """That of the disk which the unit is; of the card where there is none."""
        return view.lock

    def steps(
        self, view: _UnitView, key: str, value: str, companions: Mapping[str, str] | None
    ) -> tuple[ChangeStep, ...]:
        """`quiet`, where it knows that: it asks nothing, and answers nothing that it would have asked."""
        if key not in WORDS:
            return ()
        arguments = (view.identity.name, "set", f"{WORDS[key]}={SAID.get(value, value)}")
        return (ChangeStep(argv=(view.program, *arguments, *(("quiet",) if key in QUIET else ()))),)

    def refusal(self, done: Completed) -> str:
        """Why it was not set, in the tool's words; "" if it was, as far as it says."""
        text = f"{done.stdout}\n{done.stderr}"
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        failures = [line for line in lines if "Failed" in line or line.startswith(("Error", "(0x"))]
        failed = " ".join(failures[:2] if failures[1:2] and failures[1].startswith("(0x") else failures[:1])
        if done.returncode == 0 and not failed:
            return ""
        return clean(failed or (lines[-1] if lines else f"it ended with exit status {done.returncode}"), 300)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Nothing of its own: of a card without its tool the bus tells."""
        return ()

    async def candidates(self) -> tuple[Candidate, ...]:
        """Every drive of the cards, with what each says against it, as it was listed last."""
        if self._seen is None:
            await self.inventory()
        return tuple(candidate for card in self._seen or () for candidate in candidates(card))

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """The line of tw_cli for it. The card is asked anew: a drive may have become a spare meanwhile."""
        if assume_clean:
            raise InvalidValueError("A card is not told that its parity is right.", hint="That is for md alone.")
        program, card, units, _ = await self._making(controller)
        require_still_free(request, candidates(card))
        planned = plan_array(request, card, program)
        return replace(planned, before=existing_volume_ids(card, units), locks=(card_lock(card),))

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """By the serial numbers of its drives behind its card; another unit of its name is never taken for it."""
        with uncached():
            program, card, units, cards = await self._making(array.controller)
            picture = await scan_topology(self._host)
        return find_made(array, card, units, picture, program=program, cards=cards)

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """tw_cli, step by step. It asks before it deletes: that is answered where it asks of this very unit."""
        program, name = self._maker(controller)
        for step in steps:
            if not makes(name, program, step.argv):
                text = clean(step.shown(), 200)
                raise RefusedError(f"A step neither makes nor deletes a unit of this card: {text}")
        for step in steps:
            command = Command(argv=step.argv, mutates=True, reply=reply_to(step.argv))
            done = await self._host.run(command)
            evidence = evidence_of(command, done)
            if refused := self.refusal(done):
                raise ToolFailedError(f"tw_cli said: {refused.rstrip('.')}.", evidence=evidence)
            if "Done." not in done.stdout:
                asked = f"{first_line.rstrip('.')}." if (first_line := first_lines(done.stdout)) else "nothing."
                raise ToolFailedError(
                    f"tw_cli does not say that it is done, but: {asked}",
                    hint=f"A question in other words than the usual is not answered. By hand: {step.shown()}",
                    evidence=evidence,
                )

    def _maker(self, controller: Target | None) -> tuple[str, str]:
        """The program, and the card by its name. Raises InvalidValueError, NotFoundError."""
        if controller is None:
            raise InvalidValueError("It is not said which card makes it.")
        card_match, program = CARD.fullmatch(controller.address), self._host.which(PLACES)
        if controller.backend != NAME or card_match is None or program is None:
            raise not_found_error(controller)
        return program, card_match[1]

    async def _making(self, controller: Target | None) -> tuple[str, ThreewareCard, Mapping[str, UnitDetails], int]:
        """The program, a card with the serial numbers of its drives, what each unit tells of itself, and how many
        cards there are. Raises InvalidValueError, NotFoundError, DeviceGoneError, ToolFailedError."""
        program, name = self._maker(controller)
        assert controller is not None
        cards, half = await self._cards(program)
        card = next((card for card in cards if card.name == name), None)
        if card is None:
            raise ToolFailedError(half[0].message, hint=half[0].hint) if half else gone_error(controller)
        card = await self._with_serials(program, card)
        numbers = [row["Unit"] for row in card.units]
        pairs = await asyncio.gather(*(self._unit(program, card, unit) for unit in numbers))
        units = {unit: unit_details for unit, (unit_details, _) in zip(numbers, pairs, strict=True)}
        short = {unit: problem for unit, (_, problem) in zip(numbers, pairs, strict=True) if problem is not None}
        present = max(len(cards), len(await self._host.list(CARDS)))
        return program, replace(card, cut={**card.cut, **short}), units, present

    async def _unit(self, program: str, card: ThreewareCard, unit: str) -> tuple[UnitDetails, Problem | None]:
        """What a unit tells of itself, and what is told where that is not all."""
        command = _show(program, f"/{card.name}/{unit}", "all")
        tool_output = await read_output(self._host, WHOLE, f"{NAME}:/{card.name}/{unit}", *command.argv)
        ports = [place_of(port) for port in card.ports if port["Unit"] == unit]
        unit_details = parse_unit_details(tool_output.text, f"/{card.name}/{unit}", ports)
        where = f"{NAME}:/{card.name}/{unit}"
        short = truncation_problem(where, command, unit_details.lost) if unit_details.lost else None
        return unit_details, tool_output.problem or short

    async def _with_serials(self, program: str, card: ThreewareCard) -> ThreewareCard:
        """A card with the serial number of each drive, of which newer tables tell none: each is asked alone."""
        silent = [port for port in card.ports if port["Status"] != "NOT-PRESENT" and "Serial" not in port]
        pairs = await asyncio.gather(*(self._serial(program, card, port) for port in silent))
        serials = {place_of(port): serial for port, (serial, _) in zip(silent, pairs, strict=True)}
        short = {place_of(port): problem for port, (_, problem) in zip(silent, pairs, strict=True) if problem}
        ports = tuple({**port, "Serial": serials.get(place_of(port), port.get("Serial", ""))} for port in card.ports)
        return replace(card, ports=ports, cut={**card.cut, **short})

    async def _serial(self, program: str, card: ThreewareCard, port: Row) -> tuple[str, Problem | None]:
        """The serial number of a drive, and what is told where the answer is not all; a broken drive may tell none."""
        where = f"/{card.name}/{place_of(port)}"
        command = _show(program, where, "serial")
        tool_output = await read_output(self._host, WHOLE, f"{NAME}:{where}", *command.argv)
        serial = port_serial(tool_output.text, where)
        missing = serial is None and port["Status"] == "OK"
        short = truncation_problem(f"{NAME}:{where}", command, "its serial number is missing") if missing else None
        return serial or "", tool_output.problem or short

    async def _cards(self, program: str) -> tuple[tuple[ThreewareCard, ...], tuple[Problem, ...]]:
        """Every card that tw_cli tells of, and what is told where these may not be all."""
        tool_output = await read_output(self._host, WHOLE, NAME, program, "info")
        card_rows, present = rows(tool_output.text, "Ctl", "Model"), len(await self._host.list(CARDS))
        problem = tool_output.problem
        if problem is None and len(card_rows) < present:
            why = f"of the kernel's {present} cards it lists {len(card_rows)}"
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

    async def seen(self, target: Target, *, back: bool = False) -> _UnitView:
        """Return a unit as it is now. Raises NotFoundError, DeviceGoneError.

        `back`: for a revert, which a truncated answer about drives or battery does not block.
        """
        unit_match, program = UNIT.fullmatch(target.address), self._host.which(PLACES)
        if target.backend != NAME or unit_match is None or program is None:
            raise not_found_error(target)
        cards, problems = await self._cards(program)
        card = next((card for card in cards if card.name == f"c{unit_match[1]}"), None)
        units = card.units if card is not None else ()
        row = next((unit for unit in units if unit["Unit"] == f"u{unit_match[2]}"), None)
        half = (*problems, *(card.cut.values() if card is not None else ()))
        if card is None or row is None:
            raise ToolFailedError(half[0].message, hint=half[0].hint) if half else gone_error(target)
        node = node_of(row, await scan_topology(self._host))
        unit_identity = Identity(
            name=target.address, model=card.row["Model"], serial=None if node is None else identity(node).serial
        )
        lock = card_lock(card) if node is None else await lock_of(self._host, node.name)
        if back:
            half = tuple(problem for word, problem in card.cut.items() if word == "unitstatus")
        frozen = half[0].message.rstrip(".") if half else await denial_of(self._host, program)
        asked = [record_output(self._host, program, target.address, "show", word) for word in POLICIES]
        policies = dict(zip(POLICIES, await asyncio.gather(*asked), strict=True))
        return _UnitView(
            program=program, card=card, row=row, identity=unit_identity, lock=lock, frozen=frozen, policies=policies
        )


def _show(program: str, where: str, subject: str) -> Command:
    return Command(argv=(program, where, "show", subject))


def _reading(view: _UnitView, key: str, now: str | None) -> Reading:
    unsettled = "tw_cli does not tell of it" if now is None else None
    against = view.frozen
    if key == WRITE_CACHE.key and now == "write-through":
        against = against or _uncached(view)
    if key in POLICIES:
        raw: str | None = clean(view.policies[key].strip().rpartition("=")[2], 40) if now is not None else None
    else:
        raw = view.row.get("AVrfy" if key == "auto_verify" else "Cache")
    return Reading(
        now=now, raw=raw, choices=_choices(view, key), availability=available_unless(None, unsettled, against)
    )


def _uncached(view: _UnitView) -> str | None:
    """Why the card would not turn the write cache on."""
    if view.card.uncached:
        return view.card.uncached
    if view.row["Status"] == "DEGRADED" and policy("storsave", view.policies["storsave"]) == "protect":
        return "the unit is degraded, and with StorSave `protect` the card does not cache writes then"
    return None


def _choices(view: _UnitView, key: str) -> tuple[Choice, ...]:
    if key == WRITE_CACHE.key:
        risk = Risk.NONE if view.card.protected else Risk.POWER_LOSS
        return (
            offer("write-back", "Reported done when it is in the card.", risk=risk),
            offer("write-through", "Reported done when it is on the drives."),
        )
    risky = {"perform": Risk.POWER_LOSS}
    return tuple(offer(name, risk=risky.get(name, Risk.NONE)) for name in CHOICES[key])
