"""Where sessions, the journal, locks and the configuration lie."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from app.engine.session.own_file import require_owner
from backends.values import dataclass

ROOTS_STATE = Path("/var/lib/raidbench")
ROOTS_CONFIG = Path("/etc/raidbench/config.toml")
"""Where root keeps things when its environment points to places that others can write to."""

ROOTS_LOCKS = Path("/run/raidbench")
"""Where root's locks are, wherever else it keeps things: a device has one writer whatever the environment says."""

ARRAYS = "arrays.log"
"""Name of the journal of arrays that were made, beside that of changes."""

_users_umask: int | None = None


def keep_private() -> None:
    """From here on all that this process and its children make is for its user alone, whatever the umask was."""
    global _users_umask
    _users_umask = os.umask(0o077)


def share(descriptor: int) -> None:
    """Let a document or folder that the user asked for by name be as open as the umask of the terminal says."""
    if _users_umask is not None:
        everything = 0o777 if stat.S_ISDIR(os.fstat(descriptor).st_mode) else 0o666
        os.fchmod(descriptor, everything & ~_users_umask)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Folders of one user on one machine; nothing is created until something is written."""

    sessions: Path
    """One folder a session."""
    journal: Path
    """The write-ahead journal's folder."""
    locks: Path
    """flock files, one a controller or disk."""
    config: Path
    """The configuration file; may be missing."""

    def journal_of(self, *, simulated: bool, apart: str = "") -> Path:
        """The journal of this machine, or that of simulated and recorded ones, which are never taken for it.

        `apart`: see `Capabilities`.
        """
        return self.journal / _made_up(apart) if simulated else self.journal

    def locks_of(self, *, simulated: bool) -> Path:
        """Where locks are of devices of this machine, or of made up ones, which nobody else can have."""
        return self.journal.parent / "simulated-locks" if simulated else self.locks

    def devices_of(self, *, simulated: bool, apart: str = "") -> Path:
        """What is remembered of devices, one file each; that of simulated and recorded ones apart."""
        folder = self.journal.parent / "devices"
        return folder / _made_up(apart) if simulated else folder

    @classmethod
    def default(cls) -> Paths:
        """As root /var/lib and /run, otherwise the user's state folder; root's own where sudo left the user's HOME.

        RAIDBENCH_STATE_DIR puts everything below one folder: tests, trials, several users on one account.
        """
        override = os.environ.get("RAIDBENCH_STATE_DIR")
        if override:
            base = _plain(override)
            return cls(
                sessions=base / "sessions",
                journal=base / "journal",
                locks=ROOTS_LOCKS if os.geteuid() == 0 else base / "locks",
                config=base / "config.toml",
            )
        import platformdirs

        config = platformdirs.user_config_path("raidbench") / "config.toml"
        state = _plain(platformdirs.user_state_path("raidbench"))
        if os.geteuid() == 0:
            if not _only_root_writes(state):
                state = ROOTS_STATE
            if not _only_root_writes(config):
                config = ROOTS_CONFIG
            return cls(
                sessions=state / "sessions",
                journal=ROOTS_STATE / "journal",
                locks=ROOTS_LOCKS,
                config=config,
            )
        return cls(sessions=state / "sessions", journal=state / "journal", locks=state / "locks", config=config)


def _plain(path: str | Path) -> Path:
    """The path without `..`: changes are known by the folder of their session, which has one spelling."""
    return Path(os.path.abspath(path))


def _made_up(apart: str) -> str:
    return f"simulated-{apart}" if apart else "simulated"


def _only_root_writes(path: Path) -> bool:
    """Whether nobody but root can put something there, or has: links and folders on the way included."""
    from backends.hosts.local.programs import is_roots

    there = next(folder for folder in (path, *path.parents) if os.path.lexists(folder))
    return is_roots(str(there))


def private_folder(path: Path) -> Path:
    """Make `path` (0700) and everything above it.

    Raises OSError; NotADirectoryError if it is a link or a file, NotOursError if others own it or may write there.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(f"{path} is not a folder of this user")
    require_owner(path, info)
    return path
