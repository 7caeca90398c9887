"""What the helper reads: files by pattern, programs by the words that they may be given. Closed tables.

Nothing here changes a machine. A change is planned anew by the helper itself (`desk`), whatever words it came with.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence

from backends.hosts.local.programs import find_program, resolve_roots
from backends.topology.mapped import STATUS, TABLE
from backends.topology.room_look import THIN_COUNT
from backends.vendors.areca import presence as areca
from backends.vendors.fusionio import tool as fusionio
from backends.vendors.lvm import asking
from backends.vendors.lvm.facts import LVS, PVS
from backends.vendors.marvell import presence as marvell
from backends.vendors.megaraid.presence import MEGACLI, STORCLI_7, STORCLI_7_PLACES, STORCLI_8, STORCLI_8_PLACES
from backends.vendors.nvme.identify import CURRENT, SUPPORTED
from backends.vendors.scsi import hdparm, sdparm, smartctl
from backends.vendors.smartarray.presence import ARCCONF, ARCCONF_PLACES, SSACLI, SSACLI_PLACES
from backends.vendors.smcli import presence as smcli
from backends.vendors.smcli import words as smcli_words
from backends.vendors.threeware import presence as threeware

_MOUNTS = "/proc/1/mountinfo"
_SPACE = "/proc/1/ns/mnt"

DEVICE = "DEVICE"
"""In the table below: the node of a block device, or of an NVMe or SCSI generic character device."""

_NODE = re.compile(r"/dev(/[A-Za-z0-9][A-Za-z0-9_.:+-]*){1,3}", re.ASCII)
_CHARACTER = re.compile(r"/dev/(nvme\d+(n\d+)?|sg\d+|bsg/[^/]+)", re.ASCII)

_ANY_CARD = r"-a\d{1,3}"
_CARD = r"/c\d{1,3}"
_PROPERTIES = "patrolread|cc|perfmode|aso|ncq|copyback|cachebypass"

_STORCLI = (
    ("show",),
    (_CARD, "show"),
    (_CARD, "show", f"all|{_PROPERTIES}"),
    (rf"{_CARD}/(vall|v\d{{1,4}})", "show"),
    (rf"{_CARD}/(vall|v\d{{1,4}})", "show", "all|autobgi"),
    (rf"{_CARD}(/eall)?/sall", "show"),
    (rf"{_CARD}(/eall)?/sall", "show", "all|rebuild"),
    (rf"{_CARD}/(cv|bbu)", "show", "all"),
)

_MEGACLI = (
    ("-v",),
    ("-adpCount",),
    ("-AdpAllInfo", f"-aALL|{_ANY_CARD}"),
    ("-AdpGetPciInfo|-LdPdInfo|-PDList|-AdpBbuCmd", _ANY_CARD),
    ("-LDInfo", "-LALL", _ANY_CARD),
    ("-ELF", "-ControllerFeatures", _ANY_CARD),
    ("-AdpPR|-AdpCcSched", "-Info", _ANY_CARD),
    ("-AdpGetProp", "NCQDsply", _ANY_CARD),
    ("-LDBI", "-GetSetting", "-LALL", _ANY_CARD),
    ("-LDInit|-LDBI|-LDCC", "-ShowProg", "-LALL", _ANY_CARD),
    ("-PDRbld", "-ShowProg", r"-PhysDrv\[\d{0,5}:\d{1,5}(,\d{0,5}:\d{1,5}){0,255}\]", _ANY_CARD),
)

_SLOT = r"slot=[0-9]{1,3}[A-Za-z]?"

_SSACLI = (
    ("ctrl", "all", "show"),
    ("ctrl", _SLOT, "show", "config", "detail"),
    ("ctrl", _SLOT, "modify", r"[a-z]{2,40}=\?"),
    ("ctrl", _SLOT, "ld", r"\d{1,5}", "modify", r"[a-z]{2,40}=\?"),
)

_ARCCONF = (
    ("list|getversion|setcache",),
    ("getconfig", r"\d{1,3}", "al"),
    ("getstatus", r"\d{1,3}"),
)

_NVME = tuple(
    ("|".join(words), DEVICE, *more)
    for words, more in (
        (("id-ctrl", "id-ns", "smart-log"), ()),
        (("id-ctrl", "id-ns", "smart-log"), ("-o", "json")),
        (("list-ns",), ("--all",)),
        (("get-feature",), (r"--feature-id=\d{1,3}", f"--sel=({CURRENT}|{SUPPORTED})")),
    )
)

_PROGRAMS: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
    ("nvme",): _NVME,
    ("hdparm",): ((*map(re.escape, hdparm.READ), DEVICE),),
    ("sdparm",): ((re.escape(f"--get={','.join(sdparm.FIELDS)}"), DEVICE),),
    ("smartctl",): ((*map(re.escape, smartctl.ASK), DEVICE),),
    (fusionio.STATUS,): tuple(tuple(map(re.escape, words)) for words in fusionio.READS),
    smcli.PLACES: (
        ("-d",),
        *(
            ("-n", r"[A-Za-z0-9_#][A-Za-z0-9_#-]{0,63}", "-c", f"show {one.system} profile;")
            for one in smcli_words.DIALECTS
        ),
    ),
    threeware.PLACES: threeware.READS,
    areca.PLACES: (*areca.READS, areca.DRIVE_READ, areca.UNRECORDED),
    (*marvell.PLACES, *marvell.NVME_PLACES): (*marvell.READS, marvell.DRIVE_READ),
    ("lvs",): (tuple(map(re.escape, LVS)), asking.WITHOUT, tuple(map(re.escape, THIN_COUNT))),
    ("pvs",): (tuple(map(re.escape, PVS)),),
    ("dmsetup",): (TABLE, STATUS, ("status",)),
    ("mdadm",): (("--detail", "--export", DEVICE), ("--examine", DEVICE), ("--detail-platform",)),
    (*STORCLI_7, *STORCLI_7_PLACES, *STORCLI_8, *STORCLI_8_PLACES): tuple(
        (*words, *ending) for words in _STORCLI for ending in (("J", "nolog"), ("J",))
    ),
    (*SSACLI, *SSACLI_PLACES): _SSACLI,
    (*ARCCONF, *ARCCONF_PLACES): _ARCCONF,
    MEGACLI: tuple((*words, "-NoLog") for words in _MEGACLI),
}
"""By the names and places of a program: what may follow it, each word a pattern for the whole word."""

_SHAPES = {name: shapes for names, shapes in _PROGRAMS.items() for name in names}


def may_read(path: str) -> bool:
    """Whether root reads this file for the user: the mounts of process 1, which hidepid keeps from others (proc(5)).

    Nothing below /sys: what raidbench reads there is open to everybody, and what is not are keys and passwords
    (dhchap_secret of NVMe, password of iSCSI sessions), PCI configuration space and addresses of the kernel.
    """
    return path == _MOUNTS


def may_follow(path: str) -> bool:
    """Whether root tells where this link leads."""
    return path == _SPACE


def command_of(argv: Sequence[str]) -> tuple[str, ...] | None:
    """The command line to be run for these words: root's own program, devices by their nodes.

    None where the words are none of the table. The path of the program that was asked for counts by its name only,
    unless it is a place where a vendor puts the program.
    """
    place = argv[0]
    name = place if place in _SHAPES else os.path.basename(place)
    fitting = (_fitted(shape, argv[1:]) for shape in _SHAPES.get(name, ()))
    words = next((words for words in fitting if words is not None), None)
    program = None if words is None else find_program((name,))
    return None if words is None or program is None else (program, *words)


def known(argv: Sequence[str]) -> bool:
    """Whether there is a line in the table that may fit: what has none is not sent to the helper."""
    return bool(argv) and (argv[0] in _SHAPES or os.path.basename(argv[0]) in _SHAPES)


def node_of(path: str) -> str | None:
    """The node of a device that a path leads to, None where that is none, by its name and by what is there.

    The path is followed here once, and only where nobody but root can make it lead elsewhere: what is returned is used.
    """
    if not _NODE.fullmatch(path) or _leads_up(path):
        return None
    real = resolve_roots(path)
    if real is None or not _NODE.fullmatch(real):
        return None
    try:
        mode = os.lstat(real).st_mode
    except OSError:
        return None
    kept = stat.S_ISCHR(mode) and _CHARACTER.fullmatch(real) is not None
    return real if stat.S_ISBLK(mode) or kept else None


def _leads_up(path: str) -> bool:
    return any(part in (".", "..") for part in path.split("/"))


def _fitted(shape: Sequence[str], words: Sequence[str]) -> tuple[str, ...] | None:
    """The words as they are given to a program, None where they are not of this shape."""
    if len(shape) != len(words):
        return None
    fitted = [
        node_of(word) if pattern == DEVICE else word if re.fullmatch(pattern, word, re.ASCII) else None
        for pattern, word in zip(shape, words, strict=True)
    ]
    return None if None in fitted else tuple(word for word in fitted if word is not None)
