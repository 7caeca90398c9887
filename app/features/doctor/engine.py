"""What works here, what is missing, and what to do about it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from app.core.distro_packages import how_to_get
from app.core.session.journals import journal_on
from app.core.session.paths import ROOTS_CONFIG, ROOTS_STATE, Paths, private_folder
from app.core.session.trusted_file import next_step
from backends.errors import RaidbenchError
from backends.host import Host
from backends.model import Controller
from backends.pci import bus_cards, unreported
from backends.protocol import InventoryBackend
from backends.text import clean
from backends.values import dataclass

READS_IN_USE = "reads in use"
"""The finding that says whether what is mounted can be measured by reading."""


class DoctorStatus(StrEnum):
    """How a thing is."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorItem:
    """One line of the doctor's."""

    grade: DoctorStatus
    """How it is."""
    what: str
    """The thing, in a word or two."""
    detail: str
    """What was found."""
    advice: str = ""
    """What to do; "" when nothing has to be done."""


_TOOLS = (
    ("lsblk", "tells what lies on devices where udev does not"),
    ("blkid", "looks for filesystems before anything is written to a device"),
    ("udevadm", "makes kept settings known at once"),
)


async def examine(host: Host, paths: Paths, backends: Mapping[str, InventoryBackend]) -> tuple[DoctorItem, ...]:
    """Every finding; nothing is changed but the folders of raidbench itself made. Never raises RaidbenchError."""
    doctor_items = [
        *await _fio(host),
        *_tools(host),
        _root(host),
        *_environment(paths),
        *_storage(host, paths),
        _unresolved(host, paths),
        await _trials(host, paths),
        *_terminal(),
        await _kernel(host),
    ]
    fields = {name: await _backend(name, backend) for name, backend in backends.items()}
    for vendor, finding in await _unreported(host, backends):
        fields.setdefault(vendor, []).append(finding)
    whole = [name for name, problems in fields.items() if not problems]
    if whole:
        of_them = "" if len(whole) == len(fields) else f" for {len(whole)} of {len(fields)}"
        doctor_items.append(DoctorItem(grade=DoctorStatus.OK, what="vendors", detail=f"nothing is missing{of_them}"))
    return (*doctor_items, *(problem for problems in fields.values() for problem in problems))


async def _fio(host: Host) -> list[DoctorItem]:
    from app.core.fio.preflight import preflight

    try:
        ready = await preflight(host)
    except RaidbenchError as error:
        return [DoctorItem(grade=DoctorStatus.MISSING, what="fio", detail=clean(error.message, 400), advice=error.hint)]
    doctor_items = [
        DoctorItem(grade=DoctorStatus.OK, what="fio", detail=f"{ready.version} in {clean(ready.path, 200)}")
    ]
    for engine, why in ready.refused.items():
        detail = f"{engine} does not work here: {clean(why.reason, 400)}"
        doctor_items.append(
            DoctorItem(grade=DoctorStatus.WARN, what="fio engines", detail=detail, advice=clean(why.hint, 400))
        )
    if not ready.refused:
        doctor_items.append(
            DoctorItem(grade=DoctorStatus.OK, what="fio engines", detail="io_uring and libaio work, as far as built in")
        )
    return doctor_items


def _tools(host: Host) -> list[DoctorItem]:
    doctor_items = []
    for name, purpose in _TOOLS:
        path = host.which((name,))
        if path is not None:
            doctor_items.append(DoctorItem(grade=DoctorStatus.OK, what=name, detail=f"{clean(path, 200)}: {purpose}"))
        else:
            doctor_items.append(
                DoctorItem(
                    grade=DoctorStatus.WARN, what=name, detail=f"not found: it {purpose}", advice=how_to_get(host, name)
                )
            )
    return doctor_items


def _root(host: Host) -> DoctorItem:
    if host.root_side is not None:
        return DoctorItem(
            grade=DoctorStatus.OK,
            what="rights",
            detail="a helper does what needs root; nothing else of raidbench is root",
        )
    if host.is_root:
        return DoctorItem(
            grade=DoctorStatus.OK,
            what="rights",
            detail="root as a whole; started by a user it needs a helper only (sudo)",
        )
    way = next((name for name in ("sudo", "pkexec") if host.which((name,)) is not None), None)
    return DoctorItem(
        grade=DoctorStatus.WARN,
        what="rights",
        detail="not root: settings can be seen and planned, not changed; raw devices cannot be read",
        advice=f"What needs root is asked of {way} when it is wanted. Scratch files need no root."
        if way is not None
        else "Neither sudo nor pkexec is installed: log in as root to change settings. Scratch files need no root.",
    )


def _environment(paths: Paths) -> list[DoctorItem]:
    """What is said where root was started in the environment of another user."""
    if paths.sessions != ROOTS_STATE / "sessions" and paths.config != ROOTS_CONFIG:
        return []
    places = f"sessions are kept in {paths.sessions}, and {paths.config} is the configuration"
    home = clean(os.environ.get("HOME", ""), 200)
    return [
        DoctorItem(
            grade=DoctorStatus.OK, what="environment", detail=f"HOME is {home}, where others may write: {places}"
        )
    ]


def _storage(host: Host, paths: Paths) -> list[DoctorItem]:
    sessions = _folder("sessions", paths.sessions, "where runs and changes are recorded")
    if host.root_side is not None:
        return [
            sessions,
            DoctorItem(grade=DoctorStatus.OK, what="journal", detail="kept by the helper, and so are the locks"),
        ]
    places = (
        ("journal", paths.journal, "without it nothing may be changed"),
        ("locks", paths.locks, "so that two programs do not change the same device"),
    )
    return [sessions, *(_folder(what, folder, purpose) for what, folder, purpose in places)]


def _folder(what: str, folder: Path, purpose: str) -> DoctorItem:
    """Return whether a file can be made, locked and synced in the folder."""
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
        return DoctorItem(
            grade=DoctorStatus.MISSING,
            what=what,
            detail=f"{shown} cannot be written: {error.strerror}; {purpose}",
            advice=next_step(error, folder),
        )
    return DoctorItem(grade=DoctorStatus.OK, what=what, detail=shown)


def _unresolved(host: Host, paths: Paths) -> DoctorItem:
    journal = journal_on(host, paths.journal)
    if (unknown := journal.newer()) is not None:
        return DoctorItem(
            grade=DoctorStatus.WARN, what="changes", detail=clean(unknown.message, 300), advice=unknown.hint
        )
    left = journal.unresolved()
    if not left:
        return DoctorItem(grade=DoctorStatus.OK, what="changes", detail="none was left in the middle")
    named = ", ".join(clean(f"{intent.change.target} {intent.change.key}", 80) for intent in left)
    return DoctorItem(
        grade=DoctorStatus.WARN,
        what="changes",
        detail=f"left in the middle by a crash: {named}",
        advice="raidbench recover",
    )


async def _trials(host: Host, paths: Paths) -> DoctorItem:
    """Whether the watchdog of a trial can be armed: it is started as a trial starts it, with nothing on trial."""
    from app.core.changes.trial import rehearse

    if not host.capabilities.shares_watchdog:
        return DoctorItem(
            grade=DoctorStatus.OK,
            what="trials",
            detail="need no watchdog here: it is for the devices of the machine that raidbench runs on",
        )
    try:
        if host.root_side is None:
            await rehearse(paths)
        else:
            await host.root_side.ask("rehearse")
    except RaidbenchError as error:
        return DoctorItem(
            grade=DoctorStatus.MISSING,
            what="trials",
            detail=f"do not work, the watchdog cannot be armed: {clean(error.message, 400)}",
            advice=clean(error.hint, 400) or "Apply without a trial, then undo.",
        )
    return DoctorItem(grade=DoctorStatus.OK, what="trials", detail="work: the watchdog can be armed")


def _terminal() -> list[DoctorItem]:
    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "none"
    utf8 = encoding.lower().replace("-", "") == "utf8"
    doctor_items = [
        DoctorItem(
            grade=DoctorStatus.OK if utf8 else DoctorStatus.WARN,
            what="locale",
            detail=f"output is {clean(encoding, 40)}",
            advice="" if utf8 else "Graphs are drawn with ASCII; set LANG to a UTF-8 locale for finer ones.",
        )
    ]
    term = os.environ.get("TERM", "")
    usable = term not in ("", "dumb")
    doctor_items.append(
        DoctorItem(
            grade=DoctorStatus.OK if usable else DoctorStatus.WARN,
            what="terminal",
            detail=f"TERM is {clean(term, 40) or 'not set'}",
            advice="" if usable else "The workbench needs a terminal that can move its cursor; the commands do not.",
        )
    )
    return doctor_items


async def _kernel(host: Host) -> DoctorItem:
    """Whether the kernel itself refuses writes to mounted devices (Linux >= 6.8, CONFIG_BLK_DEV_WRITE_MOUNTED=n)."""
    release = await host.read("/proc/sys/kernel/osrelease") or ""
    command_line = (await host.read("/proc/cmdline") or "").split()
    options = [word.partition("=")[2] for word in command_line if word.startswith("bdev_allow_write_mounted=")]
    config = await host.read(f"/boot/config-{release}") or ""
    if options:
        refuses = options[-1].lower() in ("0", "n", "no", "off", "false")
    elif "CONFIG_BLK_DEV_WRITE_MOUNTED" in config:
        refuses = "CONFIG_BLK_DEV_WRITE_MOUNTED=y" not in config
    else:
        text = "it is not known whether the kernel refuses writes to mounted devices"
        return DoctorItem(
            grade=DoctorStatus.OK, what="kernel", detail=f"{clean(release, 60)}; {text}; raidbench does in any case"
        )
    text = "refuses" if refuses else "does not refuse"
    detail = f"{clean(release, 60)} {text} writes to mounted devices by itself; raidbench does in any case"
    return DoctorItem(grade=DoctorStatus.OK, what="kernel", detail=detail)


_BUS = "PCI bus"
"""What a controller is told of by that no vendor is known to list."""


async def _unreported(host: Host, backends: Mapping[str, InventoryBackend]) -> list[tuple[str, DoctorItem]]:
    """Return a finding, with its vendor, for each storage controller on the bus that no tool reports."""
    cards = await bus_cards(host)
    if not cards:
        return []
    controllers: list[Controller] = []
    for backend in backends.values():
        with contextlib.suppress(RaidbenchError):
            controllers += (await backend.inventory()).controllers
    pairs = []
    for card in unreported(cards, controllers):
        driver = f"driver {clean(card.driver, 40)}" if card.driver is not None else "no driver"
        detail = (
            f"{clean(card.address, 40)} (PCI {clean(card.ids, 20)}, {driver}) is on the bus, and no tool reports it"
        )
        vendor = card.vendor if card.vendor is not None and card.vendor in backends else _BUS
        pairs.append((vendor, DoctorItem(grade=DoctorStatus.WARN, what=vendor, detail=detail, advice=card.advice)))
    return pairs


async def _backend(name: str, backend: InventoryBackend) -> list[DoctorItem]:
    """What a vendor misses."""
    try:
        problems = await backend.diagnose()
    except RaidbenchError as error:
        return [
            DoctorItem(
                grade=DoctorStatus.MISSING, what=name, detail=clean(error.message, 400), advice=clean(error.hint, 400)
            )
        ]
    return [
        DoctorItem(
            grade=DoctorStatus.WARN,
            what=clean(problem.where),
            detail=clean(problem.message, 400),
            advice=clean(problem.hint, 400),
        )
        for problem in problems
    ]
