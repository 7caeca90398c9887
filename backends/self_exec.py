"""Build command lines that start this program again, and detect its installation type."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterator

LAUNCHER = "RAIDBENCH_LAUNCHER"
"""Environment variable with the path of the launcher. A launcher that unpacks or wraps the program sets it."""

CONNECTED = "RAIDBENCH_ROOT_SIDE"
"""Environment variable with the number of a descriptor, which is a connection to a running root helper."""

_BEGIN = (
    "import runpy, sys; end = sys.argv.index('--'); module, sys.path[:] = sys.argv[1], sys.argv[2:end]; "
    "sys.argv[1:] = sys.argv[end + 1:]; runpy.run_module(module, run_name='__main__', alter_sys=True)"
)

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""Folder or archive that contains the packages of this program."""


def interpreter() -> str:
    """Return the path of the running interpreter."""
    # sys.executable is empty if a launcher started the interpreter under another name.
    return sys.executable or os.readlink("/proc/self/exe")


def self_exec_argv(module: str, *, with_pythonpath: bool = False) -> tuple[str, ...]:
    """Return the command line that starts a module of this program in an isolated interpreter.

    The caller may append arguments. If an isolated interpreter would not find this program (in a source tree, an
    archive, a user's own packages), the command line sets the module path of this process. `with_pythonpath`: also pass
    on PYTHONPATH, for backends that are installed there; never for a process with more privileges than this one.
    """
    python = interpreter()
    interpreter_argv = (python, "-I", "-B") if sys.flags.isolated and sys.flags.dont_write_bytecode else (python, "-I")
    own_path = with_pythonpath and not sys.flags.ignore_environment and os.environ.get("PYTHONPATH")
    if not own_path and os.path.realpath(_HERE) in _default_search_path():
        return (*interpreter_argv, "-m", module)
    places = dict.fromkeys((*(os.path.abspath(folder) for folder in sys.path if os.path.exists(folder)), _HERE))
    return (*interpreter_argv, "-c", _BEGIN, module, *places, "--")


def persistent_argv() -> tuple[str, ...]:
    """Return the command line that starts this program at any later time, independent of this process."""
    launcher = os.environ.get(LAUNCHER)
    if not launcher:
        return self_exec_argv("app")
    return (launcher,) if os.access(launcher, os.X_OK) else (self_exec_argv("app")[0], "-I", launcher)


def install_form() -> str:
    """Return the installation type: `one file`, `package`, `zipapp`, `wheel` or `tree`."""
    if os.environ.get(LAUNCHER) and _HERE.startswith(f"{sys.prefix}/"):
        return "package" if sys.prefix.startswith("/usr/") else "one file"
    if os.environ.get(LAUNCHER) or not os.path.isdir(_HERE):
        return "zipapp"
    installed = any(name.startswith("raidbench-") and name.endswith(".dist-info") for name in os.listdir(_HERE))
    return "wheel" if installed else "tree"


def _default_search_path() -> Iterator[str]:
    """Yield the folders in which an isolated interpreter finds installed packages (site, .pth)."""
    for folder in site.getsitepackages():
        yield os.path.realpath(folder)
        try:
            files = [name for name in os.listdir(folder) if name.endswith(".pth")]
        except OSError:
            continue
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as lines:
                yield from (os.path.realpath(os.path.join(folder, line.strip())) for line in lines)
