"""nvme-cli: its commands and its error messages."""

from __future__ import annotations

import re

from backends.errors import RaidbenchError
from backends.host import STALL, Command, Completed, Host
from backends.model import Problem
from backends.subject import misnamed_reason, refused_text
from backends.text import clean
from backends.tool_output import CUT, CompletenessCheck, judge_output, line_end, manual_run_hint
from backends.vendors.nvme.facts import ControllerId, FeatureState, NamespaceId, NvmeHealth
from backends.vendors.nvme.identify import (
    CURRENT,
    SUPPORTED,
    lenient_json,
    parse_changeable,
    parse_id_ctrl,
    parse_id_ns,
    parse_list_ns,
    parse_smart_log,
    parse_value,
)

NAMES = ("nvme",)
"""Names of the program."""

READ_SECONDS = 20.0
"""Timeout of a query in seconds; the kernel's own limit for an admin command is 60 s."""

_STATUS = re.compile(r"NVMe[ \t]{1,8}status:[ \t]{0,8}(?P<words>[^\n]{1,300})", re.IGNORECASE)
_SAVE_AND_SELECT = 1 << 4


def refusal(done: Completed) -> str:
    """Return why a command failed, as the tool reports it; "" on success.

    The output is searched for a message, because the exit status of nvme-cli 1.x is the drive's status modulo 256,
    which may be 0 although the command failed. The exit status of 2.x is then 1.
    """
    output = f"{done.stdout}\n{done.stderr}"
    if status := _STATUS.search(output):
        return clean(status["words"], 300)
    if done.returncode == 0:
        return ""
    first = next((line for line in output.splitlines() if line.strip()), "")
    return clean(first, 300) or f"it exited with status {done.returncode}"


def _lacking(text: str) -> str:
    """Return the reason why the output is incomplete; "" if it is complete.

    JSON must end with its closing bracket, and text from old versions with a newline.
    """
    if "{" in text:
        return "" if lenient_json(text) else "the JSON document is incomplete"
    return line_end(text)


WHOLE = CompletenessCheck(
    tool="nvme",
    mark="a complete JSON document; for text, a newline at the end",
    missing=_lacking,
    hides="the last lines of text: of `list-ns`, and of versions without JSON",
    statuses=frozenset(),
)


class NvmeCli:
    """Runner of read-only nvme-cli commands."""

    def __init__(self, host: Host, program: str, cut: list[Problem] | None = None) -> None:
        self._host = host
        self.program = program
        """Path of nvme-cli."""
        self.cut = [] if cut is None else cut
        """List to which problems are added about output that is truncated or about another device."""

    async def id_ctrl(self, device: str, serial: str | None = None) -> ControllerId | None:
        """Return Identify Controller; None if it is not parsable or has another serial number than `serial`."""
        for options in (("-o", "json"), ()):
            controller_id = parse_id_ctrl(await self._read_output("id-ctrl", device, *options))
            if serial and controller_id.serial and controller_id.serial != serial:
                command = Command(argv=(self.program, "id-ctrl", device, *options))
                why = misnamed_reason(f"serial number {serial}", (f"serial number {controller_id.serial}",))
                self.cut.append(
                    Problem(
                        where=f"nvme:{device.rpartition('/')[2]}",
                        message=refused_text(command, why),
                        hint=manual_run_hint(command),
                    )
                )
                return None
            if controller_id.serial or controller_id.vwc is not None:
                return controller_id
        return None

    async def id_ns(self, device: str) -> NamespaceId | None:
        """Return Identify Namespace; None if the output cannot be parsed."""
        for options in (("-o", "json"), ()):
            namespace_id = parse_id_ns(await self._read_output("id-ns", device, *options))
            if namespace_id.formats:
                return namespace_id
        return None

    async def smart_log(self, device: str) -> NvmeHealth | None:
        """Return the health log; None if the output cannot be parsed."""
        for options in (("-o", "json"), ()):
            health = parse_smart_log(await self._read_output("smart-log", device, *options))
            if health != NvmeHealth():
                return health
        return None

    async def list_ns(self, device: str) -> tuple[int, ...] | None:
        """Return the IDs of all allocated namespaces of the subsystem, attached or not; None if they are unknown."""
        return parse_list_ns(await self._read_output("list-ns", device, "--all"))

    async def feature(self, device: str, number: int, about: ControllerId) -> FeatureState:
        """Return the current value of a feature.

        Whether it can be changed is included if the drive supports that query.
        """
        arguments = ("get-feature", device, f"--feature-id={number}")
        try:
            done = await self._run(*arguments, f"--sel={CURRENT}")
        except RaidbenchError as error:
            return FeatureState(why_not=clean(error.message, 300).rstrip("."))
        if why_not := refusal(done):
            return FeatureState(why_not=f"the drive answers: {why_not}", refused=True)
        if why := WHOLE.lost(done):
            return FeatureState(why_not=f"{CUT}: {why}")
        value = parse_value(done.stdout, number)
        if value is None:
            return FeatureState(why_not="the output of nvme-cli cannot be parsed")
        if not (about.oncs or 0) & _SAVE_AND_SELECT:
            return FeatureState(value=value)
        answer = await self._read_output(*arguments, f"--sel={SUPPORTED}")
        return FeatureState(value=value, changeable=parse_changeable(answer, number))

    async def _read_output(self, *arguments: str) -> str:
        """Return the output of a query; "" if it failed, so that its values count as unknown."""
        try:
            done = await self._run(*arguments)
        except RaidbenchError:
            return ""
        if refusal(done):
            return ""
        tool_output = judge_output(
            WHOLE, Command(argv=(self.program, *arguments)), f"nvme:{arguments[1].rpartition('/')[2]}", done
        )
        if tool_output.problem is not None:
            self.cut.append(tool_output.problem)
            return ""
        return done.stdout

    async def _run(self, *arguments: str) -> Completed:
        return await self._host.run(Command(argv=(self.program, *arguments), timeout=READ_SECONDS, stall=STALL))
