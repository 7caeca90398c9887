"""ZFS for the laboratory: the kernel's module, built out of Debian's sources, and its programs. Nothing is installed.

Debian has the module as source only (zfs-dkms, in contrib), and building it takes longer than all of `make lab`. So it
is built when somebody asks for it, `python -m tests.lab --zfs`, and kept beside the kernel that it is for.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.lab.machine.kernel import Kernel
from tests.lab.machine.missing import LabError, program

ORDER = ("spl", "znvpair", "zavl", "zunicode", "zcommon", "icp", "zlua", "zzstd", "zfs")
"""Modules, each after those that it needs."""

_PROGRAMS = (
    "zfsutils-linux",
    "libzfs4linux",
    "libzpool5linux",
    "libnvpair3linux",
    "libuutil3linux",
    "libzfsbootenv1linux",
)
_SOURCE = "zfs-dkms"


def folder(ready: Kernel) -> Path | None:
    """Where modules and programs for a kernel lie (`modules/`, `root/`); None where they were not built."""
    found = ready.folder / "zfs"
    return found if found.is_dir() else None


def build(ready: Kernel) -> Path:
    """Download, build and keep them, whole or not at all. Takes minutes of both cores. Raises LabError."""
    with tempfile.TemporaryDirectory(dir=ready.folder.parent) as temporary:
        work = Path(temporary)
        headers = _unpacked(ready, work)
        source = next((work / "root/usr/src").glob("zfs-*"))
        _run(
            *(str(source / "configure"), "--with-config=kernel"),
            *(f"--with-linux={headers.with_name(headers.name.removesuffix('-amd64') + '-common')}",),
            f"--with-linux-obj={headers}",
            cwd=source,
        )
        _run(program("make"), f"-j{os.cpu_count()}", cwd=source)
        kept = work / "kept"
        (kept / "modules").mkdir(parents=True)
        for module in (source / "module").glob("*/*.ko"):
            _run(program("strip"), "-g", "-o", str(kept / "modules" / module.name), str(module), cwd=work)
        (work / "root/usr").rename(work / "source")  # headers and sources were for the building only
        (work / "root").rename(kept / "root")
        os.replace(kept, ready.folder / "zfs")
    return ready.folder / "zfs"


def _unpacked(ready: Kernel, work: Path) -> Path:
    """All packages, unpacked below `root`; where the kernel's headers are."""
    (work / "lists/partial").mkdir(parents=True)
    (work / "cache/archives/partial").mkdir(parents=True)
    sources = work / "sources.list"
    sources.write_text("".join(f"deb {uri} {release} main contrib\n" for uri, release in _registries()))
    options = [
        *("-q", "-o", "APT::Sandbox::User=root", "-o", f"Dir::State::lists={work / 'lists'}"),
        *("-o", f"Dir::Cache={work / 'cache'}", "-o", f"Dir::Etc::sourcelist={sources}"),
        *("-o", "Dir::Etc::sourceparts=/dev/null"),
    ]
    _run(program("apt-get"), *options, "update", cwd=work)
    headers = f"linux-headers-{ready.version}"
    told = _run(program("apt-cache"), *options, "depends", headers, cwd=work)
    more = re.findall(r"Depends: (linux-(?:headers|kbuild)-\S+)", told)
    wanted = (_SOURCE, *_PROGRAMS, headers, *more)
    _run(program("apt-get"), *options, "download", *wanted, cwd=work)
    for archive in work.glob("*.deb"):
        _run(program("dpkg-deb"), "-x", str(archive), str(work / "root"), cwd=work)
    place = work / "root/usr/src" / headers
    makefile = place / "Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src/", f"{place.parent}/"))
    return place


def _registries() -> Iterator[tuple[str, str]]:
    """Addresses and releases of the distribution's registries that this machine knows."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    told = _run(program("apt-get"), "indextargets", "--format", form, "Created-By: Packages", cwd=Path.cwd())
    code = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    for row in dict.fromkeys(told.splitlines()):
        uri, release, component = row.split(maxsplit=2)
        if component == "main" and code and release.startswith(code):
            yield uri, release


def _run(*argv: str, cwd: Path) -> str:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        words = (done.stdout + done.stderr).strip().splitlines()[-10:]
        raise LabError("\n  ".join((f"{Path(argv[0]).name} failed:", *words)))
    return done.stdout


def in_guest(built: Path) -> None:
    """Load the modules and put the programs where they are looked for. For the guest, whose files are its own."""
    for each in (*(built / "root/sbin").glob("z*"), *(built / "root/lib/x86_64-linux-gnu").glob("lib*.so*")):
        into = Path("/usr/sbin" if each.parent.name == "sbin" else "/usr/lib/x86_64-linux-gnu") / each.name
        if not into.exists():
            shutil.copy2(each, into, follow_symlinks=True)
    if not Path("/sys/module/zfs").exists():
        for name in ORDER:
            subprocess.run(("insmod", str(built / "modules" / f"{name}.ko")), check=True)
