"""Running what changes a drive: judged by the tool's word, never on a device in use, never another command."""

from __future__ import annotations

from backends.change import Change, Write
from backends.changing import evidence_of, require_same, take_steps
from backends.errors import RefusedError, ToolFailedError
from backends.guard import require_free
from backends.host import Command, Host
from backends.text import clean
from backends.vendors.nvme.plans import identity_for
from backends.vendors.nvme.settings import FIELDS, LBA_FORMAT
from backends.vendors.nvme.tool import refusal
from backends.vendors.nvme.view import ControllerView, NamespaceView

SET_SECONDS = 600.0
"""After this a change is slow (a format of a large drive takes minutes); it is waited for, and never killed."""


class NvmeRunner:
    """Runs changes on one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(self, change: Change, view: ControllerView) -> None:
        """Run the steps of a change. `view`: the target as it is now.

        Raises ToolFailedError in the tool's own words, RefusedError for what may not be run, DeviceGoneError when it
        was planned for another device.
        """
        require_same(change, identity_for(view, change.key))

        async def take(step: Write) -> None:
            _require_own(change, view, step.argv)
            if change.key == LBA_FORMAT.key and isinstance(view, NamespaceView):
                await require_free(self._host, view.namespace.device, change.found)
            command = Command(argv=step.argv, timeout=SET_SECONDS, mutates=True)
            done = await self._host.run(command)
            if why_not := refusal(done):
                raise ToolFailedError(why_not, evidence=evidence_of(command, done))

        await take_steps(change, take)


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
            hint="Take that other change back first, or set this one again.",
        )
