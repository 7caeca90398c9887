"""The unit that takes back what was on trial when the machine went down, in a systemd that really boots."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.changes.systemd_units import NAME
from app.core.session import journal as journal_module
from app.core.session.journal import Journal, boot_clock
from app.core.workbench import Workbench
from backends.model import Target
from tests.lab.disks import Disks
from tests.lab.results import Results
from tests.lab.running import ROOT, run
from tests.lab.test_lying import SDPARM, caches

SYSTEMD = "/lib/systemd/systemd"
UNITS = Path("/etc/systemd/system")
OF_THE_SYSTEM = Path("/lib/systemd/system")

INSTALL = f"""
[Unit]
After=local-fs.target
[Service]
Type=oneshot
Environment=RAIDBENCH_STATE_DIR={{state}} PYTHONPATH={ROOT}
WorkingDirectory={ROOT}
ExecStart={sys.executable} -m app recover --install-unit --yes
StandardOutput=file:{{said}}
StandardError=file:{{said}}
"""
END = f"""
[Unit]
After={NAME} lab-install.service
SuccessAction=exit-force
[Service]
Type=oneshot
ExecStart=/bin/true
"""
TRIED = f"""
[Service]
Type=oneshot
TimeoutStopSec=1s
Environment=RAIDBENCH_STATE_DIR={{state}} PYTHONPATH={ROOT}
WorkingDirectory={ROOT}
ExecStart={sys.executable} -m app set {{device}} drive_cache=off --trial 100 --yes
StandardOutput=file:{{said}}
StandardError=file:{{said}}
"""
WAITS = f"""
[Unit]
After=lab-tried.service
[Service]
Type=oneshot
TimeoutStartSec=infinity
WorkingDirectory={ROOT}
ExecStart={sys.executable} -m tests.lab.test_unit {{state}} {{said}}
"""
BOOT = f"""
mount --make-rprivate / && mount -t proc proc /proc
exec env -i PATH="$PATH" container=lab SYSTEMD_PROC_CMDLINE=systemd.unit=multi-user.target {SYSTEMD} --show-status=0
"""

pytestmark = [
    pytest.mark.seconds(600),
    pytest.mark.skipif(not Path(SYSTEMD).exists(), reason="needs systemd"),
]


@pytest.fixture
def units() -> Iterator[Path]:
    """Where units lie, with nothing of the host's among them, and what every Debian starts left out."""
    kept = UNITS.with_name("system.kept")
    shutil.copytree(UNITS, kept, symlinks=True)
    shutil.rmtree(UNITS)
    (UNITS / "multi-user.target.wants").mkdir(parents=True)
    for started in OF_THE_SYSTEM.glob("*.target.wants/*"):
        mask = UNITS / started.name
        if not mask.is_symlink():
            mask.symlink_to("/dev/null")
    yield UNITS
    shutil.rmtree("/run/systemd", ignore_errors=True)  # by which programs tell that systemd runs
    shutil.rmtree(UNITS)
    kept.rename(UNITS)


def wanted(units: Path, name: str, text: str) -> None:
    """A unit that every boot begins."""
    (units / name).write_text(text)
    (units / "multi-user.target.wants" / name).symlink_to(units / name)


def boot() -> None:
    """systemd as process 1 of a namespace, until the last unit ends it."""
    words = ("unshare", "--pid", "--fork", "--kill-child", "--mount", "--cgroup", "sh", "-c", BOOT)
    subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=250)


def wait_for_the_end(state: Path, said: Path) -> None:
    """Note what else runs while something is on trial, until nothing is, or it is long overdue."""
    journal = Journal(state / "journal")
    with said.open("a") as out:
        for trial in journal.trials():
            out.write(subprocess.run(["systemctl", "list-units", "raidbench*"], capture_output=True, text=True).stdout)
            out.flush()
            while journal.trials() and boot_clock() < (trial.until or 0.0) + 60:
                time.sleep(0.5)


async def test_a_trial_comes_back_though_all_that_the_session_left_was_ended(
    workbench: Workbench, disks: Disks, units: Path, state: Path, tmp_path: Path
) -> None:
    disk, said = disks["scsi0"], tmp_path / "said"
    wanted(units, "lab-tried.service", TRIED.format(state=state, said=said, device=f"scsi:{disk.kernel}"))
    wanted(units, "lab-waits.service", WAITS.format(state=state, said=said))
    wanted(units, "lab-end.service", END.replace("lab-install", "lab-waits"))
    boot()
    told, cache = said.read_text(), caches(disk)
    run(SDPARM, "--set=WCE=1", disk.device)  # whatever came of it: others begin with a cache that is on
    assert ("raidbench-trial-" in told, cache, Journal(state / "journal").trials()) == (True, "on", ()), told


async def test_what_was_on_trial_when_the_machine_went_down_is_put_back_at_boot(
    workbench: Workbench, disks: Disks, units: Path, state: Path, table: Results, tmp_path: Path
) -> None:
    disk, said = disks["scsi0"], tmp_path / "said"
    change = await workbench.hardware.plan(Target(backend="scsi", address=disk.kernel), "drive_cache", "off")
    with pytest.MonkeyPatch.context() as before:
        before.setattr(journal_module, "boot_id", lambda: "the boot before")
        workbench.changes.journal.write_intent("c1", state / "sessions/of-before", change, until=60.0)
    run(SDPARM, "--set=WCE=0", disk.device)
    wanted(units, "lab-end.service", END)
    wanted(units, "lab-install.service", INSTALL.format(state=state, said=said))
    boot()
    installed = (units / "multi-user.target.wants" / NAME).is_symlink()
    between = caches(disk)
    (units / "multi-user.target.wants/lab-install.service").unlink()
    boot()
    left = Journal(state / "journal").unresolved()
    seen = f"enabled: {installed}, cache {between}; at the next boot: {caches(disk)}, {len(left)} left"
    run(SDPARM, "--set=WCE=1", disk.device)
    ok = seen == "enabled: True, cache off; at the next boot: on, 0 left"
    told = said.read_text() if said.exists() else "nothing"
    assert table.add("Faults", "the machine goes down during a trial", NAME, seen, ok=ok), f"{seen}\n{told}"


if __name__ == "__main__":
    wait_for_the_end(*map(Path, sys.argv[1:]))
