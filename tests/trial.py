"""A trial of the program by its command line, whatever form it has and wherever it runs."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from app.core.session.journal import Journal
from tests.backends.loops import Loop, wait_for

Shell = Callable[[str], subprocess.CompletedProcess[str]]
"""Runs a script to its end: some forms are tried in a process namespace, whose end kills the watchdog."""

SCRIPT = """\
{command} doctor | sed -n 's/^ok *trials .*/rehearsed/p'
{command} set {device} read_ahead_kb={wanted} --trial 10 --yes >&2 || exit
cat {attribute}
{meanwhile}
i=0
while read -r now < {attribute} && [ "$now" = {wanted} ] && [ $((i += 1)) -lt 480 ]; do sleep 0.25; done
cat {attribute}
"""
"""Waits for the value, at most two minutes."""


def shell(state: Path, cwd: Path | None = None, **more: str) -> Shell:
    """Runs a script here, with sessions, journal and all else of the program below `state`."""
    places = {"HOME": str(state), "RAIDBENCH_STATE_DIR": str(state), "RAIDBENCH_UNPACK_DIR": str(state / "unpacked")}
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **places, **more}

    def run(script: str) -> subprocess.CompletedProcess[str]:
        argv = ("sh", "-c", script)
        done = subprocess.run(
            argv, env=environment, cwd=cwd or "/", stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        wait_for(lambda: not Journal(state / "journal").trials())  # its last record, before the folder goes
        return done

    return run


def try_trial(command: str, disk: Loop, run: Shell, *, meanwhile: str = "") -> None:
    """Rehearse a trial, set a value on trial, and wait until it has reverted.

    `command`: as a shell has it. `meanwhile`: more of the script, while the value is on trial.
    """
    attribute = Path(f"/sys/block/{disk.name}/queue/read_ahead_kb")
    before = attribute.read_text().strip()
    wanted = "1024" if before != "1024" else "2048"
    places: Mapping[str, str] = {"device": disk.sure(), "attribute": shlex.quote(str(attribute))}
    done = run(SCRIPT.format(command=command, wanted=wanted, meanwhile=meanwhile, **places))
    assert (done.stdout.split(), attribute.read_text().strip()) == (["rehearsed", wanted, before], before), done.stderr
