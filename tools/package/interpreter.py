"""What is compiled into the portable Python: CPython and the libraries linked into its one file.

The file itself says which extension modules it contains (its exported PyInit_ functions), which shared libraries it
loads, and, by texts that libraries leave in it, which of them are linked.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from tools.package import components, elf, golang
from tools.package.components import ShippedComponent
from tools.package.tree import INTERPRETER, MINOR


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedLibrary:
    """A library that is linked into the portable Python."""

    name: str
    terms: str
    """Its licence (SPDX)."""
    trace: bytes
    """A text that it leaves in the file of the interpreter."""
    text: str
    """Name of its licence text (`components.text`)."""
    modules: tuple[str, ...] = ()
    """The extension modules that use it. They are part of CPython."""
    version: str | None = None
    """Python code that prints its version; None if it reports none."""


LINKED = (
    LinkedLibrary(
        name="OpenSSL",
        terms="Apache-2.0",
        trace=b"common libcrypto routines",
        text="openssl",
        modules=("_hashlib", "_ssl"),
        version="import ssl; print(ssl.OPENSSL_VERSION.split()[1])",
    ),
    LinkedLibrary(
        name="SQLite",
        terms="blessing",
        trace=b"sqlite_master",
        text="sqlite",
        modules=("_sqlite3",),
        version="import sqlite3; print(sqlite3.sqlite_version)",
    ),
    LinkedLibrary(
        name="zlib",
        terms="Zlib",
        trace=b"Jean-loup Gailly and Mark Adler",
        text="zlib",
        modules=("binascii", "zlib"),
        version="import zlib; print(zlib.ZLIB_RUNTIME_VERSION.split('.zlib')[0])",
    ),
    LinkedLibrary(
        name="Expat",
        terms="MIT",
        trace=b"expat_",
        text="expat",
        modules=("pyexpat",),
        version="import pyexpat; print(pyexpat.EXPAT_VERSION.removeprefix('expat_'))",
    ),
    LinkedLibrary(
        name="Zstandard",
        terms="BSD-3-Clause",
        trace=b"ZSTD_",
        text="zstd",
        modules=("_zstd",),
        version="from compression import zstd; print(zstd.zstd_version)",
    ),
    LinkedLibrary(
        name="mpdecimal",
        terms="BSD-2-Clause",
        trace=b"libmpdec: internal error",
        text="mpdecimal",
        modules=("_decimal",),
        version="import _decimal; print(_decimal.__libmpdec_version__)",
    ),
    LinkedLibrary(
        name="ncurses",
        terms="X11-distribute-modifications-variant AND BSD-3-Clause",
        trace=b"ncurses 6.",
        text="ncurses",
        modules=("_curses", "_curses_panel"),
        version="import curses; print('%d.%d.%d' % curses.ncurses_version)",
    ),
    LinkedLibrary(
        name="bzip2", terms="bzip2-1.0.6", trace=b"bzip2/libbzip2: internal error", text="bzip2", modules=("_bz2",)
    ),
    LinkedLibrary(name="XZ Utils", terms="0BSD", trace=b"\xfd7zXZ\0", text="xz", modules=("_lzma",)),
    LinkedLibrary(name="libffi", terms="MIT", trace=b"LIBFFI_TMPDIR", text="libffi", modules=("_ctypes",)),
    LinkedLibrary(name="libedit", terms="BSD-3-Clause", trace=b".editrc", text="libedit", modules=("readline",)),
    LinkedLibrary(name="libuuid", terms="BSD-3-Clause", trace=b"/var/lib/libuuid/", text="libuuid", modules=("_uuid",)),
    LinkedLibrary(
        name="HACL*",
        terms="MIT",
        trace=b"HACL* internal routine failed",
        text="hacl",
        modules=("_blake2", "_hmac", "_md5", "_sha1", "_sha2", "_sha3"),
    ),
    LinkedLibrary(name="mimalloc", terms="MIT", trace=b"mimalloc: warning: ", text="mimalloc"),
)
"""The libraries. mimalloc is Python's memory allocator, so no module is made of it."""

_OWN_MODULES = """
    _abc _ast _asyncio _bisect _codecs _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw
    _collections _contextvars _csv _datetime _elementtree _functools _heapq _imp _interpchannels _interpqueues
    _interpreters _io _json _locale _lsprof _multibytecodec _multiprocessing _opcode _operator _pickle _posixshmem
    _posixsubprocess _queue _random _remote_debugging _signal _socket _sre _stat _statistics _string _struct
    _suggestions _symtable _sysconfig _testinternalcapi _thread _tokenize _tracemalloc _types _typing _weakref
    _xxtestfuzz _zoneinfo array atexit cmath errno faulthandler fcntl gc grp itertools math mmap posix pwd resource
    select syslog termios time unicodedata xxsubtype
"""
OWN_MODULES = frozenset(_OWN_MODULES.split())
"""Extension modules that need no library but that of C."""

SYSTEM = ("libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libutil.so.1", "ld-linux-*.so.*")
"""Shared libraries of the host that programs may load: glibc."""

EXTENSIONS = (f"lib/python{MINOR}/site-packages/psutil/_psutil_linux*.so",)
"""Compiled modules of Python packages that contain nothing but the package's own code."""


def require_known(tree: Path) -> None:
    """Raise ValueError for each program, module or linked library of a tree that is not in the tables above."""
    faults = list(unknown_files(tree))
    interpreter = tree / INTERPRETER
    faults += unknown_modules(elf.exported(interpreter))
    content = interpreter.read_bytes()
    faults += [f"{one.name} is not linked into {interpreter}." for one in LINKED if one.trace not in content]
    if faults:
        raise ValueError(" ".join(faults) + " Correct the tables in tools/package/interpreter.py after a review.")


def unknown_modules(exported: Iterable[str]) -> list[str]:
    """Return a sentence for each extension module, named by its exported function, that is in no table."""
    known = OWN_MODULES | {module for one in LINKED for module in one.modules}
    modules = {name.removeprefix("PyInit_") for name in exported if name.startswith("PyInit_")}
    return [
        f"The interpreter contains the module {name}, whose licence is not known." for name in sorted(modules - known)
    ]


def components_of(tree: Path, python: Path, module: Path) -> list[ShippedComponent]:
    """Return CPython and the libraries linked into it.

    `python`: an interpreter of the same build that this machine can run, for the versions. `module`: folder of the
    unpacked Go module that contains the interpreter.
    """
    version = golang.PYTHON_VERSION
    own_licence = (tree / f"lib/python{MINOR}/LICENSE.txt").read_text("utf-8")
    libraries = [_component(one.name, _version(one, python), one.terms, components.text(one.text)) for one in LINKED]
    cpython = _component("CPython", version, "PSF-2.0", own_licence, components.text("cpython-incorporated"))
    packaging = components.go_module(golang.PYTHON.name, golang.PYTHON.version, module, (), "portable Python")
    return [cpython, packaging, *libraries]


def _component(name: str, version: str | None, terms: str, *texts: str) -> ShippedComponent:
    own = name == "CPython"
    short = "python" if own else name.lower()
    return ShippedComponent(
        kind="platform" if own else "library",
        name=name,
        version=version,
        terms=terms,
        purl=f"pkg:generic/{short}@{version}" if version else None,
        part="portable Python",
        texts=texts,
    )


def _version(library: LinkedLibrary, python: Path) -> str | None:
    if library.version is None:
        return None
    argv = (python, "-I", "-B", "-c", library.version)
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def unknown_files(tree: Path) -> Iterator[str]:
    """Yield a sentence for each compiled file of a tree, and each shared library it loads, that is in no table."""
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file() or not elf.is_elf(path):
            continue
        name = path.relative_to(tree).as_posix()
        if name != INTERPRETER and not any(fnmatch(name, pattern) for pattern in EXTENSIONS):
            yield f"{name} is a compiled file whose licence is not known."
        for library in elf.libraries(path):
            if not any(fnmatch(library, pattern) for pattern in SYSTEM):
                yield f"{name} loads {library}, which is not a part of glibc."
