"""Running what changes a drive: judged by the tool's word, never on a device in use, never another command."""

from __future__ import annotations

import os

from backends.change import Change
from backends.errors import DeviceGoneError, RefusedError, ToolFailedError
from backends.exclusive import claim_on
from backends.host import Command, Host
from backends.identity import Signature
from backends.text import clean
from backends.topology.facts import inspect
from backends.vendors.nvme.plans import of_controller, of_namespace
from backends.vendors.nvme.settings import FIELDS, LBA_FORMAT
from backends.vendors.nvme.tool import refusal
from backends.vendors.nvme.view import ControllerView, NamespaceView

SET_SECONDS = 600.0
"""After this a change is slow (a format of a large drive takes minutes); it is waited for, and never killed."""


class Runner:
    """Runs changes on one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(self, change: Change, view: ControllerView) -> None:
        """Run the steps of a change. `view`: the target as it is now.

        Raises ToolFailedError in the tool's own words, RefusedError for what may not be run, DeviceGoneError when it
        was planned for another device.
        """
        _require_same(change, view)
        for write in change.writes:
            _require_own(change, view, write.argv)
            if change.key == LBA_FORMAT.key and isinstance(view, NamespaceView):
                await self.require_free(view.namespace.device)
            command = Command(argv=write.argv, timeout=SET_SECONDS, mutates=True)
            done = await self._host.run(command)
            if why_not := refusal(done):
                said = f"{done.stdout[:4000]}{done.stderr[:2000]}"
                raise ToolFailedError(
                    f"{change.label} of {change.target} could not be set: {why_not.rstrip('.')}.",
                    hint="Read the setting again.",
                    evidence=f"{command.shown()}\nexit status {done.returncode}\n{said}",
                )

    async def require_free(self, device: str) -> tuple[Signature, ...]:
        """What lies on a device that is to be formatted.

        Raises RefusedError unless nothing uses it: looked at anew, with an attempt to open it for oneself alone; what
        cannot be checked counts as in use, a member of an array as well, active or not.
        """
        facts = await inspect(self._host, device, claim=claim_on(self._host), ignore=(os.getpid(),))
        if not facts.is_block:
            raise RefusedError(f"{device} is no block device, so nothing can show that it is not in use.")
        made_up = self._host.simulated  # there is nothing that could be opened or harmed
        uses = [use for use in facts.uses if not (made_up and use.kind == "unknown")]
        if uses:
            place = f"/dev/{uses[0].part}" if uses[0].part else device
            raise RefusedError(
                f"{place} is in use: {uses[0].detail}.",
                hint="Unmount it, turn it off, or take apart what is built on it first.",
            )
        if facts.unknown and not made_up:
            raise RefusedError(f"{device} may be in use: {facts.unknown[0]}.", hint="Run raidbench as root.")
        if facts.read_only:
            raise RefusedError(f"{device} is read-only.", hint="blockdev --setrw lets it be written to.")
        member = next((one for one in facts.signatures if _is_member(one)), None)
        if member is not None:
            place = f"/dev/{member.part}" if member.part else device
            raise RefusedError(
                f"{place} is a member of a RAID or multipath set ({member.kind}).",
                hint="If that set is no longer wanted, remove its mark first (mdadm --zero-superblock, wipefs).",
            )
        return facts.signatures


def _is_member(signature: Signature) -> bool:
    """Whether this marks a part of an array, which is pulled into it again at the next chance."""
    return signature.kind.endswith("_raid_member") or signature.kind in ("mpath_member", "drbd")


def _require_same(change: Change, view: ControllerView) -> None:
    """Raises DeviceGoneError unless the planned device still has its name."""
    wanted = change.identity
    if wanted is None:
        raise RefusedError(f"The change of {change.target} says not for which device it was planned.")
    if isinstance(view, NamespaceView):
        present = of_namespace(view.namespace, change.key)
    else:
        present = of_controller(view.controller)
    if not wanted.same_device(present):
        raise DeviceGoneError(
            f"{change.target} is another device now than it was planned for.",
            hint="Look at the devices again and plan anew.",
        )


def _require_own(change: Change, view: ControllerView, argv: tuple[str, ...]) -> None:
    """Raises RefusedError unless this is a command of ours for this very device.

    What is in a journal is not trusted to name any other program, verb or node; and a feature's bits that belong to
    other settings must be what they are now, lest taking one change back undoes another one.
    """
    shown = clean(" ".join(argv), 300)
    if change.key == LBA_FORMAT.key and isinstance(view, NamespaceView):
        front: tuple[str | None, ...] = (
            view.program,
            "format",
            view.namespace.device,
            f"--namespace-id={view.namespace.nsid}",
        )
        allowed = argv[:4] == front and all(
            word.startswith(("--lbaf=", "--ms=", "--pi=", "--pil=")) for word in argv[4:]
        )
        if not allowed or view.namespace.nsid is None:
            raise RefusedError(f"This is no format of {view.namespace.device}: {shown}.")
        return
    field = FIELDS.get(change.key)
    if field is None:
        raise RefusedError(f"{change.target} has no setting {clean(change.key)}.")
    front = (view.program, "set-feature", view.controller.device, f"--feature-id={field.feature}")
    value = argv[4].removeprefix("--value=0x") if len(argv) == 5 else ""
    if argv[:4] != front or len(value) != 8 or any(char not in "0123456789abcdef" for char in value):
        raise RefusedError(f"This does not set {change.label.lower()} of {view.controller.device}: {shown}.")
    present = view.features[field.feature].value
    if present is None or present & ~field.mask != int(value, 16) & ~field.mask:
        raise RefusedError(
            f"Another part of the value that {change.label.lower()} is in changed since: it would be lost.",
            hint="Take that other change back first, or set this one anew.",
        )
