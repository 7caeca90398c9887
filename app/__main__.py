"""Entry point of `python -m app` and of the `raidbench` script."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the C part of `signal`; Python has loaded it already
import sys

if sys.argv[0].rpartition("/")[2] == "raidbench" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Nothing is running yet: Ctrl-C may end the process silently.

import gc
import os
import site
import stat

from app.startup import collect_later, print_version


def main() -> int:
    """Run the command line and return the exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _main()
    finally:
        _enable_interrupts()


def _enable_interrupts() -> None:
    """Make Ctrl-C raise KeyboardInterrupt, which the command handles. If SIGINT is ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _main() -> int:
    if not _may_run_as_root():
        return 3
    collect_later()
    if sys.argv[1:] == ["--version"] and print_version():
        return 0
    if wanted := os.environ.get("_RAIDBENCH_COMPLETE"):
        from app.cli.completion import main as complete

        return complete(wanted)
    from app.cli.main import cli
    from app.core.session.paths import restrict_umask

    restrict_umask()
    _enable_interrupts()

    status: int = cli.main(standalone_mode=False)
    gc.freeze()  # without this, the interpreter collects garbage again at exit
    return status


def _may_run_as_root() -> bool:
    """Return whether raidbench may continue. It is always True for a user who is not root.

    As root, no module may come from a folder that other users can write to. If raidbench itself is in such a folder,
    report that and return False. If only other folders of `sys.path` are writable, run raidbench again without them, in
    Python's isolated mode.
    """
    if os.geteuid() != 0 or sys.flags.isolated:
        return True
    variables = [os.environ[name] for name in ("PYTHONPATH", "PYTHONHOME") if os.environ.get(name)]
    folders = [folder or "." for paths in variables for folder in paths.split(os.pathsep)]
    folders += sys.path[:1] if not sys.flags.safe_path else []
    folders += [site.USER_SITE] if site.ENABLE_USER_SITE and site.USER_SITE else []
    untrusted = {
        os.path.realpath(folder) for folder in folders if os.path.exists(folder) and not _is_owned_by_root(folder)
    }
    if not untrusted:
        return True
    if os.path.realpath(os.path.dirname(os.path.dirname(__file__))) not in untrusted:
        sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder or ".") not in untrusted]
        from backends.self_exec import self_exec_argv

        argv = self_exec_argv("app")
        os.execv(argv[0], (*argv, *sys.argv[1:]))
    print(
        "raidbench does not run as root from a folder that another user can change. Install it for all users.",
        file=sys.stderr,
    )
    return False


def _is_owned_by_root(folder: str) -> bool:
    """Return whether only root can write to a folder and its parents.

    This function is defined here and not imported, because no module may be imported before its folder is checked.
    """
    path = os.path.realpath(folder)
    while True:
        info = os.stat(path)
        if info.st_uid != 0 or (info.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not info.st_mode & stat.S_ISVTX):
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


if __name__ == "__main__":
    sys.exit(main())
