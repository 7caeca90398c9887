"""The .deb and the .rpm: installed into a clean Debian 12, used, removed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.cli.command_index import COMMANDS
from tests.backends.loops import Loop, loop, needs_loops
from tests.package.hosts import CLEAN, table
from tests.package.shipped import DEB, RPM, needs_shipped
from tests.packages import needs
from tests.trial import try_trial
from tools.package.tree import VERSION

pytestmark = [pytest.mark.package, pytest.mark.root, pytest.mark.slow, needs_shipped]
INSTALL = f"apt-get install -y --no-install-recommends /in/{DEB.name}"
REMOVE = "apt-get remove -y raidbench"
FILES = "find / -xdev ! -path '/proc*' ! -path '/in*' ! -path '/tmp*' ! -path '/var/lib/dpkg*' ! -path '/var/log*' \
    ! -path '/var/cache/*' ! -path '/var/lib/apt*' ! -path /var/lib/systemd/deb-systemd* ! -name '.placeholder' | sort"


@dataclass(frozen=True)
class Fresh:
    """A root in which nothing of ours has ever been."""

    work: Path

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        return CLEAN.run(self.work, script)


@pytest.fixture
def fresh(tmp_path: Path) -> Fresh:
    if why := CLEAN.why_not():
        pytest.skip(why)
    (tmp_path / "in").mkdir()
    shutil.copy(DEB, tmp_path / "in")
    return Fresh(tmp_path)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk.img") as made:
        yield made


def read_ahead(disk: Loop) -> str:
    return Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").read_text().strip()


def test_it_is_installed_and_nothing_in_it_is_changed_by_running_it(fresh: Fresh) -> None:
    done = fresh.run(
        f"{INSTALL} >&2 && raidbench --version && raidbench devices >&2 && dpkg -V raidbench && echo clean"
    )
    assert done.stdout.splitlines() == [f"raidbench {VERSION}", "clean"], done.stderr
    table.note(CLEAN.title, "`apt-get install ./raidbench_*.deb`, `dpkg -V`", "installed, clean")


def test_its_manual_is_there(fresh: Fresh) -> None:
    done = fresh.run(
        f"{INSTALL} >&2 && for name in {' '.join(f'raidbench-{name}' for name in COMMANDS)} raidbench raidbench.toml;"
        " do man -w $name >&2 || echo $name; done; man raidbench-set | cat"
    )
    assert "--trial SECONDS" in done.stdout, done.stderr
    assert done.stdout.startswith("RAIDBENCH-SET(1)")
    table.note(CLEAN.title, "`man raidbench`, one page for each command", "present")


def test_bash_completes_it_without_being_told(fresh: Fresh) -> None:
    script = (
        ". /usr/share/bash-completion/bash_completion; _completion_loader raidbench;"
        'COMP_LINE="raidbench dev"; COMP_POINT=13; _raidbench_completion raidbench; echo ${COMPREPLY[@]}'
    )
    done = fresh.run(f"{INSTALL} >&2 && bash -c '{script}'")
    assert done.stdout == "devices\n", done.stderr
    table.note(CLEAN.title, "completion of bash", "works")


def test_removing_it_leaves_what_the_administrator_made_and_nothing_else(fresh: Fresh) -> None:
    rule = "/etc/udev/rules.d/99-raidbench.rules"
    done = fresh.run(f"""
        {FILES} >/tmp/before
        {INSTALL} >&2 && raidbench devices >&2 && raidbench --demo devices >&2
        mkdir -p /etc/udev/rules.d && echo '# kept' >{rule}
        mkdir -p /var/lib/raidbench/journal && echo '{{}}' >/var/lib/raidbench/journal/kept
        {REMOVE} >/tmp/out 2>&1 || exit 1
        grep 'Not removed' /tmp/out
        {FILES} >/tmp/after
        diff /tmp/before /tmp/after | grep '^[<>]'
    """)
    starts = ("Not removed", (">", "<"))
    told, left = ([row for row in done.stdout.splitlines() if row.startswith(start)] for start in starts)
    assert [row.split(": ")[1] for row in told] == [rule, "/var/lib/raidbench"], done.stderr
    assert [row for row in left if not row.startswith(("> /root/.local/state", "> /root/.local"))] == [
        *(f"> {folder}" for folder in ("/etc/udev", "/etc/udev/rules.d", rule) if f"> {folder}" in left),
        *(f"> /var/lib/raidbench{path}" for path in ("", "/journal", "/journal/kept")),
    ]
    table.note(
        CLEAN.title, "`apt-get remove raidbench`", "keeps and names the administrator's rules, journal and sessions"
    )


@needs_loops()
def test_removing_it_waits_for_the_value_that_is_on_trial(fresh: Fresh, disk: Loop) -> None:
    before, attribute = read_ahead(disk), f"/sys/block/{disk.name}/queue/read_ahead_kb"
    done = fresh.run(f"""
        {INSTALL} >&2 && raidbench set {disk.sure()} read_ahead_kb=512 --trial 10 --yes >&2 && cat {attribute}
        {REMOVE} >/tmp/out 2>&1 || exit 1
        cat {attribute}
        grep -o 'A setting is on trial' /tmp/out
        ls /usr/lib/raidbench 2>/dev/null
    """)
    assert done.stdout.splitlines() == ["512", before, "A setting is on trial"], done.stderr
    table.note(CLEAN.title, "removed during a trial", "waits, then the value reverts")


@needs_loops()
def test_a_value_on_trial_reverts_though_the_program_is_gone(fresh: Fresh, disk: Loop) -> None:
    gone = "rm -rf /usr/lib/raidbench /usr/bin/raidbench"
    try_trial("raidbench", disk, lambda script: fresh.run(f"{INSTALL} >&2\n{script}"), meanwhile=gone)
    table.note(CLEAN.title, "its files deleted during a trial", "the value reverts")


def test_it_is_not_removed_below_something_that_runs_out_of_it(fresh: Fresh) -> None:
    done = fresh.run(f"""
        {INSTALL} >&2
        /usr/lib/raidbench/*/bin/python3* -I -c 'import time; time.sleep(600)' &
        for i in $(seq 1200); do readlink /proc/[0-9]*/exe | grep -q /usr/lib/raidbench && break; sleep 0.1; done
        {REMOVE} >/tmp/out 2>&1 && exit 1
        grep -o 'raidbench is running' /tmp/out
        raidbench --version
    """)
    assert done.stdout.splitlines()[-2:] == ["raidbench is running", f"raidbench {VERSION}"], done.stderr


@needs("rpm")
def test_the_rpm_is_installed_verified_and_removed(tmp_path: Path) -> None:
    """By this machine's rpm into that root: a distribution that has rpm is out of reach here."""
    if why := CLEAN.why_not():
        pytest.skip(why)
    merged = tmp_path / "root"
    subprocess.run(("cp", "-a", CLEAN.folder, merged), check=True)  # which makes a device of a device
    rpm = ("rpm", "--root", str(merged), "--dbpath", "/var/lib/rpm")
    subprocess.run((*rpm, "--nodeps", "-i", RPM), check=True)
    said = subprocess.run(("chroot", merged, "/usr/bin/raidbench", "--version"), capture_output=True, text=True).stdout
    verified = subprocess.run((*rpm, "--nodeps", "-V", "raidbench"), capture_output=True, text=True).stdout
    subprocess.run((*rpm, "-e", "raidbench"), check=True)
    left = [path for path in merged.rglob("*raidbench*") if not path.is_relative_to(merged / "var/lib/rpm")]
    assert (said, verified, left) == (f"raidbench {VERSION}\n", "", [])
    table.note(CLEAN.title, "the .rpm by rpm 4.18: installed, `rpm -V`, removed", "runs, clean, nothing left")
