"""Runs changes, and re-creates virtual drives that a change deleted but did not re-create.

The tool's report on the object decides whether a command succeeded.
"""

from __future__ import annotations

from collections.abc import Sequence

from backends.change import NOT_THERE, Change, ChangeStep
from backends.change_steps import evidence_of, run_steps
from backends.errors import BlockedError, DeviceGoneError, InvalidValueError, RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import State
from backends.reported_words import state_text
from backends.settings import Effect, Persistence, Risk
from backends.text import clean
from backends.vendors.megaraid.addresses import MegaRaidAddress
from backends.vendors.megaraid.dialect import Answer, CardSnapshot, Dialect, NewVolume
from backends.vendors.megaraid.effective import CardView
from backends.vendors.megaraid.facts import GOOD, PhysicalDrive
from backends.vendors.megaraid.geometry import companions_of
from backends.vendors.megaraid.inventory import card_identity
from backends.vendors.megaraid.open_card import OpenCard
from backends.vendors.megaraid.plans import creation

SET_SECONDS = 300.0
"""Seconds after which a change counts as slow. raidbench still waits for it and never kills it."""

MASK = "***"
"""Placeholder for a secret in displayed commands."""


class Runner:
    """Runs changes on one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(self, change: Change, unit: OpenCard, writes: Sequence[ChangeStep], secret: str | None = None) -> str:
        """Run the steps in `writes` in order until one fails.

        Return `reboot` or `controller reset` if the steps take effect only after that, else "".

        Raises ToolFailedError with the tool's message, RefusedError for a program that is not the controller's tool.
        """
        commands = {write: self._command(unit, write, secret) for write in writes}
        pending = ""

        async def take(step: ChangeStep) -> None:
            nonlocal pending
            pending = await self._run_change(unit, commands[step]) or pending

        async with unit.lock:
            unit.changed = True
            await run_steps(change, take, writes=writes, apart="deleted" if change.key == "strip_size" else "")
        return pending

    async def run_making(self, unit: OpenCard, steps: Sequence[ChangeStep]) -> None:
        """Run the steps that create or delete a virtual drive, in order, until one fails.

        Raises RefusedError for a step that does anything else, ToolFailedError with the tool's message.
        """
        commands = [self._command(unit, step, None) for step in steps]
        async with unit.lock:
            unit.dialect.begin_making(unit.number, [command.argv for command in commands])
            unit.changed = True
            try:
                for command in commands:
                    await self._run_change(unit, command)
            finally:
                unit.dialect.begin_making(unit.number, ())

    async def preview(self, unit: OpenCard, commands: Sequence[Command]) -> str:
        """Return, as a sentence, what the tool reports about an activation key that is not applied yet.

        Runs only commands that change nothing. Raises ToolFailedError if the tool refuses the key.
        """
        if any(command.mutates for command in commands):
            return "This tool cannot preview what the key activates."
        messages: list[str] = []
        async with unit.lock:
            for command in commands:
                answer, done = await self._run_command(unit, command)
                if not answer.ok:
                    raise ToolFailedError(
                        f"The tool refuses the activation key: {answer.message.rstrip('.')}.",
                        hint="A key is bound to one controller by its safe id.",
                        evidence=command.mask(done.stdout),
                    )
                messages.append(answer.message)
        text = clean(" ".join(filter(None, messages)), 300)
        return f"The tool reports about the key: {text.rstrip('.')}." if text else "The tool accepts the key."

    async def require_same_number(
        self, change: Change, unit: OpenCard, number: int | None, drives: Sequence[str]
    ) -> None:
        """Read the controller, and raise ToolFailedError unless the virtual drive on `drives` has this number."""
        contents = await unit.read()
        present_number = next(
            (volume.number for volume in contents.volumes if sorted(volume.drives) == sorted(drives)), None
        )
        if present_number == number:
            return
        where = "is missing" if present_number is None else f"has the number {present_number}, not {number}"
        raise ToolFailedError(
            f"{change.target} was deleted and re-created, but {where}.", hint="Scan the devices again."
        )

    def _command(self, unit: OpenCard, write: ChangeStep, secret: str | None) -> Command:
        """Return the step as a command.

        Its program must be the controller's tool: a step may come from a journal, which is not trusted.

        Raises RefusedError for another program, and if a masked secret is missing.
        """
        if not write.argv or write.argv[0] != unit.dialect.tool:
            named = clean(write.argv[0]) if write.argv else "a file"
            raise RefusedError(f"Refusing to run {named}: it is not the tool of this controller.")
        if not any(MASK in word for word in write.argv):
            return Command(argv=write.argv, timeout=SET_SECONDS, mutates=True)
        if secret is None:
            raise RefusedError(
                "The activation key is unknown: raidbench does not store it.", hint="Give the key again."
            )
        argv = tuple(word.replace(MASK, secret) for word in write.argv)
        hidden = tuple(word for word, shown in zip(argv, write.argv, strict=True) if word != shown)
        return Command(argv=argv, timeout=SET_SECONDS, mutates=True, secret=(*hidden, secret))

    async def _run_change(self, unit: OpenCard, command: Command) -> str:
        """Run a command. Return `reboot` or `controller reset` if it takes effect only after that, else "".

        Raises ToolFailedError if the command fails.
        """
        answer, done = await self._run_command(unit, command)
        if not answer.ok:
            text = command.mask(answer.message) or "it failed and the tool reported no reason"
            raise ToolFailedError(text, evidence=evidence_of(command, done))
        return answer.pending

    async def _run_command(self, unit: OpenCard, command: Command) -> tuple[Answer, Completed]:
        done = await self._host.run(command)
        if (alternative := unit.dialect.retry_command(command, done)) is not None:
            done = await self._host.run(alternative)
        return unit.dialect.judge(command, done), done


_RISK = (
    "A virtual drive is created on these drives, and all data on them is lost. The controller reports that no array "
    "uses them. raidbench cannot read their content."
)


def remake(
    change: Change, address: MegaRaidAddress, contents: CardSnapshot, dialect: Dialect, prefix: str, lock: str
) -> Change:
    """Return the change that re-creates the virtual drive that a strip size change deleted, with the new strip size.

    Raises RefusedError if the virtual drive exists or a drive is not free, DeviceGoneError for a missing drive,
    BlockedError if the journal records too little about the virtual drive.
    """
    number = address.volume
    if change.key != "strip_size" or number is None or contents.volume(number) is not None:
        raise RefusedError(f"{change.target} exists, so it is not re-created.")
    places = places_of(contents, change.members)
    companions = change.companions
    try:
        new = NewVolume(
            level=companions.get("level", ""),
            drives=places,
            drives_per_span=int(companions["drives_per_span"])
            if companions.get("drives_per_span", "").isdecimal()
            else None,
            strip_bytes=int(change.after),
            write_cache=companions.get("write_cache", ""),
            read_ahead=companions.get("read_ahead", ""),
            io_policy=companions.get("io_policy", ""),
            drive_cache=companions.get("drive_cache"),
            name=companions.get("name"),
        )
        writes = creation(CardView(contents=contents, dialect=dialect), number, new)
    except (InvalidValueError, ValueError) as error:
        text = error.message if isinstance(error, InvalidValueError) else f"its strip size was {clean(change.after)}"
        raise BlockedError(f"{change.target} cannot be re-created by raidbench: {text.rstrip('.')}.") from error
    return Change(
        target=change.target,
        key=change.key,
        label=change.label,
        before=NOT_THERE,
        after=change.after,
        writes=writes,
        undo=(),
        companions=companions_of(new),
        risk=Risk.DESTROYS_DATA,
        risk_text=_RISK,
        effect=Effect.RECREATED,
        persistence=Persistence.STORED,
        identity=card_identity(prefix, contents.card),
        lock=lock,
        members=change.members,
        unit=change.unit,
    )


def places_of(contents: CardSnapshot, serials: Sequence[str]) -> tuple[str, ...]:
    """Return the enclosures and slots of the drives with these serial numbers, which all have to be free.

    Raises RefusedError if a drive is not free, DeviceGoneError if one is missing, BlockedError if `serials` is empty.
    """
    if not serials or len(set(serials)) != len(serials):
        raise BlockedError(
            "The virtual drive cannot be re-created: the journal does not list its drives.",
            hint="Re-create it manually with the controller's tool.",
        )
    return tuple(_free(contents, serial).place for serial in serials)


def _free(contents: CardSnapshot, serial: str) -> PhysicalDrive:
    drives = [drive for drive in contents.drives if drive.serial == serial]
    if not drives:
        raise DeviceGoneError(
            f"The drive {clean(serial)} is not on the controller.",
            hint="Reinsert the drive, then scan the devices again.",
        )
    if len(drives) > 1:
        raise RefusedError(f"Several drives have the serial number {clean(serial)}.")
    drive = drives[0]
    used = [volume.number for volume in contents.volumes if drive.place in volume.drives]
    unused = drive.group is None and not drive.volumes and not used and not drive.foreign and not drive.jobs
    if not unused or drive.state is not State.UNASSIGNED or not GOOD.fullmatch(drive.state_raw):
        text = "foreign" if drive.foreign else state_text(drive.state, drive.state_raw)
        raise RefusedError(f"The drive {clean(serial)} at {drive.place} is not free: it is {text}.")
    return drive
