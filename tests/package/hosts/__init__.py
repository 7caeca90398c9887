"""Roots of other distributions, old and new, in which the packages are tried: made by debootstrap, as root."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.packages import PLACES, absence

PLACE = Path(os.environ.get("RAIDBENCH_ROOTS", "/var/tmp/raidbench-package-test"))
"""Where the roots are kept: they take minutes to make. Nothing is ever written into one: see `Root.inside`."""

_TOOLS = ("debootstrap", "unshare", "chroot", "mount")


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A distribution."""

    title: str
    suite: str
    glibc: str
    ubuntu: bool = False
    packages: tuple[str, ...] = ("fio", "ca-certificates")

    @property
    def folder(self) -> Path:
        """Its files."""
        return PLACE / "roots" / self.suite

    @property
    def keeps(self) -> bool:
        """Whether what was written is there again for the next script with the same `work`."""
        return True

    def why_not(self) -> str:
        """Makes it, where it is not there; a sentence where that is not possible."""
        if os.geteuid() != 0:
            return "needs root"
        if lacking := absence(*_TOOLS):
            return lacking
        if self.folder.exists():
            return ""
        words = [f"--include={','.join(self.packages)}", "--variant=minbase"]
        if self.ubuntu:
            try:
                words += ["--components=main,universe", f"--keyring={keyring()}"]
            except (OSError, subprocess.CalledProcessError) as error:
                return f"no signatures to make {self.title} with: {error}"
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.folder.with_suffix(f".{os.getpid()}")
        done = privately(["debootstrap", *words, self.suite, str(fresh)])
        if done.returncode:
            subprocess.run(("rm", "-rf", "--one-file-system", fresh), check=False)
            return f"{self.title} cannot be made: {done.stdout.strip().splitlines()[-1:]}"
        fresh.rename(self.folder)
        return ""

    def inside(self, work: Path, script: str, *, environment: Sequence[str] = ()) -> list[str]:
        """The words that run a script in it, in a process and a mount namespace that end with it.

        What it writes goes to `work`; what lies in `work`/in is /in there. The devices are this machine's.
        """
        before = f"""{self._mounts(work)}
            exec chroot . /usr/bin/env -i PATH={PLACES} HOME=/root TERM="$TERM" LANG=C.UTF-8 \\
                DEBIAN_FRONTEND=noninteractive {shlex.join(environment)} sh -c "$0"
        """
        return [*_PRIVATE, "-p", "-f", "--kill-child", "sh", "-c", before, script]

    def _mounts(self, work: Path) -> str:
        """The script that makes its mounts in a mount namespace, and goes there."""
        for name in ("room", "merged", "in"):
            (work / name).mkdir(exist_ok=True)
        merged, room = shlex.quote(str(work / "merged")), shlex.quote(str(work / "room"))
        layers = f"lowerdir={self.folder},upperdir={work}/room/upper,workdir={work}/room/scratch"
        return f"""
            set -e
            {"" if self.keeps else f"mount -t tmpfs tmpfs {room}"}
            mkdir -p {room}/upper {room}/scratch
            mount -t overlay -o {shlex.quote(layers)} root {merged}
            mount -t proc proc {merged}/proc
            mount --rbind /sys {merged}/sys
            mount --rbind /dev {merged}/dev
            mount -t tmpfs tmpfs {merged}/run
            mkdir -p {merged}/in && mount --bind {shlex.quote(str(work / "in"))} {merged}/in
            cd {merged}"""

    @contextmanager
    def entered(self, work: Path) -> Iterator[tuple[str, ...]]:
        """The words before a command that runs in it, among the processes of this machine, until its mounts are gone.

        `work` has the same name there. The files of a raidbench of this machine are hidden.
        """
        own = shlex.quote(str(work))
        script = f"""{self._mounts(work)}
            for folder in {" ".join(_OURS)}; do mkdir -p .$folder && mount -t tmpfs -o mode=755 tmpfs .$folder; done
            mkdir -p .{own} && mount --bind {own} .{own}
            exec chroot . sh -c 'echo entered; exec cat'
        """
        with subprocess.Popen(
            (*_PRIVATE, "sh", "-c", script), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdin is not None
            assert holder.stdout is not None
            assert holder.stdout.readline() == "entered\n"
            yield ("nsenter", "--target", str(holder.pid), "--mount", "--root", "--wd")
            holder.stdin.close()

    def run(self, work: Path, script: str, *, environment: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run a script in it to its end."""
        words = self.inside(work, script, environment=environment)
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)


class ThisMachine(Root):
    """This machine's own root: nothing is made, and what a script writes goes with its end."""

    @property
    def folder(self) -> Path:
        """Its files."""
        return Path("/")

    @property
    def keeps(self) -> bool:
        """The kernel lays no folder over one that it is in."""
        return False

    def why_not(self) -> str:
        """A sentence where it cannot be laid under."""
        if os.geteuid() != 0:
            return "needs root"
        overlay = "overlay" in Path("/proc/filesystems").read_text() or shutil.which("modprobe", path=PLACES)
        return absence("unshare", "chroot", "mount") or ("" if overlay else "needs the filesystem overlay")


_OURS = ("/etc/raidbench", "/var/lib/raidbench", "/var/cache/raidbench")

_PRIVATE = ("unshare", "-m", "--propagation", "private")

ROOTS = (
    Root(title="Ubuntu 18.04", suite="bionic", glibc="2.27", ubuntu=True),
    Root(title="Ubuntu 20.04", suite="focal", glibc="2.31", ubuntu=True),
    Root(title="Debian 11", suite="bullseye", glibc="2.31"),
    Root(title="Ubuntu 22.04", suite="jammy", glibc="2.35", ubuntu=True),
    Root(title="Debian 13", suite="trixie", glibc="2.41"),
)
CLEAN = Root(
    title="Debian 12", suite="bookworm", glibc="2.36", packages=("ca-certificates", "man-db", "bash-completion")
)
"""Where packages are installed and removed."""

HERE = ThisMachine(title="this machine", suite="", glibc="")


def privately(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program whose mounts nobody else sees and which are gone with it."""
    return subprocess.run(
        (*_PRIVATE, *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def keyring() -> Path:
    """The keys that Ubuntu is signed with, out of a package of Debian 13, which is signed in turn.

    Raises OSError, CalledProcessError.
    """
    file = PLACE / "ubuntu-archive-keyring.gpg"
    if not file.exists():
        debian = next(root for root in ROOTS if root.suite == "trixie")
        if why := debian.why_not():
            raise OSError(why)
        work = PLACE / "keys"
        work.mkdir(parents=True, exist_ok=True)
        (work / "in").mkdir(exist_ok=True)
        (work / "in" / "resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())
        script = """
            cp --remove-destination /in/resolv.conf /etc/resolv.conf && apt-get -q update && cd /tmp &&
            apt-get -q download ubuntu-keyring && dpkg -x ubuntu-keyring*.deb keys &&
            cp -L keys/usr/share/keyrings/ubuntu-archive-keyring.gpg /in/
        """
        debian.run(work, script).check_returncode()
        (work / "in" / file.name).rename(file)
    return file
