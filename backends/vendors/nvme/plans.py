"""From a reading and a wanted value to the change: the very command, what takes it back, the risk. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.change import Change, Write, disk_lock
from backends.identity import Identity, Signature
from backends.model import Target
from backends.settings import Choice, Reading, Risk, Setting
from backends.text import clean
from backends.topology.naming import identity
from backends.vendors.nvme.formats import format_steps, restoring_steps
from backends.vendors.nvme.settings import FIELDS, LBA_FORMAT, stored
from backends.vendors.nvme.sysfs import KernelController, KernelNamespace
from backends.vendors.nvme.view import ControllerView, NamespaceView


def of_controller(controller: KernelController) -> Identity:
    """A controller: serial number, model and the number of its node."""
    return Identity(name=controller.name, serial=controller.serial, model=controller.model, devno=controller.devno)


def of_namespace(namespace: KernelNamespace, key: str) -> Identity:
    """A namespace; for a format without the size, which goes with the format."""
    own = identity(namespace.node)
    return replace(own, size_bytes=None) if key == LBA_FORMAT.key else own


def lock_of(view: ControllerView) -> str:
    """The lock of the only namespace's disk, which runs take too; else one of the controller's own."""
    if isinstance(view, NamespaceView):
        return disk_lock(view.namespace.name)
    return disk_lock(view.only.name) if view.only is not None else f"nvme-{view.controller.name}"


def feature_change(
    view: ControllerView, program: str, target: Target, setting: Setting, now: Reading, value: str, about: Identity
) -> Change:
    """Setting one field of a feature; all other bits are written as they are."""
    field = FIELDS[setting.key]
    present = view.features[field.feature].value
    assert present is not None

    def step(number: int) -> Write:
        words = (f"--feature-id={field.feature}", f"--value=0x{number:08x}")
        return Write(argv=(program, "set-feature", view.controller.device, *words))

    return replace(
        _change(view, target, setting, now, value, about),
        writes=(step(field.into(present, stored(setting.key, value))),),
        undo=(step(present),),
        shares=tuple(key for key, other in FIELDS.items() if other.feature == field.feature and key != setting.key),
    )


def format_change(
    view: NamespaceView,
    program: str,
    target: Target,
    now: Reading,
    value: str,
    about: Identity,
    found: Iterable[Signature],
) -> Change:
    """Formatting the namespace. `found`: what lies on it now, for the person to read."""
    change = _change(view, target, LBA_FORMAT, now, value, about)
    return replace(
        change,
        writes=restoring_steps(program, view) if value == now.now else format_steps(program, view, value),
        undo=restoring_steps(program, view),
        risk=Risk.DESTROYS_DATA,
        risk_text=f"{LBA_FORMAT.risk_text} {contents(view.namespace.device, found)}",
    )


def contents(device: str, found: Iterable[Signature]) -> str:
    """What would be lost, in a sentence."""
    words = [_words(one) for one in found]
    return f"On {device} there is: {', '.join(words)}." if words else f"No filesystem was recognised on {device}."


def _words(one: Signature) -> str:
    what = "something unknown, it could not be probed" if one.kind == "unknown" else one.kind
    label = f" {clean(one.label)!r}" if one.label else ""
    return f"{what}{label} on {one.part}" if one.part else f"{what}{label}"


def _change(
    view: ControllerView, target: Target, setting: Setting, now: Reading, value: str, about: Identity
) -> Change:
    risk = _risk(setting, now.choices, value)
    return Change(
        target=target,
        key=setting.key,
        label=setting.label,
        before=now.now,
        after=value,
        writes=(),
        undo=(),
        risk=risk,
        risk_text=setting.risk_text if risk is not Risk.NONE else "",
        effect=setting.effect,
        persistence=setting.persistence,
        identity=about,
        lock=lock_of(view),
    )


def _risk(setting: Setting, choices: tuple[Choice, ...], value: str) -> Risk:
    """The risk of this value: its choice's own where there are choices."""
    return next((choice.risk for choice in choices if choice.value == value), setting.risk)
