"""Paths of sessions, the journal, locks and the configuration."""

from __future__ import annotations

import os
import pwd
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.session.trusted_file import next_step, require_owner
from backends.errors import StorageError
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from backends.host import Host

ROOTS_STATE = Path("/var/lib/raidbench")
ROOTS_CONFIG = Path("/etc/raidbench/config.toml")
"""Configuration file that root uses if root's environment names a path that other users can write to."""

ROOTS_LOCKS = Path("/run/raidbench")
"""Folder of root's locks. The environment cannot change it, because a device must have only one writer."""

SIMULATED = "simulated"
"""Name of the subfolder of a user's state folder that has a folder for each simulated or recorded machine."""

ARRAYS = "arrays.log"
"""File name of the journal of created arrays, which is in the same folder as the journal of changes."""

_users_umask: int | None = None


def restrict_umask() -> None:
    """Make all files of this process and its children private to the user, whatever the umask was before."""
    global _users_umask
    _users_umask = os.umask(0o077)


def apply_user_umask(descriptor: int) -> None:
    """Give a document or folder that the user named the permissions that the terminal's umask allows."""
    if _users_umask is not None:
        everything = 0o777 if stat.S_ISDIR(os.fstat(descriptor).st_mode) else 0o666
        os.fchmod(descriptor, everything & ~_users_umask)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Folders of one user on one machine. A folder is created when something is first written to it."""

    sessions: Path
    """Folder that contains one folder per session."""
    journal: Path
    """Folder of the write-ahead journal."""
    locks: Path
    """Folder of the lock files, one for each controller or disk."""
    config: Path
    """The configuration file, which may not exist."""
    apart: str = ""
    """Name of the simulated or recorded machine to which these folders belong; "" for this machine."""

    @property
    def state(self) -> Path:
        """Return the state folder, which contains the folder of the sessions."""
        return self.sessions.parent

    @property
    def devices(self) -> Path:
        """Return the folder with data about devices, one file for each device."""
        return self.journal.parent / "devices"

    @property
    def simulated(self) -> bool:
        """Return whether these folders belong to a simulated or recorded machine."""
        return bool(self.apart)

    def require_readable(self) -> None:
        """Check that the state folders are readable.

        Raises StorageError if one is not, because it may contain records of changes that are in force.
        """
        for folder in (self.state, self.sessions, self.journal):
            try:
                os.scandir(folder).close()
            except FileNotFoundError:
                continue
            except OSError as error:
                if folder == self.journal and _is_of_the_helper(folder):
                    continue
                message = f"The state folder {clean(str(folder), 300)} cannot be read: {error.strerror or error}."
                raise StorageError(message, hint=next_step(error, folder), evidence=str(error)) from error

    @classmethod
    def of_host(cls, host: Host) -> Paths:
        """Return the folders of a host. Simulated and recorded hosts have folders of their own."""
        return cls.of(_simulation_id(host))

    def for_host(self, host: Host) -> Paths:
        """Return the same folders, with `apart` set to the host's name if it is simulated or recorded, else ""."""
        return replace(self, apart=_simulation_id(host))

    @classmethod
    def of(cls, apart: str) -> Paths:
        """Return the folders of the simulated or recorded machine `apart`; "" is this machine.

        Two machines never share a folder. Root's fixed locations are only for this machine. RAIDBENCH_STATE_DIR names
        one folder for everything: for tests, to try raidbench out, or if several users share one account.
        """
        override = os.environ.get("RAIDBENCH_STATE_DIR")
        if override:
            base = _without_parent_links(override)
            state, config = base, base / "config.toml"
        else:
            state = _without_parent_links(_users_folder("XDG_STATE_HOME", ".local/state"))
            config = _users_folder("XDG_CONFIG_HOME", ".config") / "config.toml"
        if os.geteuid() != 0:
            return cls.below(state, apart, config) if apart else cls.at(state, config)
        if not override and not _only_root_writes(config):
            config = ROOTS_CONFIG
        if apart:
            return cls.below(state if override else _simulation_folder(state), apart, config)
        if override:
            return replace(cls.at(state, config), locks=ROOTS_LOCKS)
        sessions = (state if _only_root_writes(state) else ROOTS_STATE) / "sessions"
        return cls(sessions=sessions, journal=ROOTS_STATE / "journal", locks=ROOTS_LOCKS, config=config)

    @classmethod
    def below(cls, state: Path, apart: str, config: Path | None = None) -> Paths:
        """Return the folders of a simulated or recorded machine in the state folder of a user."""
        folder = state / SIMULATED / apart
        return replace(cls.at(folder, config or state / "config.toml"), apart=apart)

    @classmethod
    def at(cls, state: Path, config: Path | None = None) -> Paths:
        """Return the folders in a state folder. Unless `config` is given, the configuration file is there, too."""
        config = config or state / "config.toml"
        return cls(sessions=state / "sessions", journal=state / "journal", locks=state / "locks", config=config)


def _users_folder(variable: str, usual: str) -> Path:
    """Return raidbench's folder in the one that the variable names, by default in `usual` of the user's home.

    The XDG base directory specification ignores a relative path. So does this function, also for HOME.
    Raises RuntimeError if the user has no home.
    """
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        with suppress(KeyError):
            home = home if os.path.isabs(home) else pwd.getpwuid(os.getuid()).pw_dir
        if not os.path.isabs(home):
            raise RuntimeError(f"the user has no home folder: set HOME or {variable} to an absolute path")
        base = os.path.join(home, usual)
    return Path(base, "raidbench")


def _without_parent_links(path: str | Path) -> Path:
    """Return the path without `..`. The session folder identifies a change, so its path must be unique."""
    return Path(os.path.abspath(path))


def _is_of_the_helper(folder: Path) -> bool:
    """Return whether the folder belongs to root while this process is not root, so that only the root helper reads it.

    If sudo keeps RAIDBENCH_STATE_DIR, user and helper have the same state folder. The sessions in it belong to the
    user.
    """
    try:
        return os.geteuid() != 0 == folder.lstat().st_uid
    except OSError:
        return False


def _simulation_id(host: Host) -> str:
    return host.capabilities.apart or "made-up" if host.simulated else ""


def _simulation_folder(state: Path) -> Path:
    """Return root's folder for simulated machines. There is a separate one for each user who became root with sudo.

    If another user can write to the state folder, the folder is in root's home instead.
    """
    safe, caller = _only_root_writes(state), os.environ.get("SUDO_UID", "")
    if safe and (not caller.isdecimal() or caller == "0"):
        return state
    try:
        home = pwd.getpwuid(0).pw_dir
    except KeyError:
        home = "/root"
    user = int(caller) if caller.isdecimal() else os.lstat(_nearest_existing(state)).st_uid
    return (state if safe else Path(home, ".local", "state", "raidbench")) / f"user-{user}"


def _only_root_writes(path: Path) -> bool:
    """Return whether only root can create or replace the path, including links and folders in it."""
    from backends.system.root_owned import is_owned_by_root

    return is_owned_by_root(str(_nearest_existing(path)))


def _nearest_existing(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    return next(folder for folder in (path, *path.parents) if os.path.lexists(folder))


def private_folder(path: Path) -> Path:
    """Create `path` and its parents with mode 0700, and return it.

    Raises OSError: NotADirectoryError for a link or a file, UntrustedFileError if other users own it or can write to
    it.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(f"{path} is not a folder")
    require_owner(path, info)
    return path


def write_private(file: Path, text: str) -> None:
    """Write a file of the state folder atomically, readable only by its owner. Errors are ignored. Never raises."""
    from backends.output_file import replace_file

    with suppress(OSError):
        private_folder(file.parent)
        replace_file(file, text)
