"""The helper as a process of its own, as sudo would start it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from backends.system.privsep.connection import Connection
from tests.seeing import helped, started

ROOT = Path(__file__).parents[2]
"""The checkout."""

NOBODY = 65534
"""Number of the user and of the group that programs run as here."""

AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")

PYTHON = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
"""An interpreter that every user may run."""

UNDER = ("unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$0" /etc/sudoers && exec "$@"')
"""What to start a program with so that sudo heeds other rules: those of the file that comes next."""

needs_python = pytest.mark.skipif(not os.path.exists(PYTHON), reason=f"needs {PYTHON}, which every user may run")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@dataclass(frozen=True)
class Helper:
    """A helper that waits for requests."""

    process: subprocess.Popen[bytes]
    side: Connection


def command() -> list[str]:
    return [sys.executable, "-I", *started("app.privsep.__main__")]


def environment(state: Path) -> dict[str, str]:
    """As of a sudo whose configuration lets the folder for the state through."""
    return {
        "PATH": os.environ["PATH"],
        "RAIDBENCH_STATE_DIR": str(state),
        "SUDO_UID": str(NOBODY),
        "SUDO_GID": str(NOBODY),
    }


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder where root and the user keep things, each their own."""
    folder = Path(tempfile.mkdtemp(prefix="raidbench-split-"))
    folder.chmod(0o1777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def install(place: Path, *lines: str) -> Path:
    """This program's interpreter, installed where every user may run it. `lines`: what it does first, Python."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", place / "installed"], check=True, cwd="/")
    (site,) = (place / "installed" / "lib").glob("python*/site-packages")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    hook = (f"import tests.seeing; tests.seeing.begin({str(place)!r})",) if helped(place) else ()  # of this one alone
    (site / "here.pth").write_text("".join(f"{line}\n" for line in (packages, ROOT, *hook, *lines)))
    return place / "installed" / "bin" / "python"


@contextmanager
def helper(state: Path, *, read_only: bool = False) -> Iterator[Helper]:
    """A helper that has been greeted."""
    mine, its = socket.socketpair()
    process = subprocess.Popen(command(), stdin=its.fileno(), env=environment(state), cwd="/", extra_groups=(0, 6))
    its.close()
    side = Connection(mine)
    try:
        side.greeting(60)
        side.ask_now("hello", version=1, read_only=read_only, firmware=False)
        yield Helper(process, side)
    finally:
        side.close()
        try:
            process.wait(20)
        finally:
            process.kill()
            process.wait()


def running(pid: int) -> bool:
    """Whether a process is there and not only waits for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
