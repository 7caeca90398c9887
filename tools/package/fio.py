"""Build a static fio with its sources into dist/, for hosts whose fio is missing or too old (`make package-fio`).

The sources are the source package of this host's distribution, whose signature apt has checked. The result depends on
the compiler of this host, so `make package` does not build it. Needs Debian or a derivative.
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
"""Debian packages that are needed for the build, by the program that they contain."""

HEADERS = {"libaio.h": "libaio-dev", "zlib.h": "zlib1g-dev", "stdio.h": "libc6-dev"}
"""Debian packages that are needed for the build, by the header that they contain. Their libraries are linked in."""

CONFIGURE = (
    "--build-static",
    "--disable-native",  # otherwise fio would run only on CPUs like that of the build host
    *(f"--disable-{name}" for name in ("numa", "rdma", "rados", "rbd", "http", "gfapi", "pmem", "tcmalloc", "libzbc")),
    *(f"--disable-{name}" for name in ("xnvme", "dfs", "libnfs")),
)
"""Options of fio's ./configure. They keep only the support for files, block devices, libaio and io_uring."""

_SOURCES = Path("/etc/apt")
_BUILD = """\
fio {version} for Linux on {machine}, linked statically. Copy `fio` to /usr/local/bin.

It is licensed under the GNU General Public License, version 2: see COPYING and MORAL-LICENSE. Always distribute it with
fio-{version}-source.tar, which has its sources and those of libaio (LGPL 2.1). glibc (LGPL 2.1) and zlib are linked in.

Built with: {compiler}, {libc}
    ./configure {configure}
    make fio
"""


class FioBuildError(Exception):
    """Error with the reason why fio cannot be built on this host, and a next step."""


def main() -> int:
    """Build the archives. Return the exit status."""
    parser = argparse.ArgumentParser(prog="make package-fio", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the archives")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "fio", help="build folder, emptied first")
    options = parser.parse_args()
    try:
        files = build(options.out.absolute(), options.work.absolute())
    except (FioBuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for file in files:
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file}")
    return 0


def build(out: Path, work: Path) -> tuple[Path, Path]:
    """Build and return the archive with fio and its licence, and the archive with its sources.

    Raises FioBuildError if the build is not possible or fails, OSError if a file cannot be written.
    """
    if lacking := sorted(set(missing())):
        raise FioBuildError(
            f"Packages are missing to build fio. Install them with: apt-get install {' '.join(lacking)}"
        )
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
        raise FioBuildError(f"The built program does not report the version {version}.")
    name = f"fio-{version}-linux-{platform.machine()}"
    (tree / "BUILD").write_text(_build_text(version, tree))
    packed = out / f"{name}.tar.gz"
    source_archive = out / f"fio-{version}-source.tar"
    _pack(packed, "w:gz", {f"{name}/{file}": tree / file for file in ("fio", "COPYING", "MORAL-LICENSE", "BUILD")})
    _pack(source_archive, "w", {file.name: file for file in sorted(sources.iterdir())})
    return packed, source_archive


def missing() -> Iterator[str]:
    """Yield the Debian packages that are needed for the build and not installed."""
    yield from (package for program, package in NEEDED.items() if shutil.which(program) is None)
    for header, package in HEADERS.items():
        argv = ("gcc", "-E", "-include", header, "-x", "c", os.devnull)
        if shutil.which("gcc") and subprocess.run(argv, capture_output=True).returncode:
            yield package


def with_source_packages(text: str, *, deb822: bool) -> str:
    """Return a sources list of apt that lists source packages instead of binary ones, at the same addresses."""
    rows = text.splitlines()
    if deb822:
        return "\n".join("Types: deb-src" if row.lower().startswith("types:") else row for row in rows) + "\n"
    return "\n".join(row.replace("deb ", "deb-src ", 1) for row in rows if row.startswith("deb ")) + "\n"


def _with_sources(work: Path) -> tuple[str, ...]:
    """Return the first arguments of an apt-get command that keeps its lists below `work`, not in the host's folders."""
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
        "APT::Sandbox::User": "",  # run as root, because the user _apt may not be able to read the folder
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


def _build_text(version: str, tree: Path) -> str:
    return _BUILD.format(
        version=version,
        machine=platform.machine(),
        compiler=_run("gcc", "--version", folder=tree).splitlines()[0],
        libc=" ".join(platform.libc_ver()),
        configure=" ".join(CONFIGURE),
    )


def _pack(file: Path, mode: str, entries: dict[str, Path]) -> None:
    def without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(file, mode) as archive:  # type: ignore[call-overload]
        for name, path in entries.items():
            archive.add(path, name, filter=without_owner)


if __name__ == "__main__":
    sys.exit(main())
