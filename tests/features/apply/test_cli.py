"""`export` and `apply` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

FILE = """format = 1
[[target]]
select = {address = "megaraid:/c0/v1"}
[target.set]
read_ahead = "read-ahead"
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "f.toml"
    path.write_text(FILE)
    return str(path)


def test_what_is_exported_differs_in_nothing(cli: Cli, tmp_path: Path) -> None:
    path = str(tmp_path / "good.toml")
    assert cli("--demo", "export", "megaraid:/c0/v1", "megaraid:/c0", "-o", path).status == 0
    assert cli("--demo", "apply", path, "--check").status == 0


@pytest.mark.long
def test_a_difference_is_told_made_and_gone(cli: Cli, file: str) -> None:
    told = cli("--demo", "apply", file, "--check")
    assert (told.status, told.out) == (
        5,
        "differs   megaraid:/c0/v1  read_ahead is none, should be read-ahead (line 5)\n",
    )
    assert cli("--demo", "apply", file, "--diff").out.splitlines()[1:] == [
        "-read_ahead = none",
        "+read_ahead = read-ahead",
    ]
    done = cli("--demo", "apply", file, "--yes", "--json")
    assert (done.status, done.json["changes"][0]["outcome"]["result"]) == (0, "verified")
    again = cli("--demo", "apply", file, "--yes", "--json")
    assert (again.status, again.json["changes"]) == (0, [])
    assert cli("--demo", "undo", "--yes").status == 0
    assert cli("--demo", "apply", file, "--check").status == 5


def test_a_dry_run_shows_the_commands(cli: Cli, file: str) -> None:
    done = cli("--demo", "apply", file, "--dry-run")
    assert (done.status, "set rdcache=ra" in done.out) == (5, True)
    assert cli("--demo", "apply", file, "--check").status == 5


def test_nobody_to_ask_is_refused_with_what_to_add(cli: Cli, file: str) -> None:
    done = cli("--demo", "apply", file)
    assert (done.status, "--yes" in done.err) == (3, True)


def test_a_wrong_file_is_wrong_usage(cli: Cli, file: str) -> None:
    Path(file).write_text(FILE.replace("read-ahead", "nonsense"))
    done = cli("--demo", "apply", file, "--check")
    assert (done.status, "f.toml, line 5: read_ahead" in done.err) == (2, True)
    assert cli("--demo", "apply", file + ".not", "--check").status == 2


def test_what_only_a_new_array_has_otherwise_leaves_a_difference(cli: Cli, file: str) -> None:
    Path(file).write_text(FILE + "strip_size = 131072\n")
    done = cli("--demo", "apply", file, "--yes")
    assert (done.status, "manually: raidbench set megaraid:/c0/v1 strip_size=131072" in done.err) == (5, True)


def test_a_file_too_large_to_be_one_of_settings_is_never_cut(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text("format = 1\n" + "# all of this is somebody's\n" * 40_000)
    before = path.read_bytes()
    done = cli("--demo", "export", "megaraid:/c0/v1", "-o", str(path))
    assert (done.status, "It is not a settings file." in done.err, path.read_bytes() == before) == (3, True, True)


def test_a_file_that_is_there_and_none_of_ours_is_not_written_over(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("mine")
    assert cli("--demo", "export", "megaraid:/c0/v1", "-o", str(path)).status == 2
    assert path.read_text() == "mine"


def test_read_only_changes_nothing(cli: Cli, file: str) -> None:
    assert cli("--demo", "--read-only", "apply", file, "--yes").status == 3
    assert cli("--demo", "--read-only", "apply", file, "--check").status == 5


def test_by_model_no_thing_is_named_by_what_is_its_own_and_nothing_differs(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "by-model.toml"
    assert cli("--demo", "linux", "export", "--by-model", "-o", str(path)).status == 0
    selects = [one["select"] for one in cli("--demo", "linux", "export", "--by-model", "--json").json["targets"]]
    assert {key for select in selects for key in select} == {"vendor", "kind", "model", "level"}
    assert len({tuple(select.items()) for select in selects}) == len(selects) > 10
    assert cli("--demo", "linux", "apply", str(path), "--check").status == 0


def test_by_model_what_not_all_have_alike_is_left_out(cli: Cli) -> None:
    def values() -> dict[str, str]:
        told = cli("--demo", "linux", "export", "--by-model", "--json").json["targets"]
        found: dict[str, str] = next(
            one["set"] for one in told if one["select"]["vendor"] == "block" and one["select"]["model"] == "ST3500630NS"
        )
        return found

    before = values()
    assert cli("--demo", "linux", "set", "block:sdc", "read_ahead_kb=4096", "--yes").status == 0
    assert set(before) - set(values()) == {"read_ahead_kb"}


WITH_DISK = """format = 1
[[target]]
select = {address = "block:sde"}
[target.set]
write_cache = "write-back"
read_ahead_kb = 256
[[target]]
select = {address = "megaraid:/c3/v0"}
[target.set]
write_cache = "write-back"
"""


@pytest.mark.long
def test_a_step_that_another_one_has_made_is_done_and_undo_brings_both_back(cli: Cli, file: str) -> None:
    Path(file).write_text(WITH_DISK)
    assert cli("--demo", "set", "/c3/v0", "write_cache=write-through", "--yes").status == 0
    done = cli("--demo", "apply", file, "--yes")
    assert (done.status, "verified  block:sde write_cache: already write-back\n" in done.out) == (0, True)
    assert cli("--demo", "apply", file, "--check").status == 0
    assert cli("--demo", "undo", "--all", "--yes").status == 0
    told = cli("--demo", "apply", file, "--check").out.splitlines()
    assert [line.split()[1:3] for line in told] == [["block:sde", "read_ahead_kb"]]


def test_a_done_step_has_no_id(cli: Cli, file: str) -> None:
    Path(file).write_text(WITH_DISK)
    assert cli("--demo", "set", "/c3/v0", "write_cache=write-through", "--yes").status == 0
    outcomes = [one["outcome"] for one in cli("--demo", "apply", file, "--yes", "--json").json["changes"]]
    assert [(one["id"] is None, one["result"]) for one in outcomes] == [
        (False, "verified"),
        (True, "verified"),
        (False, "verified"),
    ]


@pytest.mark.long
def test_a_value_that_is_not_legal_any_more_is_blocked_and_the_rest_is_set(cli: Cli, tmp_path: Path) -> None:
    path = str(tmp_path / "good.toml")
    assert cli("--demo", "linux", "export", "zfs:/module", "block:sda", "-o", path).status == 0
    changes = (("zfs:/module", "zfs_arc_max=8589934592"), ("block:sda", "read_ahead_kb=512"))
    for target, wish in changes:
        assert cli("--demo", "linux", "set", target, wish, "--yes").status == 0
    for words in (("--check",), ("--dry-run",), ("--yes",)):
        done = cli("--demo", "linux", "apply", path, *words, "--json")
        kinds = {one["key"]: one["kind"] for one in done.json["drift"]}
        assert (done.status, kinds["zfs_arc_max"]) == (5, "blocked")
    assert [one["key"] for one in cli("--demo", "linux", "apply", path, "--check", "--json").json["drift"]] == [
        "zfs_arc_max"
    ]


@pytest.mark.long
def test_what_becomes_possible_is_shown_and_set_in_the_same_run(cli: Cli, tmp_path: Path) -> None:
    path, cards = tmp_path / "f.toml", [f"smartarray:/slot0/ld{number}" for number in (1, 2, 3)]
    for card in cards:
        assert cli("--demo", "hpe", "set", card, "acceleration=none", "--yes").status == 0
    path.write_text(
        'format = 1\n[[target]]\nselect = {address = "smartarray:/slot0"}\nset = {cache_ratio = "50/50"}\n'
        f'[[target]]\nselect = {{address = "{cards[0]}"}}\nset = {{acceleration = "controller-cache"}}\n'
    )
    done = cli("--demo", "hpe", "apply", str(path), "--yes")
    assert (done.status, "cacheratio=50/50" in done.err, "cache_ratio" in done.out) == (0, True, True)
    assert cli("--demo", "hpe", "apply", str(path), "--check").status == 0
    assert cli("--demo", "hpe", "undo", "--all", "--yes").status == 0
    assert cli("--demo", "hpe", "apply", str(path), "--check").status == 5
