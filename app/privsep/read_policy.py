"""Which files the root helper may read, and which programs it may run, with the permitted arguments.

Each vendor module of this installation declares its programs (`ROOT_READS`). No permitted command changes the host.
The user cannot request a change as a command line: the helper plans each change itself (`change_verbs`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence

from backends.protocol import DEVICE, load_object
from backends.registry import own_vendors
from backends.system.local.programs import find_program
from backends.system.root_owned import resolve_root_owned

_MOUNTS = "/proc/1/mountinfo"
_SPACE = "/proc/1/ns/mnt"

_NODE = re.compile(r"/dev(/[A-Za-z0-9][A-Za-z0-9_.:+-]*){1,3}", re.ASCII)
_CHARACTER = re.compile(r"/dev/(nvme\d+(n\d+)?|sg\d+|bsg/[^/]+)", re.ASCII)


def _load_shapes() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the permitted argument lists of each program by its name or path, as the vendor modules declare them.

    Vendor modules of other packages are ignored. Root starts only programs that are declared in files owned by root
    (`installation.ownership_problem`). Raises ValueError if two vendors declare the same program.
    """
    shapes_by_program: dict[str, tuple[tuple[str, ...], ...]] = {}
    for vendor in own_vendors():
        for names, shapes in (load_object(vendor.root_reads) if vendor.root_reads else {}).items():
            if not shapes_by_program.keys().isdisjoint(names):
                raise ValueError(f"{vendor.name} declares a program that another vendor already declares")
            shapes_by_program |= dict.fromkeys(names, shapes)
    return shapes_by_program


_SHAPES = _load_shapes()


def may_read(path: str) -> bool:
    """Return whether the helper may read this file for the user.

    Only the mount list of process 1 is permitted, because the mount option hidepid hides it from users (proc(5)). No
    file below /sys is permitted: raidbench needs only files that every user can read. Others contain keys and passwords
    (dhchap_secret of NVMe, password of iSCSI sessions), PCI configuration space and kernel addresses.
    """
    return path == _MOUNTS


def may_follow(path: str) -> bool:
    """Return whether the helper may report the target of this link to the user."""
    return path == _SPACE


def command_of(argv: Sequence[str]) -> tuple[str, ...] | None:
    """Return the command line that the helper runs for the requested one (`argv`), or None if it is not permitted.

    It has root's own program, and device nodes instead of links. The path of the requested program is ignored, unless a
    vendor declares that path.
    """
    program_path = argv[0]
    name = program_path if program_path in _SHAPES else os.path.basename(program_path)
    fitting = (_fit_arguments(shape, argv[1:]) for shape in _SHAPES.get(name, ()))
    arguments = next((fitted for fitted in fitting if fitted is not None), None)
    program = None if arguments is None else find_program((name,))
    return None if arguments is None or program is None else (program, *arguments)


def may_be_permitted(argv: Sequence[str]) -> bool:
    """Return whether a program has permitted command lines. If not, the user's process does not send a request."""
    return bool(argv) and (argv[0] in _SHAPES or os.path.basename(argv[0]) in _SHAPES)


def node_of(path: str) -> str | None:
    """Return the device node to which a path leads; None if its name or type is not that of a permitted device.

    Links are followed only if no user other than root can change them; otherwise, the result is None.
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


def _fit_arguments(shape: Sequence[str], parts: Sequence[str]) -> tuple[str, ...] | None:
    """Return the requested arguments (`parts`) with device nodes instead of links.

    Return None if they do not match the permitted `shape`, which has a pattern for each argument.
    """
    if len(shape) != len(parts):
        return None
    fitted = [
        node_of(word) if pattern == DEVICE else word if re.fullmatch(pattern, word, re.ASCII) else None
        for pattern, word in zip(shape, parts, strict=True)
    ]
    return None if None in fitted else tuple(word for word in fitted if word is not None)
