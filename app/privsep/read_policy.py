"""What the helper reads: files by pattern, programs by the words that they may be given. Closed tables.

Which programs those are is declared beside each vendor (`ROOT_READS`), of this installation alone.
Nothing here changes a machine. A change is planned anew by the helper itself (`desk`), whatever words it came with.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence

from backends.protocol import DEVICE, load_object
from backends.registry import own_vendors
from backends.system.local.programs import find_program, resolve_root_owned

_MOUNTS = "/proc/1/mountinfo"
_SPACE = "/proc/1/ns/mnt"

_NODE = re.compile(r"/dev(/[A-Za-z0-9][A-Za-z0-9_.:+-]*){1,3}", re.ASCII)
_CHARACTER = re.compile(r"/dev/(nvme\d+(n\d+)?|sg\d+|bsg/[^/]+)", re.ASCII)


def _declared() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return what may follow a program, by its name or place: what the vendors of this installation declare.

    A vendor of another package is not asked: what root starts for a user is decided by the files that
    `installation.trouble` has judged to be root's. Raises ValueError where two vendors declare one program.
    """
    shapes_by_program: dict[str, tuple[tuple[str, ...], ...]] = {}
    for vendor in own_vendors():
        for names, shapes in (load_object(vendor.root_reads) if vendor.root_reads else {}).items():
            if not shapes_by_program.keys().isdisjoint(names):
                raise ValueError(f"{vendor.name} declares a program that another vendor declares, too")
            shapes_by_program |= dict.fromkeys(names, shapes)
    return shapes_by_program


_SHAPES = _declared()


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
    program_path = argv[0]
    name = program_path if program_path in _SHAPES else os.path.basename(program_path)
    fitting = (_fitted(shape, argv[1:]) for shape in _SHAPES.get(name, ()))
    arguments = next((fitted for fitted in fitting if fitted is not None), None)
    program = None if arguments is None else find_program((name,))
    return None if arguments is None or program is None else (program, *arguments)


def may_be_permitted(argv: Sequence[str]) -> bool:
    """Whether there is a line in the table that may fit: what has none is not sent to the helper."""
    return bool(argv) and (argv[0] in _SHAPES or os.path.basename(argv[0]) in _SHAPES)


def node_of(path: str) -> str | None:
    """The node of a device that a path leads to, None where that is none, by its name and by what is there.

    The path is followed here once, and only where nobody but root can make it lead elsewhere: what is returned is used.
    """
    if not _NODE.fullmatch(path) or not {".", ".."}.isdisjoint(path.split("/")):
        return None
    real = resolve_root_owned(path)
    if real is None or not _NODE.fullmatch(real):
        return None
    try:
        mode = os.lstat(real).st_mode
    except OSError:
        return None
    is_character = stat.S_ISCHR(mode) and _CHARACTER.fullmatch(real) is not None
    return real if stat.S_ISBLK(mode) or is_character else None


def _fitted(shape: Sequence[str], parts: Sequence[str]) -> tuple[str, ...] | None:
    """The words as they are given to a program, None where they are not of this shape."""
    if len(shape) != len(parts):
        return None
    fitted = [
        node_of(word) if pattern == DEVICE else word if re.fullmatch(pattern, word, re.ASCII) else None
        for pattern, word in zip(shape, parts, strict=True)
    ]
    return None if None in fitted else tuple(word for word in fitted if word is not None)
