"""Checks whether raidbench has what it needs on this machine, and how to fix what is missing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from app.core.distro_packages import install_hint
from app.core.session.journal import Journal
from app.core.session.journals import journal_on
from app.core.session.paths import ROOTS_CONFIG, ROOTS_STATE, Paths, private_folder
from app.core.session.trusted_file import next_step
from app.core.unreadable_state import blocking_errors, interrupted_errors
from backends.errors import RaidbenchError
from backends.host import Host
from backends.model import Controller
from backends.pci import bus_controllers, find_unreported
from backends.protocol import InventoryBackend
from backends.text import clean
from backends.values import dataclass

READS_IN_USE = "reads in use"
"""Name of the item that says whether read-only jobs can measure mounted devices."""


class DoctorStatus(StrEnum):
    """Result of one check."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorItem:
    """The result of one check, which is one line of the report."""

    grade: DoctorStatus
    """Result of the check."""
    name: str
    """Subject of the check, in a word or two."""
    detail: str
    """The result in words."""
    advice: str = ""
    """The remedy; "" if none is needed."""


def _ok(name: str, detail: str) -> DoctorItem:
    return DoctorItem(grade=DoctorStatus.OK, name=name, detail=detail)


def _warning(name: str, detail: str, advice: str) -> DoctorItem:
    return DoctorItem(grade=DoctorStatus.WARN, name=name, detail=detail, advice=advice)


def _missing(name: str, detail: str, advice: str) -> DoctorItem:
    return DoctorItem(grade=DoctorStatus.MISSING, name=name, detail=detail, advice=advice)


_TOOLS = (
    ("lsblk", "shows the content of devices if udev does not"),
    ("blkid", "finds filesystems before anything is written to a device"),
    ("udevadm", "activates persistent settings at once"),
)


async def examine(host: Host, paths: Paths, backends: Mapping[str, InventoryBackend]) -> tuple[DoctorItem, ...]:
    """Run all checks and return their items. The checks change nothing, but may create raidbench's own folders.

    Never raises RaidbenchError.
    """
    doctor_items = [
        *await _fio(host),
        *_tools(host),
        _root(host),
        *_environment(paths),
        *_storage(host, paths),
        *_unresolved(host, paths),
        await _trials(host, paths),
        *_terminal(),
        await _kernel(host),
    ]
    fields = {name: await _backend(name, backend) for name, backend in backends.items()}
    for vendor, finding in await _unreported(host, backends):
        fields.setdefault(vendor, []).append(finding)
    complete = [name for name, problems in fields.items() if not problems]
    if complete:
        of_them = "" if len(complete) == len(fields) else f" for {len(complete)} of {len(fields)}"
        doctor_items.append(_ok("vendors", f"complete{of_them}"))
    return (*doctor_items, *(problem for problems in fields.values() for problem in problems))


async def _fio(host: Host) -> list[DoctorItem]:
    from app.core.fio.preflight import preflight

    try:
        ready = await preflight(host)
    except RaidbenchError as error:
        return [_missing("fio", clean(error.message, 400), error.hint)]
    doctor_items = [_ok("fio", f"{ready.version} in {clean(ready.path, 200)}")]
    for engine, why in ready.refused.items():
        detail = f"{engine} does not work here: {clean(why.reason, 400)}"
        doctor_items.append(_warning("fio engines", detail, clean(why.hint, 400)))
    if not ready.refused:
        doctor_items.append(_ok("fio engines", "io_uring and libaio work if fio includes them"))
    return doctor_items


def _tools(host: Host) -> list[DoctorItem]:
    doctor_items = []
    for name, purpose in _TOOLS:
        path = host.which((name,))
        if path is not None:
            doctor_items.append(_ok(name, f"{clean(path, 200)}: {purpose}"))
        else:
            doctor_items.append(
                _warning(
                    name,
                    f"not found; it {purpose}",
                    install_hint(host, name),
                )
            )
    return doctor_items


def _root(host: Host) -> DoctorItem:
    if host.root_side is not None:
        return _ok("rights", "only the root helper runs as root")
    if host.is_root:
        return _ok("rights", "raidbench runs as root; a normal user needs only the root helper (sudo)")
    way = next((name for name in ("sudo", "pkexec") if host.which((name,)) is not None), None)
    return _warning(
        "rights",
        "not root: settings can be viewed and planned, but not changed; raw devices cannot be read",
        f"raidbench starts its root helper with {way} when it is needed. Scratch files need no root."
        if way is not None
        else "Install sudo or pkexec, or log in as root to change settings. Scratch files need no root.",
    )


def _environment(paths: Paths) -> list[DoctorItem]:
    """Return an item if raidbench runs as root with a HOME to which other users can write; else an empty list."""
    if paths.sessions != ROOTS_STATE / "sessions" and paths.config != ROOTS_CONFIG:
        return []
    places = f"sessions are in {paths.sessions}, the configuration is {paths.config}"
    home = clean(os.environ.get("HOME", ""), 200)
    return [_ok("environment", f"other users can write to HOME ({home}): {places}")]


def _storage(host: Host, paths: Paths) -> list[DoctorItem]:
    sessions = _folder("sessions", paths.sessions, "records runs and changes")
    if host.root_side is not None:
        return [sessions, _ok("journal", "managed by the root helper, as are the locks")]
    places = (
        ("journal", paths.journal, "required for changes"),
        ("locks", paths.locks, "prevents changes of one device by two programs"),
    )
    return [sessions, *(_folder(name, folder, purpose) for name, folder, purpose in places)]


def _folder(name: str, folder: Path, purpose: str) -> DoctorItem:
    """Return the item about a folder. To check the folder, create a file in it, and lock, sync and delete that file."""
    shown = clean(str(folder), 300)
    probe = folder / f".doctor-{os.getpid()}"
    try:
        private_folder(folder)
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, b"raidbench\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            probe.unlink()
    except OSError as error:
        return _missing(name, f"{shown} cannot be written: {error.strerror} ({purpose})", next_step(error, folder))
    return _ok(name, shown)


def _unresolved(host: Host, paths: Paths) -> list[DoctorItem]:
    journal = journal_on(host, paths.journal)
    if unreadable := (*blocking_errors(journal), *interrupted_errors(paths)):
        return [_warning("changes", clean(error.message, 2000), clean(error.hint, 2000)) for error in unreadable]
    return [_interrupted(journal)]


def _interrupted(journal: Journal) -> DoctorItem:
    left = journal.unresolved()
    if not left:
        return _ok("changes", "no interrupted changes")
    named = ", ".join(clean(f"{intent.change.label} of {intent.change.target}", 80) for intent in left)
    return _warning("changes", f"interrupted by a crash: {named}", "raidbench recover")


async def _trials(host: Host, paths: Paths) -> DoctorItem:
    """Return the item about trials. To check them, start the watchdog without any change on trial."""
    from app.core.changes.trial import rehearse

    if not host.capabilities.shares_watchdog:
        return _ok("trials", "no watchdog needed: it only protects devices of this host")
    try:
        if host.root_side is None:
            await rehearse(paths)
        else:
            await host.root_side.ask("rehearse")
    except RaidbenchError as error:
        reason = f"not available: the watchdog cannot be started: {clean(error.message, 400)}"
        return _missing(
            "trials", reason, clean(error.hint, 400) or "Change settings without --trial, and use `raidbench undo`."
        )
    return _ok("trials", "available: the watchdog can be started")


def _terminal() -> list[DoctorItem]:
    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "none"
    term = os.environ.get("TERM", "")
    locale = ("locale", f"output is {clean(encoding, 40)}")
    terminal = ("terminal", f"TERM is {clean(term, 40) or 'not set'}")
    graphs = "Graphs use ASCII characters. For finer graphs, set LANG to a UTF-8 locale."
    cursor = "The workbench needs a terminal with cursor control. The commands do not."
    return [
        _ok(*locale) if encoding.lower().replace("-", "") == "utf8" else _warning(*locale, graphs),
        _warning(*terminal, cursor) if term in ("", "dumb") else _ok(*terminal),
    ]


async def _kernel(host: Host) -> DoctorItem:
    """Return the item that says whether the kernel refuses writes to mounted devices.

    Linux 6.8 and newer refuses them if it was built with CONFIG_BLK_DEV_WRITE_MOUNTED=n.
    """
    release = await host.read("/proc/sys/kernel/osrelease") or ""
    command_line = (await host.read("/proc/cmdline") or "").split()
    options = [word.partition("=")[2] for word in command_line if word.startswith("bdev_allow_write_mounted=")]
    config = await host.read(f"/boot/config-{release}") or ""
    if options:
        refuses = options[-1].lower() in ("0", "n", "no", "off", "false")
    elif "CONFIG_BLK_DEV_WRITE_MOUNTED" in config:
        refuses = "CONFIG_BLK_DEV_WRITE_MOUNTED=y" not in config
    else:
        text = "unknown whether the kernel refuses writes to mounted devices"
        return _ok("kernel", f"{clean(release, 60)}; {text}; raidbench always does")
    text = "refuses" if refuses else "does not refuse"
    detail = f"{clean(release, 60)} {text} writes to mounted devices; raidbench always does"
    return _ok("kernel", detail)


_BUS = "PCI bus"
"""Name of the item about a controller whose vendor is unknown."""


async def _unreported(host: Host, backends: Mapping[str, InventoryBackend]) -> list[tuple[str, DoctorItem]]:
    """Return, for each storage controller on the PCI bus that no tool reports, its vendor and an item."""
    cards = await bus_controllers(host)
    if not cards:
        return []
    controllers: list[Controller] = []
    for backend in backends.values():
        with contextlib.suppress(RaidbenchError):
            controllers += (await backend.inventory()).controllers
    pairs = []
    for card in find_unreported(cards, controllers):
        driver = f"driver {clean(card.driver, 40)}" if card.driver is not None else "no driver"
        detail = (
            f"{clean(card.address, 40)} (PCI {clean(card.ids, 20)}, {driver}) is on the bus, but no tool reports it"
        )
        vendor = card.vendor if card.vendor is not None and card.vendor in backends else _BUS
        pairs.append((vendor, _warning(vendor, detail, card.advice)))
    return pairs


async def _backend(name: str, backend: InventoryBackend) -> list[DoctorItem]:
    """Return an item for each problem that a backend reports about its tools and devices."""
    try:
        problems = await backend.diagnose()
    except RaidbenchError as error:
        return [_missing(name, clean(error.message, 400), clean(error.hint, 400))]
    return [
        _warning(clean(problem.where), clean(problem.message, 400), clean(problem.hint, 400)) for problem in problems
    ]
