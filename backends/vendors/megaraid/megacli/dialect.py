"""Dialect for MegaCli: runs its commands in order, and builds the state of a controller from their output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from backends.errors import InvalidValueError, RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import State
from backends.subject import refused_text
from backends.text import clean
from backends.vendors._cards import BackgroundOperation
from backends.vendors.megaraid.dialect import Answer, CardSnapshot, NewVolume, with_refusals
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.megacli import commands, verdict
from backends.vendors.megaraid.megacli.adapter import (
    card_numbers,
    parse_adapter,
    parse_announced_counts,
    parse_battery,
    parse_consistency_check,
    parse_count,
    parse_features,
    parse_patrol_read,
    parse_pci,
    reports_battery,
)
from backends.vendors.megaraid.megacli.drives import parse_drives
from backends.vendors.megaraid.megacli.progress import drive_progress, volume_progress
from backends.vendors.megaraid.megacli.reader import READ_SECONDS, MegaCliReader
from backends.vendors.megaraid.megacli.settings import (
    card_commands,
    check_settings,
    ncq_setting,
    patrol_read_settings,
    recreate_commands,
    volume_commands,
)
from backends.vendors.megaraid.megacli.volumes import parse_background, parse_volumes

_JOBS = ("-LDInit", "-LDBI", "-LDCC")
_SETS = ("-LDSetProp",)
_MAKING = (("-CfgLDAdd",), ("-CfgSpanAdd",), _SETS, ("-CfgLdDel",))
"""Options of the commands that raidbench runs to create or delete a virtual drive."""

_TELLS_PROGRESS = 8
"""First major version whose lists contain `Ongoing Progresses`, so that progress needs no separate commands."""


class MegaCli:
    """One MegaCli program on one host. Only `cards`, `read`, `reread` and `locate` run it, one command at a time."""

    names_on_create = False
    """The name is set after the creation, by the number of the virtual drive."""

    def __init__(self, host: Host, tool: str) -> None:
        self.tool = tool
        self._host = host
        self._reader = MegaCliReader(host, tool)
        self._pci: dict[int, str | None] = {}
        self._awaited: dict[int, int] = {}  # expected number of the next virtual drive, by controller

    @property
    def version(self) -> str | None:
        """Return the version (`8.07.14`); None before the first read, or if it is not reported."""
        return self._reader.version

    async def cards(self) -> tuple[int, ...]:
        """Return the numbers of the controllers; MegaCli counts them from 0 without gaps.

        Raises ToolMissingError if the tool is gone, ToolTimeoutError if there is no output in time. Raises
        ToolFailedError if the output is not MegaCli's: the program is storcli under MegaCli's name, or a library is
        missing.
        """
        self._reader.begin()
        await self._reader.read_version()
        counted = await self._reader.run(commands.COUNT)
        cut = self._reader.rejection_reason(commands.COUNT, counted)
        count = None if cut else parse_count(counted.stdout)
        if count is not None:
            return tuple(range(count))
        listed = await self._reader.run(commands.ADAPTERS)
        if cut := self._reader.rejection_reason(commands.ADAPTERS, listed):
            raise ToolFailedError(cut)
        numbers = card_numbers(listed.stdout)
        if not numbers:
            raise self._reader.foreign_answer_error(counted)
        return numbers

    async def read(self, card: int) -> CardSnapshot:
        """Read everything about a controller, with a problem for each unreadable part. Raises as `cards` does."""
        self._reader.begin()
        await self._reader.read_version()
        problems = [self._reader.cut] if self._reader.cut else []
        about = await self._reader.read_adapter(card, problems)
        volume_count, drive_count = parse_announced_counts(about, card)
        volumes = await self._volumes(card, volume_count, problems)
        drives = _with_volumes(
            await self._reader.read_list(commands.on_card(card, commands.DRIVES), parse_drives, card, problems), volumes
        )
        drives = await self._with_rebuild_progress(card, drives, problems)
        _compare("virtual drives", volume_count, len(volumes), problems)
        _compare("drives", drive_count, len(drives), problems)
        volumes = with_refusals(self._line(card, commands.VOLUMES_AND_MEMBERS), volumes, problems)
        drives = with_refusals(self._line(card, commands.DRIVES), drives, problems)
        adapter = await self._with_details(parse_adapter(about, card), problems)
        return CardSnapshot(
            card=adapter, volumes=volumes, drives=drives, problems=_unique((), problems), cut=self._reader.cut
        )

    async def locate(self, card: int) -> str | None:
        """Return the PCI address of a controller. Raises as `cards` does."""
        problems: list[str] = []
        value = parse_pci(await self._reader.text(commands.on_card(card, commands.PCI), "PCI address", problems), card)
        if problems:
            raise ToolFailedError(problems[0])
        return value

    async def reread(self, before: CardSnapshot, volume: int | None, key: str | None = None) -> CardSnapshot:
        """Return `before` with the settings of `volume` (None: of the controller) read again. Raises as `read` does."""
        number = before.card.number
        problems: list[str] = []
        self._reader.begin()
        if volume is None:
            card = await self._with_schedules(
                parse_adapter(await self._reader.read_adapter(number, problems), number), problems
            )
            self._require_complete()
            card = replace(before.card, values=card.values, jobs=(*card.jobs, *_learn_jobs(before.card)))
            return replace(before, card=card, problems=_unique(before.problems, problems))
        listed = await self._reader.run(commands.on_card(number, commands.VOLUMES_AND_MEMBERS))
        self._reader.rejection_reason(commands.on_card(number, commands.VOLUMES_AND_MEMBERS), listed)
        self._require_complete()
        volumes = parse_volumes(listed.stdout, number)
        answered = number in card_numbers(listed.stdout) or "no virtual drive" in listed.stdout.lower()
        if not volumes and not answered:
            raise self._reader.foreign_answer_error(listed)
        current = [volume_record for volume_record in volumes if volume_record.number == volume]
        if current and current[0].refused:
            raise ToolFailedError(refused_text(self._line(number, commands.VOLUMES_AND_MEMBERS), current[0].refused))
        if current:
            starts = parse_background(
                await self._reader.text(commands.on_card(number, commands.BACKGROUND), "-LDBI", problems)
            )
            self._require_complete()
            current = [replace(volume_record, auto_bgi=starts.get(volume)) for volume_record in current]
        unchanged = (volume_record for volume_record in before.volumes if volume_record.number != volume)
        together = tuple(sorted((*unchanged, *current), key=lambda volume_record: volume_record.number))
        drives = _with_volumes(before.drives, together)
        return replace(before, volumes=together, drives=drives, problems=_unique(before.problems, problems))

    def set_volume(self, card: int, volume: int, key: str, value: str) -> tuple[Command, ...]:
        """Return the commands for a virtual drive's setting. Raises InvalidValueError for an unknown value."""
        return self._changes(volume_commands(card, volume, key, value))

    def set_card(self, card: int, key: str, value: str) -> tuple[Command, ...]:
        """Return the commands for a controller's setting. Raises InvalidValueError for an unknown value."""
        return self._changes(card_commands(card, key, value))

    def recreate(self, card: int, volume: int, new: NewVolume) -> tuple[Command, ...]:
        """Return the commands that DESTROY a virtual drive and re-create it; run them in order until one fails.

        Drive cache and name are set afterwards, by number. `judge` therefore reports a failure if the new virtual drive
        got a different number than the deleted one. Raises InvalidValueError for a layout that the tool does not
        support.
        """
        return self._changes(recreate_commands(card, volume, new))

    def delete(self, card: int, volume: int) -> tuple[Command, ...]:
        """Return the command that deletes a virtual drive, DESTROYING its data."""
        return self._changes((commands.delete(card, volume),))

    def begin_making(self, card: int, lines: Sequence[tuple[str, ...]]) -> None:
        """Announce the command lines that will create or delete a virtual drive; call again with () when they have run.

        The command that sets the name addresses the new virtual drive by its expected number, so `judge` checks that
        number. Raises RefusedError for a command that neither creates nor deletes a virtual drive.
        """
        for line in lines:
            if line[1:2] not in _MAKING or verdict.number(line, "-a") != card:
                raise RefusedError(
                    f"Refusing to run {clean(' '.join(line), 200)}: it neither creates nor deletes a virtual drive."
                )
        self._awaited.pop(card, None)
        named = [verdict.number(line, "-L") for line in lines if line[1:2] == _SETS]
        if named and named[0] is not None:
            self._awaited[card] = named[0]

    def apply_key(self, card: int, key: str, *, preview: bool) -> tuple[Command, ...]:
        """Return the commands that apply an activation key; the key is in `Command.secret`.

        A preview counts as a change too, because some versions may not understand `-preview`. Raises InvalidValueError
        for a value that cannot be a key.
        """
        if not key.isascii() or not key.isprintable() or not key.strip() or key.startswith("-") or " " in key:
            raise InvalidValueError("An activation key is one word of printable ASCII characters.")
        argument_lists = commands.apply_key(card, key, preview=preview)
        return (Command(argv=(self.tool, *argument_lists), timeout=READ_SECONDS, mutates=True, secret=(key,)),)

    def judge(self, command: Command, done: Completed) -> Answer:
        """Return whether a change succeeded, by the tool's report (see `verdict.judge`).

        Remembers the number of a deleted virtual drive, because the next one created on that controller must get that
        number.
        """
        answer = verdict.judge(command, done)
        card = verdict.number(command.argv, "-a")
        if not answer.ok or card is None:
            return answer
        if (gone := verdict.deleted_target_id(done.stdout)) is not None:
            self._awaited[card] = gone
        created_number = verdict.created_number(done.stdout)
        wanted = self._awaited.pop(card, None) if created_number is not None else None
        if wanted is not None and created_number != wanted:
            message = (
                f"It was created as virtual drive {created_number}, not {wanted}. No further settings were changed."
            )
            return Answer(ok=False, message=message, pending=answer.pending)
        return answer

    def retry_command(self, command: Command, done: Completed) -> None:
        """Return None: every version understands all commands that raidbench runs."""

    def flatten(self, commands: Sequence[Command]) -> tuple[tuple[str, ...], ...]:
        """Return the argument list of each command, with secrets masked."""
        return tuple(tuple("***" if word in command.secret else word for word in command.argv) for command in commands)

    def _line(self, card: int, arguments: tuple[str, ...]) -> str:
        return Command(argv=(self.tool, *commands.on_card(card, arguments))).shown()

    def _require_complete(self) -> None:
        """Raise ToolFailedError if output of this scan was truncated, so that the caller keeps the cached state."""
        if self._reader.cut:
            raise ToolFailedError(self._reader.cut)

    async def _volumes(self, card: int, promised: int | None, problems: list[str]) -> tuple[VirtualDrive, ...]:
        volumes = await self._reader.read_list(
            commands.on_card(card, commands.VOLUMES_AND_MEMBERS), parse_volumes, card, problems
        )
        if len(volumes) < (promised or 0):
            plain = await self._reader.read_list(
                commands.on_card(card, commands.VOLUMES), parse_volumes, card, problems
            )
            listed = {volume.number for volume in volumes}
            volumes += tuple(volume for volume in plain if volume.number not in listed)
        if not volumes:
            return ()
        starts = parse_background(
            await self._reader.text(commands.on_card(card, commands.BACKGROUND), "background setting", problems)
        )
        jobs = await self._jobs(card, problems)
        return tuple(
            replace(
                volume, auto_bgi=starts.get(volume.number), jobs=_merge_jobs(volume.jobs, jobs.get(volume.number, ()))
            )
            for volume in volumes
        )

    async def _jobs(self, card: int, problems: list[str]) -> Mapping[int, tuple[BackgroundOperation, ...]]:
        major = int(self._reader.version.partition(".")[0]) if self._reader.version else 0
        by_volume: dict[int, tuple[BackgroundOperation, ...]] = {}
        for job in _JOBS if major < _TELLS_PROGRESS else ():
            text = await self._reader.text(commands.progress(card, job), f"progress of {job}", problems)
            for number, operation in volume_progress(text).items():
                by_volume[number] = (*by_volume.get(number, ()), operation)
        return by_volume

    async def _with_rebuild_progress(
        self, card: int, drives: tuple[PhysicalDrive, ...], problems: list[str]
    ) -> tuple[PhysicalDrive, ...]:
        places = [drive.place for drive in drives if drive.state is State.REBUILDING and not drive.jobs]
        if not places:
            return drives
        jobs = drive_progress(
            await self._reader.text(commands.rebuild_progress(card, places), "rebuild progress", problems)
        )
        return tuple(
            replace(drive, jobs=(*drive.jobs, jobs[drive.place])) if drive.place in jobs else drive for drive in drives
        )

    async def _with_details(self, card: Card, problems: list[str]) -> Card:
        """Return the controller with the values that commands other than -AdpAllInfo report."""
        number = card.number
        address = self._pci.get(number)
        if address is None:
            address = parse_pci(
                await self._reader.text(commands.on_card(number, commands.PCI), "PCI address", problems), number
            )
            self._pci[number] = address
        backup = None
        backup_known = card.backup_known
        if not backup_known:
            battery = await self._reader.text(commands.on_card(number, commands.BATTERY), "battery", problems)
            backup, backup_known = parse_battery(battery), reports_battery(battery)
        options, safe_id = parse_features(
            await self._reader.text(commands.on_card(number, commands.FEATURES), "features", problems)
        )
        card = await self._with_schedules(card, problems)
        card = replace(card, pci=address, backup=backup, backup_known=backup_known, options=options, safe_id=safe_id)
        host_number = await self._host_number(address) if address else None
        return replace(card, host_number=host_number, jobs=(*card.jobs, *_learn_jobs(card)))

    async def _with_schedules(self, card: Card, problems: list[str]) -> Card:
        """Return the controller with running operations and the settings of patrol read, consistency check and NCQ."""
        number = card.number
        read = await self._reader.text(commands.on_card(number, commands.PATROL_READ), "patrol read", problems)
        checked = await self._reader.text(
            commands.on_card(number, commands.CONSISTENCY_CHECK), "consistency check", problems
        )
        queued = await self._reader.text(commands.on_card(number, commands.QUEUEING), "command queueing", problems)
        patrol, patrolling = parse_patrol_read(read)
        check, checking = parse_consistency_check(checked)
        modes = {"patrol_read": patrol, "consistency_check": check}
        values = {**card.values, **{key: mode for key, mode in modes.items() if mode is not None}}
        values |= patrol_read_settings(read) | check_settings(checked) | ncq_setting(queued)
        return replace(card, values=values, jobs=tuple(job for job in (patrolling, checking) if job is not None))

    async def _host_number(self, address: str) -> int | None:
        """Return the number of the controller's SCSI host, on which its virtual drives are targets of channel 2."""
        paths = await self._host.list(f"/sys/bus/pci/devices/*:{address}/host*")
        numbers = [path.rpartition("/host")[2] for path in paths]
        return int(numbers[0]) if len(numbers) == 1 and numbers[0].isdecimal() else None

    def _changes(self, lines: tuple[tuple[str, ...], ...]) -> tuple[Command, ...]:
        return tuple(Command(argv=(self.tool, *line), timeout=READ_SECONDS, mutates=True) for line in lines)


def _compare(subject: str, promised: int | None, listed: int, problems: list[str]) -> None:
    if promised is not None and listed < promised:
        problems.append(f"The controller counts {promised} {subject}, but only {listed} were listed.")


def _learn_jobs(card: Card) -> tuple[BackgroundOperation, ...]:
    return (BackgroundOperation(kind="learn"),) if card.backup is not None and card.backup.learning else ()


def _unique(before: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *new)))


def _merge_jobs(
    first: tuple[BackgroundOperation, ...], second: tuple[BackgroundOperation, ...]
) -> tuple[BackgroundOperation, ...]:
    kinds = {job.kind for job in first}
    return (*first, *(job for job in second if job.kind not in kinds))


def _with_volumes(drives: tuple[PhysicalDrive, ...], volumes: tuple[VirtualDrive, ...]) -> tuple[PhysicalDrive, ...]:
    """Return the drives with the numbers of the virtual drives that list them as members."""
    members: dict[str, list[int]] = {}
    for volume in volumes:
        for slot in volume.drives:
            members.setdefault(slot, []).append(volume.number)
    return tuple(replace(drive, volumes=tuple(members.get(drive.place, ()))) for drive in drives)
