"""Queries to drives through hdparm, sdparm and smartctl, and problems for missing tools."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from backends.errors import RaidbenchError
from backends.host import STALL, Command, Completed, Host, WriteDenied
from backends.model import Problem
from backends.protocol import DEVICE, RootReads
from backends.subject import NEXT_STEP, REFUSED, misnamed_reason
from backends.text import clean
from backends.tool_output import CUT, CompletenessCheck
from backends.values import dataclass
from backends.vendors.scsi import hdparm, sdparm, smartctl
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.hdparm import Flag
from backends.vendors.scsi.inventory import NAME
from backends.vendors.scsi.sdparm import Field
from backends.vendors.scsi.smartctl import SmartAnswer

_DEVICE = re.compile(r"^[ \t]{0,8}(/dev/[A-Za-z0-9/_-]{1,64}):(?=[ \t\r\n]|\Z)", re.ASCII | re.MULTILINE)
"""First line of the output of hdparm and sdparm about a device."""

# -- missing tools ----------------------------------------------------------------------------------------------------


def missing_tools(disks: Iterable[Disk], has: Callable[[str], bool]) -> tuple[Problem, ...]:
    """Return one problem for each tool that is missing and needed for these disks."""
    kinds = {disk.kind for disk in disks}
    problems: list[Problem] = []
    if Kind.ATA in kinds and not has("hdparm"):
        message = (
            "hdparm is not installed, so look-ahead, power and acoustic management of SATA disks cannot be read or "
            "set. Their write cache is read and set only through the kernel's cache_type."
        )
        problems.append(Problem(where=NAME, message=message, hint="Install hdparm."))
    if Kind.SCSI in kinds and not has("sdparm"):
        message = (
            "sdparm is not installed, so read cache and look-ahead of SAS disks cannot be read or set. Their write "
            "cache is read and set only through the kernel's cache_type."
        )
        problems.append(Problem(where=NAME, message=message, hint="Install sdparm."))
    if kinds - {Kind.VOLUME} and not has("smartctl"):
        message = (
            "smartctl is not installed, so health, temperature, wear, rotation speed and power-loss protection of "
            "SATA and SAS disks are unknown. An enabled write cache always counts as a risk."
        )
        problems.append(Problem(where=NAME, message=message, hint="Install smartmontools."))
    return tuple(problems)


def unread_problems(disks: Iterable[Disk], answers: Iterable[SmartAnswer | None]) -> tuple[Problem, ...]:
    """Return one problem for each reason why output of smartctl cannot be parsed. It names the disks concerned."""
    by_reason: dict[str, list[str]] = {}
    for disk, health in zip(disks, answers, strict=True):
        if health is not None and health.unread:
            by_reason.setdefault(health.unread, []).append(disk.node.device)
    return tuple(
        Problem(
            where=NAME,
            message=f"The output of smartctl about {', '.join(devices)} {reason}. The health of these drives is "
            "unknown.",
            hint="Run `smartctl -a` on them. Versions of smartctl before 7.0 have no JSON output.",
        )
        for reason, devices in by_reason.items()
    )


# -- read-only queries with a timeout ---------------------------------------------------------------------------------

READ_SECONDS = 20.0
"""Timeout of a query in seconds. A drive that wakes up needs up to ten seconds."""

AT_ONCE = 8
"""Maximum number of drives that are queried at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Values of a drive's on/off features and levels, such as its write cache."""

    flags: Mapping[str, Flag] = field(default_factory=dict)
    """Values from hdparm."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    """Values from sdparm."""
    silent: str | None = None
    """Reason why the drive returned no values; None if it returned some."""


class SwitchReader:
    """Reader of the switches (on/off features such as the write cache) and the health of the drives of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._few = asyncio.Semaphore(AT_ONCE)

    def tool(self, kind: Kind) -> str | None:
        """Return the path of the tool for a kind of drive; None if it is not installed, or there is no such tool."""
        names = {Kind.ATA: "hdparm", Kind.SCSI: "sdparm"}
        return self._host.which((names[kind],)) if kind in names else None

    async def switches(self, disk: Disk) -> Switches:
        """Return the values of the drive's switches; no values for a RAID volume.

        If the drive or the tool fails, no error is raised.
        """
        tool = self.tool(disk.kind)
        if disk.kind is Kind.VOLUME:
            return Switches()
        if tool is None:
            return Switches(silent="the tool that reads its settings is not installed")
        if not self._host.is_root:
            return Switches(silent=WriteDenied.NEEDS_ROOT)
        if disk.kind is Kind.ATA:
            answer = await self._run((tool, *hdparm.READ, disk.node.device))
            if cut := answer.misnamed_reason(disk.node.device) or answer.truncation_reason(hdparm.WHOLE):
                return Switches(silent=cut)
            flags = hdparm.parse_hdparm(answer.text)
            return Switches(flags=flags, silent=None if flags else answer.failure_text(hdparm.refusal(answer.text)))
        answer = await self._run((tool, f"--get={','.join(sdparm.FIELDS)}", disk.node.device))
        if sdparm.attention(answer.code, answer.text) and not sdparm.parse_sdparm(answer.text):
            answer = await self._run((tool, f"--get={','.join(sdparm.FIELDS)}", disk.node.device))
        if cut := answer.misnamed_reason(disk.node.device) or answer.truncation_reason(sdparm.WHOLE):
            return Switches(silent=cut)
        fields = sdparm.parse_sdparm(answer.text)
        return Switches(
            fields=fields, silent=None if fields else answer.failure_text(sdparm.refusal(answer.code, answer.text))
        )

    async def health(self, disk: Disk) -> SmartAnswer | None:
        """Return the values from smartctl; None without root or without smartctl, and for a RAID volume."""
        tool = self._host.which(("smartctl",))
        if tool is None or disk.kind is Kind.VOLUME or not self._host.is_root:
            return None
        answer = await self._run((tool, *smartctl.ASK, disk.node.device))
        parsed = smartctl.parse_smartctl(answer.out, disk.node.device)
        why = f"is missing: {answer.failure}" if answer.failure else smartctl.unread_reason(answer.text)
        return parsed if parsed is not None else SmartAnswer(unread=why)

    async def _run(self, argv: tuple[str, ...]) -> _Answer:
        async with self._few:
            try:
                done = await self._host.run(Command(argv=argv, timeout=READ_SECONDS, stall=STALL))
            except RaidbenchError as error:
                return _Answer(tool=argv[0], failure=clean(error.message.rstrip("."), 200))
            return _Answer(tool=argv[0], code=done.returncode, out=done.stdout, err=done.stderr)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Output of a program, or the reason why there is none."""

    tool: str
    code: int = 0
    out: str = ""
    err: str = ""
    failure: str = ""

    @property
    def text(self) -> str:
        """Return standard output and standard error together, because error messages may be in either."""
        return f"{self.out}\n{self.err}"

    def truncation_reason(self, check: CompletenessCheck) -> str | None:
        """Return the reason why the output counts as truncated; None if it is complete or empty."""
        done = Completed(returncode=self.code, stdout=self.out, stderr=self.err)
        why = check.lost(done) if self.out.strip() else ""
        return self.failure_text(f"{CUT}: {why}") if why else None

    def misnamed_reason(self, device: str) -> str | None:
        """Return why the output is about another device; None if it is about this device only, or names no device."""
        named = (match[1] for match in _DEVICE.finditer(self.out[:20_000]))
        why = misnamed_reason(device, named, required=False)
        return self.failure_text(f"{REFUSED}: {why}. {NEXT_STEP}".rstrip(".")) if why else None

    def failure_text(self, text: str | None) -> str:
        """Return the reason why the values of the drive are unknown, with the name of the tool."""
        reason = self.failure or text or "it reports no values of this drive"
        return f"{self.tool.rsplit('/', 1)[-1]}: {reason}"


ROOT_READS: RootReads = {
    ("hdparm",): ((*map(re.escape, hdparm.READ), DEVICE),),
    ("sdparm",): ((re.escape(f"--get={','.join(sdparm.FIELDS)}"), DEVICE),),
    ("smartctl",): ((*map(re.escape, smartctl.ASK), DEVICE),),
}
"""Commands that the root helper runs for a user. All of them only read."""
