"""The unit that takes back what was on trial when the machine went down, by a systemd that really boots."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine.change.boot_unit import NAME
from app.engine.session import journal as journal_module
from app.engine.session.journal import Journal
from app.engine.session.paths import Paths
from app.engine.workbench import Workbench
from backends.hosts.local import LocalHost
from backends.model import Target
from tests.lab.disks import Disks
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.test_lying import SDPARM, caches

SYSTEMD = "/lib/systemd/systemd"
UNITS = Path("/etc/systemd/system")
MASKED = ("getty.target", "systemd-logind.service", "systemd-udevd.service", "systemd-udev-trigger.service")
"""What the laboratory has no use for; what udev would do there is done already."""

INSTALL = f"""
[Unit]
After=local-fs.target
[Service]
Type=oneshot
Environment=RAIDBENCH_STATE_DIR={{state}}
ExecStart={sys.executable} -I -m app recover --install-unit --yes
"""
END = f"""
[Unit]
After={NAME} lab-install.service
SuccessAction=poweroff-force
[Service]
Type=oneshot
ExecStart=/bin/true
"""
BOOT = f"""
mount --make-rprivate / && mount -t proc proc /proc
exec env -i PATH="$PATH" container=lab SYSTEMD_PROC_CMDLINE=systemd.unit=multi-user.target \
    {SYSTEMD} --log-target=console --log-level=notice
"""

pytestmark = [
    pytest.mark.seconds(1500),
    pytest.mark.skipif(not Path(SYSTEMD).exists(), reason="needs systemd"),
]


@pytest.fixture
def units() -> Iterator[Path]:
    """Units of systemd, with nothing of the host's among them."""
    kept = UNITS.with_name("system.kept")
    shutil.copytree(UNITS, kept, symlinks=True)
    shutil.rmtree(UNITS)
    UNITS.mkdir()
    for name in MASKED:
        (UNITS / name).symlink_to("/dev/null")
    (UNITS / "multi-user.target.wants").mkdir()
    yield UNITS
    shutil.rmtree(UNITS)
    kept.rename(UNITS)


def wanted(units: Path, name: str, text: str) -> None:
    """A unit that every boot begins."""
    (units / name).write_text(text)
    (units / "multi-user.target.wants" / name).symlink_to(units / name)


def boot() -> str:
    """systemd as process 1 of a namespace, until it powers off; what it said."""
    words = ("unshare", "--pid", "--fork", "--kill-child", "--mount", "--cgroup", "sh", "-c", BOOT)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500)
    return done.stdout[-3000:] + done.stderr[-3000:]


async def test_what_was_on_trial_when_the_machine_went_down_is_put_back_at_boot(
    disks: Disks, units: Path, state: Path, table: Results
) -> None:
    disk = disks["scsi0"]
    bench = Workbench(LocalHost(), paths=Paths.default())
    change = await bench.plan(Target(backend="scsi", address=disk.kernel), "drive_cache", "off")
    with pytest.MonkeyPatch.context() as before:
        before.setattr(journal_module, "boot_id", lambda: "the boot before")
        bench.journal.intent("c1", state / "sessions/of-before", change, until=60.0)
    run(SDPARM, "--set=WCE=0", disk.device)
    wanted(units, "lab-end.service", END)
    wanted(units, "lab-install.service", INSTALL.format(state=state))
    said = boot()
    installed = (units / "multi-user.target.wants" / NAME).is_symlink()
    between = caches(disk)
    (units / "multi-user.target.wants/lab-install.service").unlink()
    said += boot()
    left = Journal(state / "journal").unresolved()
    seen = f"installed: {installed}, cache {between}; booted again: {caches(disk)}, {len(left)} left"
    run(SDPARM, "--set=WCE=1", disk.device)
    ok = seen == "installed: True, cache off; booted again: on, 0 left"
    assert table.add("Faults", "the machine goes down during a trial", NAME, seen, ok=ok), said
