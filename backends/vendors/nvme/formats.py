"""LBA formats of a namespace: supported formats, reasons against a format, and the format command. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from backends.change import ChangeStep
from backends.errors import InvalidValueError
from backends.settings import Choice, Reading, Risk, available_unless, offer
from backends.text import clean
from backends.topology.device_identity import serial, wwn
from backends.vendors.nvme.facts import LbaFormat, NamespaceView
from backends.vendors.nvme.tool import NAMES

_CAN_FORMAT = 1 << 1
_MANAGES_NAMESPACES = 1 << 3


def name_of(entry: LbaFormat, formats: tuple[LbaFormat, ...]) -> str:
    """Return the name of a format, such as `4096` or `512+8`.

    The name includes the format's number if another format has the same sizes.
    """
    sizes = f"{entry.data_bytes}+{entry.metadata_bytes}" if entry.metadata_bytes else str(entry.data_bytes)
    pairs = [(candidate.data_bytes, candidate.metadata_bytes) for candidate in formats]
    return sizes if pairs.count((entry.data_bytes, entry.metadata_bytes)) == 1 else f"{sizes}#{entry.index}"


_NOT_REPORTED = "nvme-cli does not report which formats it has"


def format_reading(view: NamespaceView) -> Reading:
    """Return the reading of the LBA format, with the reason why it may not be changed."""
    ident = view.ident
    formats = ident.formats if ident is not None else ()
    current = ident.current if ident is not None else None
    now = name_of(current, formats) if current is not None else None
    if now is None and ident is not None:
        now = "unknown"
    kernel = view.namespace.logical_block
    effective = why = None
    if current is not None and kernel is not None and kernel != current.data_bytes:
        effective, why = str(kernel), "the kernel has not rescanned the namespace since it was formatted"
    return Reading(
        now=now,
        raw=None if ident is None or ident.in_use is None else f"format {ident.in_use}",
        effective=effective,
        why_effective=why,
        choices=tuple(_choice(entry, formats) for entry in formats),
        availability=available_unless(_blocked_reason(view), _NOT_REPORTED if current is None else None),
    )


def _choice(entry: LbaFormat, formats: tuple[LbaFormat, ...]) -> Choice:
    text = "The namespace is formatted. All data on it is lost."
    if entry.metadata_bytes:
        text += " Only special software uses the metadata. The kernel may show no capacity."
    name = name_of(entry, formats)
    label = entry.sizes_text if "#" not in name else f"{entry.sizes_text}, format {entry.index}"
    return offer(name, text, label=label, risk=Risk.DESTROYS_DATA)


def _blocked_reason(view: NamespaceView) -> str | None:
    """Return the first reason against formatting the namespace, or None.

    Reasons that the user cannot remove come first.
    """
    if view.blind is not None:
        return view.blind
    ident, about = view.ident, view.about
    if ident is None or about is None or not ident.formats:
        return _NOT_REPORTED
    if about.oacs is None or not about.oacs & _CAN_FORMAT:
        return "the drive has no format command"
    if len(ident.formats) < 2:
        return "the drive has no other format"
    if view.controller.transport != "pcie":
        return "the drive is not in this host, so its use by other hosts is not visible"
    if ident.shared is not False:
        return "other controllers, perhaps of other hosts, may use it as well"
    if view.namespace.nsid is None:
        return "the kernel does not report which namespace of the drive it is"
    if serial(view.namespace.node) is None and wwn(view.namespace.node) is None:
        return "it has no serial number and no WWN, so it cannot be distinguished from another device"
    return _neighbours(view) or _use_reason(view) or view.frozen


def _neighbours(view: NamespaceView) -> str | None:
    """Return the reason against a format that would also apply to other namespaces (FNA bit 0), even hidden ones; None
    if it would not.
    """
    about = view.about
    assert about is not None
    if about.fna is not None and not about.fna & 1:
        return None
    neighbours = [namespace.name for namespace in view.namespaces if namespace.name != view.namespace.name]
    if neighbours:
        return f"the drive would also format {', '.join(neighbours)}"
    managed = about.oacs is not None and about.oacs & _MANAGES_NAMESPACES
    if managed and view.allocated != (view.namespace.nsid,):
        return "the drive would format all its namespaces, and there may be others"
    return None


def _use_reason(view: NamespaceView) -> str | None:
    if view.namespace.node.read_only:
        return "it is read-only"
    return f"it is in use: {view.uses[0]}" if view.uses else None


def format_steps(view: NamespaceView, value: str, companions: Mapping[str, str]) -> tuple[ChangeStep, ...]:
    """Return the step that formats the namespace. Without `companions`, metadata is separate and protection off.

    Raises InvalidValueError for a format that the namespace does not have.
    """
    assert view.ident is not None
    wanted = next((entry for entry in view.ident.formats if name_of(entry, view.ident.formats) == value), None)
    if wanted is None:
        raise InvalidValueError(f"{view.namespace.device} has no format {clean(value, 40)}.")
    # Without the namespace number, old versions of nvme-cli format all namespaces.
    target = (view.namespace.device, f"--namespace-id={view.namespace.nsid}", f"--lbaf={wanted.index}")
    return (ChangeStep(argv=(view.program or NAMES[0], "format", *target, *_settings(companions))),)


def companions_now(view: NamespaceView) -> dict[str, str]:
    """Return the options with which the namespace is formatted now, by key of `COMPANIONS`; empty if unknown."""
    ident = view.ident
    if ident is None or ident.current is None:
        return {}
    protection = str(ident.protection or 0)
    first = " first" if ident.protection and ident.protection_first else ""
    return {"metadata": EXTENDED if ident.extended else "separate", "protection": protection + first}


EXTENDED = "extended"
COMPANIONS = {
    "metadata": re.compile(f"{EXTENDED}|separate"),
    "protection": re.compile(r"0|[123](?: first)?"),
}
"""Patterns of the options that are restored along with a format: placement of metadata, end-to-end protection and its
position.
"""


def companions_in(args: Sequence[str]) -> dict[str, str] | None:
    """Return the options in the arguments of a recorded format command; None if one is illegal."""
    fields: dict[str, str] = {}
    for word in args:
        option, _, text = word.partition("=")
        if option in fields or option not in _OPTIONS or _OPTIONS[option].fullmatch(text) is None:
            return None
        fields[option] = text
    if "--lbaf" not in fields:
        return None
    first = " first" if fields.get("--pil") == "1" and fields.get("--pi", "0") != "0" else ""
    return {
        "metadata": EXTENDED if fields.get("--ms") == "1" else "separate",
        "protection": fields.get("--pi", "0") + first,
    }


_OPTIONS = {
    "--lbaf": re.compile(r"[0-9]{1,2}"),
    "--ms": re.compile(r"[01]"),
    "--pi": re.compile(r"[0-3]"),
    "--pil": re.compile(r"[01]"),
}


def _settings(companions: Mapping[str, str]) -> list[str]:
    protection, _, first = companions.get("protection", "0").partition(" ")
    options = ["--ms=1"] if companions.get("metadata") == EXTENDED else []
    options += [f"--pi={protection}"] if protection != "0" else []
    return [*options, "--pil=1"] if first else options
