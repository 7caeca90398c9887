"""Dialects for storcli and perccli, which run the commands and combine their output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from backends.errors import RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.subject import refused_text
from backends.text import clean
from backends.vendors.megaraid.dialect import Answer, CardSnapshot, NewVolume, with_refusals
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.storcli import battery, cards, commands, drives, properties, verdict, volumes
from backends.vendors.megaraid.storcli.document import Reply
from backends.vendors.megaraid.storcli.fields import Data, Fields, tables
from backends.vendors.megaraid.storcli.reader import StorCliReader, UnreadableError, retry_command
from backends.vendors.megaraid.storcli.topology import parse_place

_ALONE = frozenset({"read_ahead", "io_policy", "drive_cache", "access_policy", "cache_bypass_mode"})
"""Settings that the tool reports with the virtual drive itself, and that do not depend on a battery."""


class StorCli7:
    """Dialect for storcli64, storcli, perccli64 and perccli, version 7."""

    LACKS: frozenset[tuple[str, str]] = frozenset()
    """Pairs (key, value) that this version cannot set; (key, "") stands for all values of a setting."""

    DELETE = "del"
    """Verb that deletes a virtual drive."""

    names_on_create = True
    """`add vd` accepts a name for the virtual drive."""

    def __init__(self, host: Host, tool: str) -> None:
        self.tool = tool
        self._reader = StorCliReader(host, tool)
        self.short = ""
        """Clause that says how many controllers the tool counted and how many it listed; "" if it listed all."""

    @property
    def version(self) -> str | None:
        """Return the version that the tool reports; None before the first read."""
        return self._reader.version

    async def cards(self) -> tuple[int, ...]:
        """Return the numbers of the controllers. Raises as `Dialect.cards` does, and ToolMissingError."""
        command = commands.read(self.tool, "show", seconds=commands.LIST_SECONDS)
        done, replies = await self._reader.replies(command)
        numbers = {number for reply in replies for number in cards.overview(reply.data)}
        count = next(
            (n for reply in replies if (n := Fields(reply.data).whole("number of controllers")) is not None), 0
        )
        self.short = f"it counts {count} controllers and lists {len(numbers)}" if 0 < len(numbers) < count else ""
        if numbers:
            return tuple(sorted(numbers))
        none = any("no controller" in reply.description.lower() for reply in replies)
        if none or (replies and all(reply.ok for reply in replies) and not count):
            return ()
        if count:
            raise ToolFailedError(
                f"{self.tool} counts {count} controllers but lists none: its output is truncated.",
                hint=f"Run the command manually: {' '.join(command.argv)}",
                evidence=done.stdout[:4000],
            )
        raise self._reader.failure_error(command, done, replies[0] if replies else None)

    async def read(self, card: int) -> CardSnapshot:
        """Read everything about a controller, with a problem for each unreadable part. Raises as `cards` does."""
        path = f"/c{card}"
        problems: list[str] = []
        self._reader.begin()
        refusal: UnreadableError | None = None
        try:
            controller_data = await self._show_all(problems, card)
        except UnreadableError as error:
            controller_data, refusal = Data(ends=None), error
        fields = Fields(controller_data)
        is_complete = bool(controller_data.ends) or fields.whole("physical drives") is not None
        answers = [controller_data]
        if any(True for _ in tables(controller_data, "dg/vd")) or fields.whole("virtual drives") or not is_complete:
            answers.append(await self._show_objects(problems, card, f"{path}/vall", certain=is_complete))
            answers.append(Data(await self._auto_bgi(problems, card, f"{path}/vall")))
        seats = [
            at for _, row in tables(controller_data, "eid:slt") if (at := parse_place(row.raw("eid:slt"))) is not None
        ]
        seated = (f"{path}/eall/sall", any(at[0] is not None for at in seats))
        loose = (f"{path}/sall", any(at[0] is None for at in seats))
        lacking = not is_complete or len(seats) < (fields.whole("physical drives") or 0)
        for where, is_listed in (seated, loose):
            if is_listed or lacking:
                answers.append(await self._show_objects(problems, card, where, certain=is_listed))
        physical, listed = drives.drives(card, *answers), volumes.volumes(card, *answers)
        if refusal is not None and not physical and not listed:
            raise refusal
        problems += _incomplete_problems(answers, physical, listed)
        physical = with_refusals(f"{self.tool} {path}/eall/sall show all", physical, problems)
        listed = with_refusals(f"{self.tool} {path}/vall show all", listed, problems)
        if self._reader.cut:  # drop the size of each drive without details, because the lists print rounded sizes
            physical = tuple(
                drive if drive.serial is not None else replace(drive, size_bytes=None) for drive in physical
            )
        return CardSnapshot(
            card=await self._card(problems, card, controller_data),
            volumes=listed,
            drives=await self._with_rebuild_progress(problems, card, physical),
            problems=tuple(dict.fromkeys(problems)),
            cut=self._reader.cut,
        )

    async def _show_all(self, problems: list[str], card: int) -> Data:
        """Return `show all` of a controller, or `show` if the tool crashes on it. Raises as `cards` does."""
        try:
            data = await self._reader.read_required(card, f"/c{card}", "show", "all")
        except UnreadableError as error:
            problems.append(error.message)
            try:
                data = await self._reader.read_required(card, f"/c{card}", "show")
            except ToolFailedError:
                raise error from None
        problems += self._reader.warnings
        return data

    async def _show_objects(self, problems: list[str], card: int, where: str, *, certain: bool) -> Data:
        """Return `show all` of virtual drives or drives, or `show` if the tool crashes on it.

        `certain`: whether such objects are known to exist. If not, a report that there are none adds no problem.
        """
        refusals: list[str] = []
        data = await self._reader.read_optional(refusals, card, where, "show", "all", or_else=("show",))
        problems += refusals if certain or data or not any(_says_none(text) for text in refusals) else []
        return data

    async def locate(self, card: int) -> str | None:
        """Return the PCI address of a controller. Raises as `cards` does."""
        return cards.card(card, await self._show_all([], card)).pci

    async def reread(self, before: CardSnapshot, volume: int | None, key: str | None = None) -> CardSnapshot:
        """Return `before` with new data for the settings of `volume` (None: the controller); see `Dialect.reread`."""
        card = before.card.number
        problems: list[str] = []
        self._reader.begin()
        if volume is None:
            controller_data = await self._show_all(problems, card)
            about = await self._card(problems, card, controller_data)
            self._require_complete()
            return replace(before, card=about)
        reply = await self._reader.read_answer(card, f"/c{card}/v{volume}", "show", "all")
        unchanged = tuple(drive for drive in before.volumes if drive.number != volume)
        data: Mapping[str, object] = reply.data if reply is not None else {}
        old = before.volume(volume)
        now = next((drive for drive in volumes.volumes(card, data) if drive.number == volume), None)
        if now is not None and now.refused:
            raise ToolFailedError(refused_text(f"{self.tool} /c{card}/v{volume} show all", now.refused))
        if now is None:
            if reply is not None and not reply.ok:
                if not any(phrase in _reply_text(reply) for phrase in ("invalid vd", "not exist", "no vd")):
                    raise ToolFailedError(self._reader.refusal_text(reply, f"/c{card}/v{volume}", "show", "all"))
                return replace(before, volumes=unchanged)
            raise ToolFailedError(f"{self.tool} reports nothing about virtual drive {volume} of controller {card}.")
        if old is None or key not in _ALONE:
            init = volumes.auto_bgi(await self._auto_bgi(problems, card, f"/c{card}/v{volume}"))
            now = replace(now, auto_bgi=init.get(volume, now.auto_bgi))
        elif now.auto_bgi is None:
            now = replace(now, auto_bgi=old.auto_bgi)
        # Only `show all` of the controller prints the topology with the order of the drives, so keep the cached order.
        if old is not None:
            now = replace(now, alone=old.alone, drives=old.drives or now.drives)
        backed_card = before.card if key in _ALONE else await self._backup(problems, before.card, {})
        self._require_complete()
        return replace(
            before,
            card=backed_card,
            volumes=tuple(sorted((*unchanged, now), key=lambda drive: drive.number)),
        )

    def _require_complete(self) -> None:
        """Raise ToolFailedError if output of this scan was truncated, so that the caller keeps the cached state."""
        if self._reader.cut:
            raise ToolFailedError(self._reader.cut)

    def set_volume(self, card: int, volume: int, key: str, value: str) -> tuple[Command, ...]:
        """Return the command that sets a setting of a virtual drive."""
        arguments = commands.volume_arguments(key, value, self.LACKS)
        return (commands.change(self.tool, f"/c{card}/v{volume}", "set", *arguments),)

    def set_card(self, card: int, key: str, value: str) -> tuple[Command, ...]:
        """Return the command that sets a setting of a controller."""
        if (key, "") in self.LACKS:
            value = ""
        return (commands.change(self.tool, f"/c{card}", "set", *commands.card_arguments(key, value)),)

    def recreate(self, card: int, volume: int, new: NewVolume) -> tuple[Command, ...]:
        """Return the commands that delete a virtual drive and re-create it."""
        if ("io_policy", "") in self.LACKS:
            new = replace(new, io_policy="")
        add = commands.change(self.tool, f"/c{card}", *commands.add_arguments(new))
        return (*self.delete(card, volume), add)

    def delete(self, card: int, volume: int) -> tuple[Command, ...]:
        """Return the command that deletes a virtual drive, with `force` (as it has data) but without `discardcache`."""
        return (commands.change(self.tool, f"/c{card}/v{volume}", self.DELETE, "force"),)

    def begin_making(self, card: int, lines: Sequence[tuple[str, ...]]) -> None:
        """Check that each of these commands only creates or deletes a virtual drive. Raises RefusedError if not."""
        for line in lines:
            where, *arguments = line[1:]
            adds = where == f"/c{card}" and arguments[:2] == ["add", "vd"]
            deletes = re.fullmatch(rf"/c{card}/v[0-9]{{1,5}}", where) and arguments[:2] == [self.DELETE, "force"]
            if not adds and not deletes:
                raise RefusedError(
                    f"Refusing to run {clean(' '.join(line), 200)}: it neither creates nor deletes a virtual drive."
                )

    def apply_key(self, card: int, key: str, *, preview: bool) -> tuple[Command, ...]:
        """Return the command that applies an activation key, or with `preview` the command that only tests it."""
        arguments = (f"/c{card}", "set", "aso", f"key={key}", *(("preview",) if preview else ()))
        command = commands.change(self.tool, *arguments, secret=(f"key={key}", key))
        return (replace(command, mutates=not preview),)

    def judge(self, command: Command, done: Completed) -> Answer:
        """Return whether a change succeeded, by the tool's report."""
        return verdict.judge(done.stdout or done.stderr, done.truncated, where=command.argv[1])

    def retry_command(self, command: Command, done: Completed) -> Command | None:
        """Return the command without `nolog` if this build did not understand it; see `reader.retry_command`."""
        return retry_command(command, done)

    def flatten(self, lines: Sequence[Command]) -> tuple[tuple[str, ...], ...]:
        """Return the argument list of each command, with secrets masked."""
        return tuple(tuple(_mask(word) if word in line.secret else word for word in line.argv) for line in lines)

    async def _auto_bgi(self, problems: list[str], card: int, where: str) -> Mapping[str, object]:
        return await self._reader.read_refusable(problems, card, where, "show", "autobgi")

    async def _card(self, problems: list[str], number: int, data: Mapping[str, object]) -> Card:
        """Return the controller with the values that only separate commands report."""
        card = cards.card(number, data)
        values, jobs = {**card.values, **properties.policy_settings(Fields(data))}, list(card.jobs)
        if card.supports.get("write_cache") is None and not any(True for _ in tables(data, "dg/vd")):
            return card  # a host bus adapter has none of the values below
        for key, verb, understand, more in (
            ("patrol_read", "patrolread", cards.patrol, properties.patrol_read_settings),
            ("consistency_check", "cc", cards.check, properties.check_settings),
        ):
            if card.supports.get(key) is not False:
                data = await self._reader.read_refusable(problems, number, f"/c{number}", "show", verb)
                mode, work = understand(data)
                values |= {key: mode} if mode is not None else {}
                values |= more(data)
                jobs += work
        card = replace(card, values=values, jobs=tuple(jobs))
        return await self._with_version_values(problems, await self._backup(problems, card, data))

    async def _with_version_values(self, problems: list[str], card: Card) -> Card:
        """Return the controller with the values that only version 7 reports."""
        values = dict(card.values)
        if card.supports.get("perf_tuning"):
            data = await self._reader.read_refusable(problems, card.number, f"/c{card.number}", "show", "perfmode")
            mode = cards.perf_mode(data)
            values |= {"perf_mode": mode} if mode is not None else {}
        for name in properties.SHOWN:
            if card.supports.get(name) is False:
                continue
            data = await self._reader.read_refusable(problems, card.number, f"/c{card.number}", "show", name)
            values |= properties.property_settings(name, data)
        return replace(card, values=values)

    async def _backup(self, problems: list[str], card: Card, data: Mapping[str, object]) -> Card:
        """Return the controller with battery or CacheVault. If the kind is unknown, both kinds are read."""
        if card.backup is None and card.backup_known:
            return card
        kinds = {"cachevault": ("cv",), "bbu": ("bbu",)}.get(card.backup.kind if card.backup else "", ("cv", "bbu"))
        says_absent = False
        for kind in kinds:
            reply = await self._reader.read_or_none(problems, card.number, f"/c{card.number}/{kind}", "show", "all")
            protection = (
                battery.parse_answer(reply.data, "cachevault" if kind == "cv" else kind) if reply is not None else None
            )
            if protection is not None:
                return replace(card, backup=protection, backup_known=True)
            says_absent = says_absent or (reply is not None and _says_absent(reply))
        if data or card.backup is None:
            has_answer = card.backup_known or (says_absent and card.backup is None)
            return replace(card, backup_known=has_answer)
        return replace(card, backup=None, backup_known=False)  # the cached state may be wrong, but cannot be read again

    async def _with_rebuild_progress(
        self, problems: list[str], card: int, matches: tuple[PhysicalDrive, ...]
    ) -> tuple[PhysicalDrive, ...]:
        """Return the drives with the progress of rebuilds."""
        places = [drive.place for drive in matches if drive.state.value == "rebuilding"]
        if not places:
            return matches
        where = f"/c{card}/eall/sall" if any(not at.startswith(":") for at in places) else f"/c{card}/sall"
        work = drives.rebuilds(await self._reader.read_optional(problems, card, where, "show", "rebuild"))
        return tuple(
            replace(drive, jobs=(job,)) if (job := work.get((drive.enclosure, drive.slot))) is not None else drive
            for drive in matches
        )


class StorCli8(StorCli7):
    """Dialect for storcli2 and perccli2, version 8, which manage 96xx controllers and PERC 12."""

    LACKS = frozenset(
        {
            ("io_policy", ""),
            ("cache_bypass_mode", ""),
            ("read_ahead", "adaptive"),
            ("cache_flush_interval", ""),
            ("perf_mode", ""),
            ("rebuild_rate", ""),
            *((key, "") for key in (*properties.WORDS, *properties.NUMBERS)),
        }
    )
    """Version 8 has no I/O policy. The other settings are missing from its output, or no usage text of them is
    known."""

    DELETE = "delete"
    """Verb that deletes a virtual drive."""

    async def _auto_bgi(self, problems: list[str], card: int, where: str) -> Mapping[str, object]:
        return {}  # version 8 prints it with the properties of the virtual drive

    async def _with_version_values(self, problems: list[str], card: Card) -> Card:
        """Return the controller with its advanced software options, which are not in `show all`."""
        supports = {"io_policy": False, **card.supports}
        data = await self._reader.read_optional(problems, card.number, f"/c{card.number}", "show", "aso")
        return replace(
            card, supports=supports, options=cards.options(data) or card.options, safe_id=cards.safe_id(data)
        )

    async def _backup(self, problems: list[str], card: Card, data: Mapping[str, object]) -> Card:
        """Return the controller with the cache protection from `show all`; version 8 has no separate object for it."""
        if data:
            return card
        try:
            data = await self._reader.read_required(card.number, f"/c{card.number}", "show", "all")
        except UnreadableError as error:  # a virtual drive's settings can be read and set without it
            problems.append(error.message)
            return replace(card, backup=None, backup_known=False)
        protection, has_answer = battery.parse_listed(data)
        return replace(card, backup=protection, backup_known=has_answer)


def _mask(word: str) -> str:
    return "key=***" if word.startswith("key=") else "***"


def _says_absent(reply: Reply) -> bool:
    """Return whether the reply reports, by code 34 (0x22) or its message, that this battery or CacheVault is absent."""
    text = _reply_text(reply)
    coded = any(row.whole("errcd") == 34 for row in reply.status.rows("detailed status"))
    return coded or "absent" in text or "not present" in text


def _says_none(text: str) -> bool:
    """Return whether the tool reports no such objects, or that this controller does not support the command."""
    plain = text.lower()
    return any(phrase in plain for phrase in ("no vd", "no drive", "not exist", "supported command", "not found"))


def _reply_text(reply: Reply) -> str:
    rows = reply.status.rows("detailed status")
    return " ".join(filter(None, (reply.description, *(row.text("errmsg") for row in rows)))).lower()


def _incomplete_problems(
    answers: Sequence[Data], physical: tuple[PhysicalDrive, ...], listed: tuple[VirtualDrive, ...]
) -> list[str]:
    """Return a problem for objects that the tool counts but does not list, or lists without details."""
    fields = Fields(answers[0])
    sentences = []
    for kind, promised, count in (
        ("drives", fields.whole("physical drives"), len(physical)),
        ("virtual drives", fields.whole("virtual drives"), len(listed)),
    ):
        if promised is not None and count < promised:
            sentences.append(f"The tool counts {promised} {kind} but lists {count}: its output is incomplete.")
    if any(answer.ends is not True for answer in answers[1:]):
        bare = [f"virtual drive {drive.number}" for drive in listed if drive.strip_bytes is None and not drive.refused]
        bare += [f"drive {drive.place}" for drive in physical if drive.serial is None and not drive.refused]
        sentences += [f"The tool lists only {', '.join(bare)}: its output is incomplete."] if bare else []
    return sentences
