"""From a reading and a wanted value to the change: the very command, what takes it back, the risk. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.change import Change, Write
from backends.changing import Wanted
from backends.identity import Identity, Signature
from backends.settings import Risk
from backends.text import clean
from backends.topology.naming import identity
from backends.vendors.nvme.formats import format_steps, restoring_steps
from backends.vendors.nvme.settings import FIELDS, LBA_FORMAT, stored
from backends.vendors.nvme.sysfs import KernelController, KernelNamespace
from backends.vendors.nvme.tool import NAMES
from backends.vendors.nvme.view import ControllerView, NamespaceView


def of_controller(controller: KernelController) -> Identity:
    """A controller: serial number, model and the number of its node."""
    return Identity(name=controller.name, serial=controller.serial, model=controller.model, devno=controller.devno)


def of_namespace(namespace: KernelNamespace, key: str) -> Identity:
    """A namespace; for a format without the size, which goes with the format."""
    own = identity(namespace.node)
    return replace(own, size_bytes=None) if key == LBA_FORMAT.key else own


def identity_for(view: ControllerView, key: str) -> Identity:
    """What a change of this setting is planned for."""
    return of_namespace(view.namespace, key) if isinstance(view, NamespaceView) else of_controller(view.controller)


def locked_disk(view: ControllerView) -> str | None:
    """The disk whose lock a change takes, which runs take too: the only namespace; None where there are several."""
    if isinstance(view, NamespaceView):
        return view.namespace.name
    return view.only.name if view.only is not None else None


def controller_lock(controller: KernelController) -> str:
    """The lock of one with several namespaces: by what it is, or by its name if it does not tell."""
    return f"nvme-{controller.serial or controller.name}"


def feature_change(view: ControllerView, wish: Wanted, lock: str) -> Change:
    """Setting one field of a feature; all other bits are written as they are."""
    key = wish.setting.key
    field = FIELDS[key]
    present = view.features[field.feature].value
    assert present is not None

    def step(number: int) -> Write:
        words = (f"--feature-id={field.feature}", f"--value=0x{number:08x}")
        return Write(argv=(view.program or NAMES[0], "set-feature", view.controller.device, *words))

    forward, back = step(field.into(present, stored(key, wish.value))), step(present)
    change = wish.change((forward,), (back,), identity_for(view, key), lock)
    return replace(
        change, shares=tuple(other for other, one in FIELDS.items() if one.feature == field.feature and other != key)
    )


def format_change(view: NamespaceView, wish: Wanted, found: Iterable[Signature], lock: str) -> Change:
    """Formatting the namespace. `found`: what lies on it now, for the person to read."""
    back = restoring_steps(view)
    forward = back if wish.value == wish.now.now else format_steps(view, wish.value)
    change = wish.change(forward, back, identity_for(view, wish.setting.key), lock, Risk.DESTROYS_DATA)
    return replace(change, risk_text=f"{change.risk_text} {contents(view.namespace.device, found)}")


def contents(device: str, found: Iterable[Signature]) -> str:
    """What would be lost, in a sentence."""
    words = [_words(one) for one in found]
    return f"On {device} there is: {', '.join(words)}." if words else f"No filesystem was recognised on {device}."


def _words(one: Signature) -> str:
    what = "something unknown, it could not be probed" if one.kind == "unknown" else one.kind
    label = f" {clean(one.label)!r}" if one.label else ""
    return f"{what}{label} on {one.part}" if one.part else f"{what}{label}"
