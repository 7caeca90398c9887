"""The guard: decides from facts whether a raw device may be read or written, and keeps it open for that access."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from enum import StrEnum

from backends.device_label import DeviceLabel, device_label
from backends.errors import AnotherDeviceError, DeviceGoneError, RefusedError
from backends.exclusive_open import DeviceClaim, claim_on, marks_on, pieces_on
from backends.helper_device import helper_content_check, helper_device_facts
from backends.host import Host
from backends.identity import Identity, Signature, Use, new_content
from backends.sizes import size_words
from backends.system.caching import uncached
from backends.topology.device_identity import IS, LIKELY, SAME, is_distinguishable
from backends.topology.facts import Claim, DeviceFacts, gather_facts
from backends.topology.stacking import MemberSignature, mark_of
from backends.topology.thin_capacity import WHOLE, WriteRange, refusals
from backends.topology.tree import node_path
from backends.values import dataclass


class Intent(StrEnum):
    """Intended access to the raw device."""

    READ = "read"
    """Read only: also allowed on a device in use."""
    WRITE = "write"
    """Write or discard: destroys the content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardResult:
    """The guard's decision, with its reasons as sentences."""

    device: str
    """The device that was checked."""
    ok: bool
    """Whether the access is not refused. A confirmation may still be needed."""
    refused: tuple[str, ...] = ()
    """Every reason against the access, each a sentence. No option overrides them."""
    hint: str = ""
    """Next step for the user."""
    needs_confirmation: bool = False
    """Whether it has content, so that the user must type the token of its label."""
    label: DeviceLabel | None = None
    """Label with the token, for a device that may be written to."""
    content: tuple[str, ...] = ()
    """Content that would be destroyed, one line for each filesystem or other signature."""

    @property
    def shown(self) -> str:
        """Return the display name: a lasting name if the kernel's name may change at a reboot, else the node."""
        return self.device if self.label is None else self.label.name

    @property
    def confirm_text(self) -> str | None:
        """Return the token that must be typed; None if nothing may be written."""
        return None if self.label is None else self.label.token

    def confirmed_by(self, typed: str | None) -> bool:
        """Return whether the access is allowed after the user typed `typed`; None if the user typed nothing."""
        return self.ok and (not self.needs_confirmation or typed == self.confirm_text)


_BUILT = "Measure the device that is built on it, or delete that device first."

_HINTS = {
    "likely": "Compare them (lsblk -o NAME,HCTL,SERIAL,PTUUID,UUID). Different UUIDs prove that they are two disks.",
    "same": "If it is a copy, change its UUID (tune2fs -U, xfs_admin -U, swaplabel -U, sgdisk -G).",
    "root": "raidbench never writes to the disk of the running system. Choose another disk or a scratch file.",
    "mount": "Unmount it first, or measure a scratch file on it.",
    "swap": "Turn the swap area off first (swapoff).",
    "btrfs": "Unmount the filesystem first.",
    "zfs": "Measure a zvol of the pool, or export the pool first.",
    "export": "Remove it from the target first.",
    "snapshot": (
        "Measure before the snapshot is created, or remove the snapshot first (lvremove): each write is copied to it."
    ),
    "holder": _BUILT,
    "lvm": _BUILT,
    "bcache": _BUILT,
    "md": _BUILT,
    "stratis": "Measure a filesystem of the pool, or destroy the pool first (stratis pool destroy).",
    "loop": "Detach the loop device first (losetup -d). A zram device releases its disk on reset (zramctl -r).",
    "open": "End that program first.",
    "closed": "Read the kernel log for the cause. Its state is in /sys/block/NAME/device/state.",
    "exclusive": "Find out what uses it: lsblk, /proc/mdstat, multipath -ll.",
    "unknown": "Run raidbench as root: it can then check this.",
    "unseen": "To write to it, run raidbench outside of containers with all capabilities of root. A scratch file can "
    "be "
    "measured here as well.",
}
"""Next step by kind of use, or by doubt about the disk. The first entry that applies is shown."""


_UNCHECKED = ("unknown", "unseen")
"""Kinds of use that mean that a check was not possible, not that a use was found."""


_FREE_SPACE_HINT = "Add free space first, or write less with a smaller --size."
"""Hint if the written data does not fit into thin-provisioned space."""


def judge(facts: DeviceFacts, intent: Intent, area: WriteRange = WHOLE) -> GuardResult:
    """Return the decision that follows from the facts of a device; no I/O.

    A check that was not possible forbids writing.

    `area`: range that will be written to.
    """
    refused, hint = _read_refusals(facts)
    if intent is Intent.READ or refused:
        return GuardResult(device=facts.device, ok=not refused, refused=refused, hint=hint)
    reasons = _against_writing(facts)
    tight = refusals(facts.shown, facts.rooms, area)
    if reasons or tight:
        doubts = {"likely": LIKELY, "same": SAME}
        kinds = [kind for kind, text in doubts.items() if any(text in use.detail for use in facts.uses)]
        kinds += [use.kind for use in facts.uses]
        hint = next((text for kind, text in _HINTS.items() if kind in kinds), _default_hint(facts))
        hint = hint if reasons else _FREE_SPACE_HINT
        reasons += tight
        return GuardResult(device=facts.device, ok=False, refused=tuple(dict.fromkeys(reasons)), hint=hint)
    assert facts.identity is not None  # `_against_writing` refuses a device without an identity
    return GuardResult(
        device=facts.device,
        ok=True,
        needs_confirmation=bool(facts.signatures),
        label=device_label(facts.identity, facts.others, name=facts.shown, called=facts.called, apart=facts.apart),
        content=(*(_content_line(facts, signature) for signature in facts.signatures), *facts.copies),
    )


def _read_refusals(facts: DeviceFacts) -> tuple[tuple[str, ...], str]:
    """Return the reasons that forbid even reading, and a hint."""
    if not facts.is_block:
        return (f"{facts.shown} is not a block device.",), "`raidbench devices` lists what is there."
    if not facts.size_bytes:
        return (f"{facts.shown} has no medium: its size is 0.",), "Choose another device."
    return (), ""


def _against_writing(facts: DeviceFacts) -> list[str]:
    uses = [use for use in facts.uses if use.kind != "exclusive"] or facts.uses
    reasons = [_sentence(facts, use) for use in uses]
    reasons += [
        f"{_node_of(facts, signature.part)} {mark.verb} {mark.text(signature.label)} ({signature.kind})."
        for signature, mark in _marks(facts)
        if (mark.layer, signature.part) not in {(use.kind, use.part) for use in uses}
    ]
    if facts.read_only:
        reasons.append(f"{facts.shown} is read-only.")
    reasons += [f"{facts.shown} cannot be verified as unused: {text}." for text in facts.unknown]
    if not is_distinguishable(facts.identity, facts.interface):
        reasons.append(
            f"{facts.shown} has no serial number and no WWN, so raidbench cannot distinguish it from another disk."
        )
    return reasons


def _marks(facts: DeviceFacts) -> list[tuple[Signature, MemberSignature]]:
    """Return the signatures that mark the device as a member of an array, pool or volume, in use or not."""
    return [(signature, mark) for signature in facts.signatures if (mark := mark_of(signature.kind)) is not None]


def _default_hint(facts: DeviceFacts) -> str:
    if marks := dict.fromkeys(mark.remove for _, mark in _marks(facts)):
        return f"If it is no longer needed, remove the signature first ({', '.join(marks)})."
    return "Choose another device or a scratch file."


def _node_of(facts: DeviceFacts, part: str | None) -> str:
    return node_path(part) if part is not None else facts.disk or facts.shown


def use_clause(node: str, use: Use) -> str:
    """Return a use of the device at `node`, as a sentence without its full stop."""
    return f"{node} is {use.detail}" if use.elsewhere or use.kind in IS else f"{node}: {use.detail}"


def _sentence(facts: DeviceFacts, use: Use) -> str:
    return f"{use_clause(_node_of(facts, use.part), use)}."


def _content_line(facts: DeviceFacts, signature: Signature) -> str:
    content = "unknown content (probing failed)" if signature.kind == "unknown" else signature.kind
    label = f" {signature.label!r}" if signature.label else ""
    size = f", {size_words(signature.size_bytes)}" if signature.size_bytes else ""
    uuid = f", UUID {signature.uuid}" if signature.uuid else ""  # a new UUID reveals a re-created filesystem
    return f"{_node_of(facts, signature.part)}: {content}{label}{size}{uuid}"


def require(verdict: GuardResult, typed: str | None = None, token_for_all: str = "") -> None:
    """Raise RefusedError unless the decision and the token that the user typed allow the access.

    `token_for_all`: the token that confirms all devices, if this is one of several that lose data.
    """
    _require_ok(verdict)
    if not verdict.confirmed_by(typed) and verdict.label is not None:
        hint = f"To overwrite it, give the confirmation token {verdict.label.token}. {verdict.label.sentence}"
        if token_for_all:
            hint = f"To overwrite all targets, give the confirmation token {token_for_all}."
        raise RefusedError(f"{verdict.shown} contains data: {'; '.join(verdict.content)}.", hint=hint)


def _require_ok(verdict: GuardResult) -> None:
    if not verdict.ok:
        raise RefusedError(" ".join(verdict.refused), hint=verdict.hint)


def require_confirmed_content(verdict: GuardResult, shown: Collection[str] | None) -> None:
    """Raise RefusedError if the device has content that was not `shown` at confirmation. `shown` is None: no check."""
    new = [] if shown is None else new_content(verdict.content, shown)
    if new:
        raise content_changed_error(verdict.shown, new)


def content_changed_error(device: str, new: Sequence[str]) -> RefusedError:
    """Return the error for a device with content that was not shown at confirmation. `new`: result of `new_content`."""
    return RefusedError(
        f"The content of {device} changed after you confirmed it: {'; '.join(new)}.",
        hint="Check the device and try again.",
    )


async def judge_device(
    host: Host, device: str, intent: Intent, area: WriteRange = WHOLE
) -> tuple[DeviceFacts, GuardResult]:
    """Return the current facts of a device and the decision.

    `area`: range that will be written to. If the root helper opens the device, the decision covers the whole device,
    because the helper does not limit the range.
    """
    if host.root_side is not None:
        lent = await helper_device_facts(host.root_side, device, writing=intent is Intent.WRITE)
        return lent, judge(lent, intent)
    facts = await _facts(host, device, intent, claim_on(host))
    return facts, judge(facts, intent, area)


async def _facts(host: Host, device: str, intent: Intent, claim: Claim | None) -> DeviceFacts:
    writes = intent is Intent.WRITE
    facts = await gather_facts(
        host,
        device,
        claim=claim if writes else None,
        marks=marks_on(host) if writes else None,
        reader=pieces_on(host) if writes else None,
        probe=writes,
        ignore=(os.getpid(),),
    )
    if host.capabilities.harmed:
        return facts
    # A simulated host has no devices to open or damage, so a check that was not possible forbids nothing there.
    return replace(facts, unknown=(), uses=tuple(use for use in facts.uses if use.kind not in _UNCHECKED))


async def require_free(
    host: Host, device: str | None, shown: Collection[Signature] | None = None
) -> tuple[Signature, ...]:
    """Return the content of an unused device that a tool is about to destroy. The caller has the user's confirmation.

    `shown`: content at the time of the confirmation; None if the caller only wants to know the content. The device is
    checked as before a run that writes, and again while it is open. Then it is closed, because the tools that re-create
    arrays or format drives open it exclusively. Raises RefusedError with the guard's reasons, DeviceGoneError if the
    device vanished.
    """
    if device is None:
        raise RefusedError(
            "raidbench does not know which block device belongs to the target, so it cannot check that it is unused."
        )
    if host.root_side is not None:
        return await helper_content_check(host.root_side, device, shown)
    with uncached():
        return (await _require_free(host, device, shown)).signatures


async def _require_free(host: Host, device: str, shown: Collection[Signature] | None) -> DeviceFacts:
    facts, verdict = await judge_device(host, device, Intent.WRITE)
    confirmed = None if shown is None else [*(_content_line(facts, signature) for signature in shown), *facts.copies]

    def allow(now: GuardResult) -> None:
        _require_ok(now)
        require_confirmed_content(now, confirmed)

    allow(verdict)
    if host.capabilities.harmed:
        # Opened read-only: after a writer closes a device, udev opens it, so the exclusive open of the tool might fail.
        async with _claim(host, facts, allow, write=False):
            pass
    return facts


@asynccontextmanager
async def claim_device(
    host: Host,
    device: str,
    intent: Intent,
    typed: str | None = None,
    meant: Identity | None = None,
    shown: Collection[str] | None = None,
    area: WriteRange = WHOLE,
) -> AsyncGenerator[DeviceClaim, None]:
    """Check a device, open it, check it again (for reading only its identity), and yield it; close it at the end.

    `meant`: its identity when the user chose it; None if nothing was chosen before. `shown`: content that was shown
    when the user was asked for the token `typed`; only this content is confirmed. `area`: range that will be written
    to. fio must use the `path` of the yielded claim. Raises RefusedError if the guard refuses, DeviceGoneError if the
    device vanished or changed.
    """

    def allow(now: GuardResult) -> None:
        require(now, typed)
        require_confirmed_content(now, shown)

    before, verdict = await judge_device(host, device, intent, area)
    if meant is not None:
        _require_same(before, meant)
    allow(verdict)
    if intent is Intent.WRITE:
        async with _claim(host, before, allow, write=True, area=area) as hold:
            yield hold
        return
    async with DeviceClaim(before.device, _require_identity(host, before), write=False) as hold:
        yield hold


@asynccontextmanager
async def _claim(
    host: Host, before: DeviceFacts, allow: Callable[[GuardResult], None], *, write: bool, area: WriteRange = WHOLE
) -> AsyncGenerator[DeviceClaim, None]:
    """Open a device exclusively, check it again and yield it. Once it is open, no other program can claim it."""
    identity = _require_identity(host, before)
    async with AsyncExitStack() as stack:
        hold = await stack.enter_async_context(DeviceClaim(before.device, identity, write=write, exclusive=True))
        for other in before.along:
            await stack.enter_async_context(DeviceClaim(node_path(other.name), other, write=False, exclusive=True))
        # No test claim: it would fail, because this function has already claimed the device.
        now = await _facts(host, before.device, Intent.WRITE, lambda _device, _devno: None)
        _require_same(now, identity)
        if now.along != before.along:
            raise AnotherDeviceError(
                f"The devices below {now.device} changed since the last scan.",
                hint="Scan the devices again, then choose the device again.",
            )
        allow(judge(now, Intent.WRITE, area))
        yield hold


def _require_identity(host: Host, facts: DeviceFacts) -> Identity:
    """Return the identity of a device. Raises RefusedError if this process cannot open the device."""
    if facts.identity is None or claim_on(host) is None:
        raise RefusedError(f"{facts.device} cannot be opened exclusively: it is not on this host.")
    return facts.identity


def _require_same(now: DeviceFacts, meant: Identity) -> None:
    """Raise DeviceGoneError unless the device is the one that was chosen before (`meant`)."""
    if now.identity is None:
        raise DeviceGoneError(f"{now.device} is gone.", hint="Scan the devices again.")
    if differences := meant.differences(now.identity):
        raise AnotherDeviceError(
            f"{now.device} is now a different device: {differences}.",
            hint="Scan the devices again, then choose the device again.",
        )
