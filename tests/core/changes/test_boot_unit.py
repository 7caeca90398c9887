"""A unit for systemd takes back at boot what was on trial: shown, written once, taken away again."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.changes.systemd_units import NAME, PATH, BootUnit, install_unit, plan_unit, remove_unit
from backends.errors import RefusedError, ToolFailedError
from backends.host import Command, Completed, FileStat
from tests.backends.fakes import FakeHost
from tests.packages import absence

JOURNAL = Path("/var/lib/raidbench/journal/journal.log")


class Booted(FakeHost):
    """A machine that systemd booted; what systemctl is told is noted."""

    def __init__(self, *, root: bool = True) -> None:
        super().__init__({}, root=root, stats={"/run/systemd/system": FileStat(kind="directory", size=0)})
        self.files.clear()
        self.told: list[tuple[str, ...]] = []
        self.status = 0

    def which(self, names: Sequence[str]) -> str | None:
        return {"systemctl": "/bin/systemctl", "/usr/bin/raidbench": "/usr/bin/raidbench"}.get(names[0])

    async def run(self, command: Command) -> Completed:
        assert command.mutates
        self.told.append(command.argv[1:])
        return Completed(returncode=self.status, stdout="", stderr="no")

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        if content:
            self.files[path] = content.decode()
        else:
            del self.files[path]


async def unit(host: FakeHost, *command: str) -> BootUnit:
    return await plan_unit(host, command or ("/usr/bin/raidbench",), JOURNAL)


async def test_it_runs_the_recovery_of_trials_once_at_boot() -> None:
    text = (await unit(Booted())).text
    assert "\nType=oneshot\n" in text
    assert "\nExecStart=/usr/bin/raidbench recover --trials\n" in text
    assert "\nWantedBy=multi-user.target\n" in text


async def test_it_does_not_begin_before_the_journal_can_be_read() -> None:
    text = (await unit(Booted())).text
    assert f"\nConditionPathExists={JOURNAL}\nRequiresMountsFor={JOURNAL.parent}\n" in text


async def test_it_waits_until_udev_has_done_with_the_disks_that_were_found() -> None:
    lines = (await unit(Booted())).text.splitlines()
    after = next(line for line in lines if line.startswith("After="))
    assert "Wants=systemd-udev-settle.service" in lines
    assert "systemd-udev-settle.service" in after.split()


async def test_it_looks_where_the_journal_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", "/srv/my state")
    text = (await unit(Booted())).text
    assert '\nEnvironment="RAIDBENCH_STATE_DIR=/srv/my state"\n' in text


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("a b", '"a b"'),
        ("50%", "50%%"),
        ("$HOME", "$$HOME"),
        ('a"b', '"a\\"b"'),
        ("a\\b", '"a\\\\b"'),
        ("a;b", '"a;b"'),
    ],
)
async def test_words_mean_to_systemd_what_they_mean_here(word: str, written: str) -> None:
    assert f"ExecStart=raidbench {written} recover" in (await unit(Booted(), "raidbench", word)).text


async def test_a_word_over_two_lines_is_refused() -> None:
    with pytest.raises(RefusedError, match="cannot contain"):
        await unit(Booted(), "raidbench", "a\nExecStart=/bin/sh")


async def test_a_program_that_others_may_exchange_is_not_run_at_boot() -> None:
    with pytest.raises(RefusedError, match="/home/me/raidbench is not protected"):
        await unit(Booted(), "/home/me/raidbench")


async def test_without_root_it_is_refused() -> None:
    with pytest.raises(RefusedError, match="Only root"):
        await unit(Booted(root=False))


async def test_without_systemd_it_is_refused_with_what_to_do_instead() -> None:
    with pytest.raises(RefusedError, match="not booted by systemd") as refusal:
        await unit(FakeHost({}))
    assert "raidbench recover --trials" in refusal.value.hint


async def test_it_is_written_made_known_and_enabled() -> None:
    host = Booted()
    await install_unit(host, await unit(host))
    assert (list(host.files), host.told) == ([PATH], [("daemon-reload",), ("enable", NAME)])


async def test_it_can_be_installed_twice() -> None:
    host = Booted()
    await install_unit(host, await unit(host))
    again = await unit(host)
    await install_unit(host, again)
    assert (again.there, host.files[PATH]) == (True, again.text)


async def test_removed_it_is_disabled_first_and_gone() -> None:
    host = Booted()
    await install_unit(host, await unit(host))
    host.told.clear()
    assert await remove_unit(host)
    assert (host.files, host.told) == ({}, [("disable", NAME), ("daemon-reload",)])


async def test_what_is_not_there_is_not_removed() -> None:
    host = Booted()
    assert not await remove_unit(host)
    assert host.told == []


async def test_what_systemctl_does_not_do_is_a_failure_in_its_words() -> None:
    host = Booted()
    host.status = 1
    with pytest.raises(ToolFailedError, match="systemctl daemon-reload failed") as failure:
        await install_unit(host, await unit(host))
    assert failure.value.evidence == "no"


async def test_root_runs_no_archive_at_boot_that_somebody_else_can_exchange(tmp_path: Path) -> None:
    archive = tmp_path / "raidbench.pyz"
    archive.touch(mode=0o666)
    archive.chmod(0o666)
    with pytest.raises(RefusedError, match=r"raidbench\.pyz is not protected"):
        await unit(Booted(), "/usr/bin/raidbench", "-I", str(archive))


@pytest.mark.skipif(bool(absence("systemd-analyze")), reason=absence("systemd-analyze") or "it is there")
async def test_systemd_understands_it(tmp_path: Path) -> None:
    host = Booted()
    file = tmp_path / NAME
    file.write_text((await unit(host)).text.replace("/usr/bin/raidbench", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True)
    assert (done.returncode, NAME in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize("content", ["[Unit]\n", "# mine\n" + "x" * 100, " "])
async def test_a_unit_of_another_author_is_left_alone(content: str) -> None:
    host = Booted()
    host.files[PATH] = content
    with pytest.raises(RefusedError, match="not written by raidbench"):
        await unit(host)
    with pytest.raises(RefusedError, match="not written by raidbench"):
        await remove_unit(host)
    assert (host.files[PATH], host.told) == (content, [])
