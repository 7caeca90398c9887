"""Where root keeps things when sudo left it the environment of the user who called it."""

from __future__ import annotations

import errno
import os
from contextlib import nullcontext
from pathlib import Path

import platformdirs
import pytest

from app.core.session.paths import Paths
from app.features.doctor.engine import examine
from backends.errors import StorageError
from tests.backends.fakes import FakeHost

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: these are root's own places")

JANE = 4321


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAIDBENCH_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def janes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "jane"
    home.mkdir()
    os.chown(home, JANE, JANE)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "root"
    home.mkdir(0o700)
    monkeypatch.setenv("HOME", str(home))
    return home


def test_in_a_home_of_its_own_root_keeps_things_there(own: Path) -> None:
    paths = Paths.of("")
    assert (paths.sessions, paths.config) == (
        own / ".local/state/raidbench/sessions",
        own / ".config/raidbench/config.toml",
    )


def test_in_the_home_of_a_user_it_leaves_no_state(janes: Path) -> None:
    assert Paths.of("").sessions == Path("/var/lib/raidbench/sessions")


def test_the_configuration_of_a_user_is_not_read_as_root(janes: Path) -> None:
    assert Paths.of("").config == Path("/etc/raidbench/config.toml")


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "XDG_CONFIG_HOME"])
def test_a_folder_of_a_user_counts_wherever_it_was_named(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    os.chown(folder, JANE, JANE)
    monkeypatch.setenv(variable, str(folder))
    paths = Paths.of("")
    assert folder not in (*paths.sessions.parents, *paths.config.parents)


def test_a_link_of_a_user_on_the_way_counts(own: Path, tmp_path: Path) -> None:
    (own / ".config").symlink_to(tmp_path)
    os.chown(own / ".config", JANE, JANE, follow_symlinks=False)
    assert Paths.of("").config == Path("/etc/raidbench/config.toml")


def test_a_configuration_file_that_a_user_put_there_counts(own: Path) -> None:
    file = own / ".config/raidbench/config.toml"
    file.parent.mkdir(parents=True, mode=0o755)
    file.write_text("")
    os.chown(file, JANE, JANE)
    assert Paths.of("").config == Path("/etc/raidbench/config.toml")


async def test_the_doctor_says_where_things_are_then(janes: Path, tmp_path: Path) -> None:
    chosen = Paths.of("")
    kept = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=chosen.config)
    said = [finding.detail for finding in await examine(FakeHost({}), kept, {}) if finding.name == "environment"]
    assert said == [
        f"other users can write to HOME ({janes}): sessions are in {kept.sessions}, "
        "the configuration is /etc/raidbench/config.toml"
    ]


async def test_the_doctor_says_nothing_of_a_home_of_its_own(own: Path, tmp_path: Path) -> None:
    kept = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=own / "config.toml")
    assert all(finding.name != "environment" for finding in await examine(FakeHost({}), kept, {}))


@pytest.mark.parametrize("home", ["/home/jane", "/home/jane/", "", "jane", None])
@pytest.mark.parametrize("named", ["/srv/state", "/srv//state/", "state", "", None])
def test_the_folders_are_those_of_the_xdg_specification(
    monkeypatch: pytest.MonkeyPatch, home: str | None, named: str | None
) -> None:
    """platformdirs, which Textual needs, reads the same variables; its import takes longer than all of this module."""
    for variable, value in (("HOME", home), ("XDG_STATE_HOME", named), ("XDG_CONFIG_HOME", named)):
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
    monkeypatch.setattr("app.core.session.paths._only_root_writes", lambda _: True)
    paths = Paths.of("")
    assert paths.state == platformdirs.user_state_path("raidbench")
    assert paths.config == platformdirs.user_config_path("raidbench") / "config.toml"


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(RuntimeError, match="set HOME or XDG_STATE_HOME"):
        Paths.of("")


@pytest.mark.parametrize(
    ("user", "owner", "unreadable", "readable"),
    [
        pytest.param(JANE, 0, "journal", True, id="of the root helper"),
        pytest.param(JANE, JANE, "journal", False, id="of the user"),
        pytest.param(0, 0, "journal", False, id="for root"),
        pytest.param(JANE, 0, "sessions", False, id="not the journal"),
    ],
)
def test_only_the_journal_of_the_root_helper_may_be_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, owner: int, unreadable: str, readable: bool
) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path))
    paths = Paths.of("")
    folder = getattr(paths, unreadable)
    folder.mkdir(parents=True)
    os.chown(folder, owner, owner)
    scan = os.scandir

    def refuse(path: str | Path) -> object:
        if path == folder:
            raise PermissionError(errno.EACCES, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with nullcontext() if readable else pytest.raises(StorageError, match="cannot be read: Permission denied"):
        paths.require_readable()
