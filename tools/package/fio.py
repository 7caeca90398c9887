"""`make package-fio`: a static fio for hosts whose own is missing or too old, with its sources, into dist/.

Made of the source package of this machine's distribution, which apt has checked the signature of, by this machine's
compiler: so another machine makes other bytes, and it is no part of what `make package` builds. For Debian and its kin.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tools.package.tree import ROOT

NEEDED = {"apt-get": "apt", "dpkg-source": "dpkg-dev", "gcc": "gcc", "make": "make", "strip": "binutils"}
"""Programs, and the Debian packages they come in."""

HEADERS = {"libaio.h": "libaio-dev", "zlib.h": "zlib1g-dev", "stdio.h": "libc6-dev"}
"""Headers whose libraries are linked in, and the Debian packages they come in."""

CONFIGURE = (
    "--build-static",
    "--disable-native",  # else it knows this processor only
    *(f"--disable-{what}" for what in ("numa", "rdma", "rados", "rbd", "http", "gfapi", "pmem", "tcmalloc", "libzbc")),
    *(f"--disable-{what}" for what in ("xnvme", "dfs", "libnfs")),
)
"""What has to do with a file, a block device or libaio and io_uring stays."""

_SOURCES = Path("/etc/apt")
_TOLD = """\
fio {version} for Linux on {machine}, linked statically. Copy `fio` to /usr/local/bin.

It is under the GNU General Public License, version 2: COPYING and MORAL-LICENSE. fio-{version}-source.tar, which goes
with it wherever it goes, has the sources that it was made of, and libaio's (LGPL 2.1); glibc (LGPL 2.1) and zlib are
linked in.

Made by: {compiler}, {libc}
    ./configure {configure}
    make fio
"""


class FioBuildError(Exception):
    """It cannot be built here; a sentence with what to do."""


def main() -> int:
    """Build; the exit status."""
    parser = argparse.ArgumentParser(prog="make package-fio", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the files go")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "fio", help="a folder to build in, emptied first")
    asked = parser.parse_args()
    try:
        files = build(asked.out.absolute(), asked.work.absolute())
    except (FioBuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for file in files:
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file}")
    return 0


def build(out: Path, work: Path) -> tuple[Path, Path]:
    """The archive with fio and its licence, and the one with its sources. Raises FioBuildError, OSError."""
    if lacking := sorted(set(missing())):
        raise FioBuildError(f"To build fio here: apt-get install {' '.join(lacking)}")
    shutil.rmtree(work, ignore_errors=True)
    sources = work / "sources"
    sources.mkdir(parents=True)
    out.mkdir(parents=True, exist_ok=True)
    apt = _with_sources(work)
    _run(*apt, "update", folder=work)
    _run(*apt, "source", "--download-only", "fio", "libaio", folder=sources)
    description = next(sources.glob("fio_*.dsc"))
    version = description.stem.removeprefix("fio_").split("-")[0]
    tree = work / "fio"
    _run("dpkg-source", "-x", str(description), str(tree), folder=work)
    _run("./configure", *CONFIGURE, f"--extra-cflags=-ffile-prefix-map={tree}=.", folder=tree)
    _run("make", f"-j{os.cpu_count() or 1}", "fio", folder=tree)
    _run("strip", "fio", folder=tree)
    if _run("./fio", "--version", folder=tree).strip() != f"fio-{version}":
        raise FioBuildError("What was built does not call itself fio " + version)
    name = f"fio-{version}-linux-{platform.machine()}"
    (tree / "BUILD").write_text(_told(version, tree))
    packed = out / f"{name}.tar.gz"
    kept = out / f"fio-{version}-source.tar"
    _pack(packed, "w:gz", {f"{name}/{one}": tree / one for one in ("fio", "COPYING", "MORAL-LICENSE", "BUILD")})
    _pack(kept, "w", {file.name: file for file in sorted(sources.iterdir())})
    return packed, kept


def missing() -> Iterator[str]:
    """Debian's packages that are needed to build it and are not there."""
    yield from (package for program, package in NEEDED.items() if shutil.which(program) is None)
    for header, package in HEADERS.items():
        words = ("gcc", "-E", "-include", header, "-x", "c", os.devnull)
        if shutil.which("gcc") and subprocess.run(words, capture_output=True).returncode:
            yield package


def with_source_packages(text: str, *, deb822: bool) -> str:
    """A list of sources of apt, asking for source packages instead; the addresses are the machine's own."""
    rows = text.splitlines()
    if deb822:
        return "\n".join("Types: deb-src" if row.lower().startswith("types:") else row for row in rows) + "\n"
    return "\n".join(row.replace("deb ", "deb-src ", 1) for row in rows if row.startswith("deb ")) + "\n"


def _with_sources(work: Path) -> tuple[str, ...]:
    """apt-get with lists of its own, so that nothing of the machine's apt is changed."""
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    for file in (*_SOURCES.glob("sources.list"), *_SOURCES.glob("sources.list.d/*")):
        if file.suffix in (".list", ".sources"):
            text = with_source_packages(file.read_text(), deb822=file.suffix == ".sources")
            (work / "parts" / file.name).write_text(text)
    places = {
        "Dir::Etc::sourcelist": os.devnull,
        "Dir::Etc::sourceparts": work / "parts",
        "Dir::State::lists": work / "lists",
        "Dir::Cache": work / "cache",
        "APT::Sandbox::User": "",  # the folder may be closed to others
    }
    return ("apt-get", "-q", *(word for key, value in places.items() for word in ("-o", f"{key}={value}")))


def _run(*argv: str, folder: Path) -> str:
    done = subprocess.run(
        argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-20:])
        raise FioBuildError(f"{' '.join(argv[:1] + argv[-2:])} failed in {folder}:\n{last}")
    return done.stdout


def _told(version: str, tree: Path) -> str:
    return _TOLD.format(
        version=version,
        machine=platform.machine(),
        compiler=_run("gcc", "--version", folder=tree).splitlines()[0],
        libc=" ".join(platform.libc_ver()),
        configure=" ".join(CONFIGURE),
    )


def _pack(file: Path, mode: str, entries: dict[str, Path]) -> None:
    def nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(file, mode) as archive:  # type: ignore[call-overload]
        for name, path in entries.items():
            archive.add(path, name, filter=nobodys)


if __name__ == "__main__":
    sys.exit(main())
