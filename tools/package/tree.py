"""Builder of the tree in the standalone binary and the packages: a portable Python, raidbench and its dependencies."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.package import elf, golang

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION: str = PROJECT["project"]["version"]
MINOR = golang.PYTHON_VERSION.rpartition(".")[0]
INTERPRETER = f"bin/python{MINOR}"
SITE = f"lib/python{MINOR}/site-packages"
GLIBC = (2, 17)
"""The newest glibc version that the programs in the tree may need: the version of RHEL 7."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A CPU architecture with its three names."""

    name: str
    """Name in uname, and in the names of the release files."""
    go: str
    """Name in Go and Debian."""
    wheels: str
    """Name in uv, for wheels."""


MACHINES = (
    Machine(name="x86_64", go="amd64", wheels="x86_64-manylinux2014"),
    Machine(name="aarch64", go="arm64", wheels="aarch64-manylinux2014"),
)

_LEFT_OUT = re.compile(
    rf"""bin/(?!python{re.escape(MINOR)}$) | include/ | share/
    | lib/(?!python{re.escape(MINOR)}/)                       # libpython (linked into the interpreter), Tcl, Tk
    | lib/python{re.escape(MINOR)}/(
        (idlelib|turtledemo|ensurepip|tkinter|venv|unittest|test|pydoc_data|config-[^/]*|site-packages)/
        | (_pyrepl|wsgiref|xmlrpc|dbm|profiling|__phello__|multiprocessing)/
        | (antigravity|bdb|cProfile|code|compileall|doctest|ftplib|imaplib|mailbox|pdb|pickletools|poplib|profile|pstats
          |py_compile|pyclbr|pydoc|smtplib|tabnanny|this|timeit|trace|turtle|wave|zipapp|_pydatetime|_pydecimal|_pyio
          |_sysconfigdata_.*|asyncio/(windows_.*|proactor_events|tools)|concurrent/futures/process)\.py$
        | encodings/(mac_.*|cp(0|1[01]|(?!437)[2-8]).*|hp_roman8|palmos|mbcs|oem|_win_cp_codecs)\.py$  # no locale's
        | _sysconfig_vars.*\.json$ | build-details\.json$
        | lib-dynload/[^.]                                    # _dbm, with Berkeley DB, and modules for tests
    )""",
    re.VERBOSE,
)
"""Files of the portable Python that neither raidbench nor its dependencies import."""

_USELESS = (
    *("bin", "etc", "share", ".lock"),
    *(
        "pygments/lexers/[!_p]*.py",
        "pygments/lexers/p[!y]*.py",
        "pygments/lexers/_*_builtins.py",
        "pygments/formatters/[!_]*.py",
    ),
    "*.dist-info/sboms",
    "yaml/_yaml.*.so",
    "ClusterShell/CLI",
    "psutil/_ps[!lpu]*.py",
    "platformdirs/[amw][!p]*.py",
    "textual/demo",
    *("textual/widgets/*markdown*.py", "rich/markdown.py", "mdurl*", "markdown_it*", "mdit_py_plugins*", "linkify_it*"),
)
"""Patterns of files to remove: scripts that contain the build path, manuals and examples, bills of materials, the
lexers of languages other than Python, which Rich loads only to show the source of that language, the second parser of
PyYAML, which contains libyaml, programs of ClusterShell, modules for other systems, and Markdown, which is not shown.
"""

_RECORDS = ("RECORD", "INSTALLER", "REQUESTED", "uv_*")
"""Files of the installer in the .dist-info folders."""

ARCHIVE = f"lib/python{MINOR}/modules.bin"
"""The archive of all modules (modules/sitecustomize.py)."""

_MODULES = Path(__file__).parent / "modules"

TESTING = "backends/testing"
"""Folder of the conformance suite. Only the wheel has it: the suite needs pytest, which the tree does not contain."""

LOCKED = ROOT / "tools" / "locked" / "run.txt"
"""The dependencies of raidbench, with versions and checksums."""


def wanted(name: str) -> bool:
    """Return whether a file of the portable Python is needed."""
    return _LEFT_OUT.match(name) is None


def uv(*args: str | Path) -> str:
    """Run the uv of this checkout and return its output. Raises subprocess.CalledProcessError if it fails."""
    argv = ("sh", str(ROOT / "tools" / "bootstrap"), "uv", *map(str, args))
    return subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def put_wheels(machine: Machine, requirements: Path, site: Path) -> None:
    """Install the packages that the lock file `requirements` pins, for an architecture, into the folder `site`.

    Raises subprocess.CalledProcessError if a wheel has another checksum.
    """
    uv(
        *("pip", "install", "-q", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-compile-bytecode"),
        *("--python-platform", machine.wheels, "--python-version", MINOR, "--target", site, "-r", requirements),
    )
    for pattern in _USELESS:
        for path in site.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for tests in site.glob("psutil/tests"):
        shutil.rmtree(tests)


def remove_records(site: Path) -> None:
    """Remove what the installer wrote about the packages. It is needed to list the components."""
    for pattern in _RECORDS:
        for path in site.glob(f"*.dist-info/{pattern}"):
            path.unlink()


def put_ourselves(site: Path) -> None:
    """Copy the files that raidbench's wheel contains to `site`, except `TESTING`, and write the .dist-info folder."""
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    sources: Mapping[str, str] = {name: name for name in wheel["packages"]} | wheel["force-include"]
    for source, place in sources.items():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, site / place, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(ROOT / source, site / place)
    shutil.rmtree(site / TESTING)
    about = site / f"raidbench-{VERSION}.dist-info"
    about.mkdir()
    project = PROJECT["project"]
    rows = (f"Name: {project['name']}", f"Version: {VERSION}", f"Summary: {project['description']}")
    (about / "METADATA").write_text("\n".join(("Metadata-Version: 2.4", *rows, "License-Expression: MIT", "")))
    shutil.copy(ROOT / "LICENSE", about / "LICENSE")


def pack_modules(tree: Path, python: Path) -> None:
    """Replace the sources of all modules by one archive of bytecode, which Python loads in a fraction of the time."""
    library = tree / ARCHIVE.rpartition("/")[0]
    shutil.copy(_MODULES / "sitecustomize.py", tree / SITE / "sitecustomize.py")
    # Columns of tracebacks are a fifth of the bytecode.
    subprocess.run((python, "-I", "-S", "-B", "-X", "no_debug_ranges", _MODULES / "pack.py", library), check=True)


def set_modes(tree: Path) -> None:
    """Set modes that do not depend on the umask: 755 for folders and programs, 644 for other files."""
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def too_new(tree: Path, machine: Machine) -> list[str]:
    """Return a sentence for each program or library that needs a newer glibc than `GLIBC` or another architecture."""
    sentences = []
    for path in sorted(
        path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and elf.is_elf(path)
    ):
        needed = elf.glibc(path)
        if elf.machine(path) != machine.name:
            sentences.append(f"{path} is for {elf.machine(path)}.")
        if needed is not None and needed > GLIBC:
            sentences.append(f"{path} needs glibc {'.'.join(map(str, needed))}.")
    return sentences


def make(machine: Machine, module: Path, requirements: Path, tree: Path) -> None:
    """Build the tree for an architecture in the folder `tree`, with the sources of all modules.

    Raises ValueError if a program or library needs a newer glibc than `GLIBC` or another architecture.
    """
    golang.put_python(module, machine.go, wanted, tree)
    site = tree / SITE
    put_wheels(machine, requirements, site)
    put_ourselves(site)
    if sentences := too_new(tree, machine):
        raise ValueError(" ".join(sentences))
