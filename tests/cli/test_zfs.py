"""ZFS on the simulated rack from the command line: what is inherited goes back to being inherited, however it ends."""

from __future__ import annotations

import re

import pytest

from app.core.session.journal import Journal
from app.core.session.paths import Paths
from backends.change import Change, ChangeStep
from backends.identity import Identity
from backends.model import Scope, Target
from tests.cli.conftest import Cli

LINUX = ("--demo", "linux", "--demo-speed", "1000")
FILES = "zfs:tank/files"
SHORT = ("--bs", "4k", "--rw", "randread", "--runtime", "2")


def raw(cli: Cli, key: str, target: str = FILES) -> str:
    """A value as zfs tells it, with its source."""
    settings = cli(*LINUX, "show", target, "--json").json["target"]["settings"]
    return str(next(one["raw"] for one in settings if one["key"] == key))


def test_the_review_names_the_way_back_and_what_inherits(cli: Cli) -> None:
    told = cli(*LINUX, "set", "zfs:tank", "compression=off", "sync=always", "--dry-run").out
    assert "/usr/sbin/zfs set compression=off tank" in told
    assert "/usr/sbin/zfs inherit sync tank" in told
    assert "Compression of zfs:tank also changes on tank/files, tank/vm, which inherit it." in told


@pytest.mark.long
def test_undo_brings_the_source_back(cli: Cli) -> None:
    assert raw(cli, "compression") == "lz4 (inherited from tank)"
    assert cli(*LINUX, "set", FILES, "compression=lz4", "--yes").status == 0
    assert raw(cli, "compression") == "lz4 (local)"
    assert cli(*LINUX, "undo", "--yes").status == 0
    assert raw(cli, "compression") == "lz4 (inherited from tank)"


def crashed(guid: str) -> None:
    """A change in the journal that a killed raidbench made and did not end."""
    change = Change(
        target=Target(backend="zfs", address="tank/files", scope=Scope.ARRAY),
        key="sync",
        label="Sync",
        before="inherit",
        after="always",
        writes=(ChangeStep(argv=("/usr/sbin/zfs", "set", "sync=always", "tank/files")),),
        undo=(ChangeStep(argv=("/usr/sbin/zfs", "inherit", "sync", "tank/files")),),
        identity=Identity(name="tank/files", serial=guid),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.core.session.journal.process_start", lambda _pid: "1")
        paths = Paths.of("linux")
        Journal(paths.journal).write_intent("c1", paths.sessions / "gone", change)


def test_what_a_crash_left_is_inherited_again(cli: Cli) -> None:
    assert cli(*LINUX, "set", FILES, "sync=always", "--yes").status == 0
    crashed("1246913570020144333")
    told = cli(*LINUX, "recover", "--restore")
    assert told.status == 0, told.err
    assert raw(cli, "sync") == "standard (default)"


def test_what_was_made_anew_after_a_crash_is_left_alone(cli: Cli) -> None:
    assert cli(*LINUX, "set", FILES, "sync=always", "--yes").status == 0
    crashed("77")
    assert cli(*LINUX, "recover", "--restore").status != 0
    assert raw(cli, "sync") == "always (local)"


@pytest.mark.long
@pytest.mark.parametrize(("setting", "times"), [("recordsize=16384", 2), ("primarycache=metadata", 1)])
def test_a_file_is_made_anew_for_what_counts_for_new_data_only(cli: Cli, setting: str, times: int) -> None:
    done = cli(*LINUX, "ab", FILES, setting, "--on", "/tank/files", *SHORT, "--pairs", "1", "--yes")
    begun = re.findall(r"laying out file$", done.err + done.out, re.MULTILINE)  # a slow one tells its rate, too
    assert len(begun) == times, done.err
    assert raw(cli, setting.partition("=")[0]).endswith("(default)")


@pytest.mark.long
def test_a_run_on_a_filesystem_has_its_settings_and_what_is_in_force(cli: Cli) -> None:
    assert cli(*LINUX, "bench", FILES, *SHORT).status == 0
    (run,) = cli(*LINUX, "runs", "--json").json["runs"]
    assert run["settings"]["recordsize"] == "131072"
    assert run["provenance"]["in_force_recordsize"] == "131072"
    assert run["settings"]["atime"] == "off"
