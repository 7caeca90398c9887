"""Changes of NVMe settings: the exact command, the command that undoes it, and the risk. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from backends.change import Change, ChangeStep
from backends.errors import RefusedError
from backends.identity import Identity, Signature
from backends.text import clean
from backends.topology.device_identity import identity
from backends.vendors.nvme.facts import ControllerView, NamespaceView
from backends.vendors.nvme.formats import companions_in, format_steps
from backends.vendors.nvme.settings import FIELDS, LBA_FORMAT, number_of
from backends.vendors.nvme.settings import value_of_number as shown_as
from backends.vendors.nvme.tool import NAMES

_VALUE = re.compile(r"[0-9a-f]{8}")


def identity_for(view: ControllerView, key: str) -> Identity:
    """Return the identity of the controller or namespace; for a format, without the size, which the format changes."""
    if isinstance(view, NamespaceView):
        namespace = identity(view.namespace.node)
        return replace(namespace, size_bytes=None) if key == LBA_FORMAT.key else namespace
    device = view.controller
    return Identity(name=device.name, serial=device.serial, model=device.model, devno=device.devno)


def locked_disk(view: ControllerView) -> str | None:
    """Return the kernel name of the namespace whose lock a change takes. Benchmark runs take the lock as well.

    For a controller, return its only namespace; None if it has several or none.
    """
    if isinstance(view, NamespaceView):
        return view.namespace.name
    return view.only.name if view.only is not None else None


def feature_steps(view: ControllerView, key: str, value: str | None) -> tuple[ChangeStep, ...]:
    """Return the command that sets one field of a feature and keeps all other bits.

    `value`: the new value of the setting `key`; None keeps the current bits of its field as well.
    """
    field = FIELDS[key]
    present = view.feature(field.feature).value
    if present is None:
        return ()
    number = present if value is None else field.into(present, number_of(key, value))
    pair = (f"--feature-id={field.feature}", f"--value=0x{number:08x}")
    return (ChangeStep(argv=(view.program or NAMES[0], "set-feature", view.controller.device, *pair)),)


def sharing(key: str) -> tuple[str, ...]:
    """Return the keys of the other settings that are in the same feature as the setting `key`."""
    return tuple(sharer for sharer, field in FIELDS.items() if field.feature == FIELDS[key].feature and sharer != key)


def require_own_step(view: ControllerView, change: Change, argv: tuple[str, ...]) -> None:
    """Raise RefusedError if a step is not a command of this setting for this device.

    Steps may come from a journal, which is not trusted. Bits of other settings in the feature must have their current
    value, so that undoing one change does not revert another.
    """
    shown = clean(" ".join(argv), 300)
    if change.key == LBA_FORMAT.key and isinstance(view, NamespaceView):
        is_complete = view.ident is not None and view.namespace.nsid is not None
        format_argv = format_steps(view, change.after, {})[0].argv if is_complete else ()
        if not format_argv or argv[: len(format_argv)] != format_argv or companions_in(argv[4:]) is None:
            raise RefusedError(
                f"Refusing to run a step that does not format {view.namespace.device} to {clean(change.after)}: "
                f"{shown}."
            )
        return
    field = FIELDS.get(change.key)
    if field is None:
        raise RefusedError(f"{change.target} has no setting {clean(change.key)}.")
    front = (view.program, "set-feature", view.controller.device, f"--feature-id={field.feature}")
    value = argv[4].removeprefix("--value=0x") if len(argv) == 5 else ""
    number = int(value, 16) if _VALUE.fullmatch(value) else None
    if argv[:4] != front or number is None or shown_as(change.key, field.of(number)) != change.after:
        raise RefusedError(
            f"Refusing the change: the recorded step does not set {change.label.lower()} of "
            f"{view.controller.device}: {shown}."
        )
    present = view.feature(field.feature).value
    if present is None or present & ~field.mask != number & ~field.mask:
        raise RefusedError(
            f"{change.label.lower()} shares its value with another setting, which was changed since. Undo would "
            "revert that change as well.",
            hint="Undo the other change first, or set this value again.",
        )


def contents(device: str, signatures: Iterable[Signature]) -> str:
    """Return a sentence about the data that would be lost."""
    parts = [_signature_text(signature) for signature in signatures]
    return f"{device} contains: {', '.join(parts)}." if parts else f"{device} has no known filesystem."


def _signature_text(signature: Signature) -> str:
    kind = "unknown content (probing failed)" if signature.kind == "unknown" else signature.kind
    label = f" {clean(signature.label)!r}" if signature.label else ""
    return f"{kind}{label} on {signature.part}" if signature.part else f"{kind}{label}"
