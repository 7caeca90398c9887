"""What a helper under test does, noted in a file by the interpreter itself. Nothing else of the tests is imported."""

from __future__ import annotations

import json
import os
import sys

NOTED = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "socket.connect", "socket.bind", "os.remove")
"""Events of sys.addaudithook that do something outside of the process."""

_ALSO = ("os.rename", "os.mkdir", "os.rmdir", "os.chown", "os.chmod", "os.link", "os.symlink", "os.truncate")

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def begin(log: str) -> None:
    """From now on note programs that are started, files that are opened for writing, and names that are changed."""
    if os.geteuid() != 0:
        return
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def note(event: str, args: tuple[object, ...]) -> None:
        if args and isinstance(args[0], int):  # what is open already
            return
        if event == "open":
            if not isinstance(args[2], int) or not args[2] & _WRITES:
                return
        elif event not in NOTED and event not in _ALSO:
            return
        os.write(descriptor, json.dumps([event, *map(_plain, args)]).encode() + b"\n")

    sys.addaudithook(note)


def _plain(value: object) -> object:
    """As text, a list of texts for the words of a program."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else repr(value)
