"""A journal that cannot be written: nothing is set."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from app.cli.main import cli
from tests.backends.loops import loop, run
from tests.tally import Tally


def _small(folder: Path, stack: ExitStack, *options: str) -> Path:
    """A file system of its own."""
    folder.mkdir()
    run("mount", "-t", "tmpfs", "-o", ",".join(("size=256k", *options)), "raidbench-trust", str(folder))
    stack.callback(run, "umount", str(folder))
    return folder


def _full(folder: Path, stack: ExitStack) -> Path:
    state = _small(folder, stack)
    with contextlib.suppress(OSError), open(state / "filler", "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    return state


def _read_only(folder: Path, stack: ExitStack) -> Path:
    return _small(folder, stack, "ro")


def _no_inodes(folder: Path, stack: ExitStack) -> Path:
    return _small(folder, stack, "nr_inodes=1")


def _behind_a_file(folder: Path, stack: ExitStack) -> Path:
    folder.write_text("in the way")
    return folder / "state"


def _behind_a_broken_link(folder: Path, stack: ExitStack) -> Path:
    folder.mkdir()
    (folder / "journal").symlink_to(folder / "nowhere" / "else")
    return folder


STATES: Mapping[str, Callable[[Path, ExitStack], Path]] = {
    "full": _full,
    "read-only": _read_only,
    "without room for a name": _no_inodes,
    "behind a file": _behind_a_file,
    "behind a broken link": _behind_a_broken_link,
}
"""Where the state folder may lie."""


def run_all(folder: Path, tries: int, seed: int) -> Tally:
    """So many changes, on trial and not, in turn with each of the states."""
    tally = Tally()
    with loop(folder / "disk", size=1 << 20) as disk:
        setting = Path(f"/sys/block/{disk.name}/queue/read_ahead_kb")
        before = setting.read_text().strip()
        wanted = "1024" if before != "1024" else "2048"
        for number in range(tries):
            name, make = list(STATES.items())[number % len(STATES)]
            words = ["set", disk.device, f"read_ahead_kb={wanted}", "--yes"]
            words += ["--trial", "10"] if number >= len(STATES) else []
            with ExitStack() as stack, tally.attempt(f"{name}: {' '.join(words)}"):
                state = make(folder / str(number), stack)
                with patch.dict(os.environ, {"RAIDBENCH_STATE_DIR": str(state)}):
                    done = CliRunner().invoke(cli, words, prog_name="raidbench")
                assert setting.read_text().strip() == before, f"it was set, exit {done.exit_code}"
                assert done.exit_code not in (0, 70), done.output
    return tally
