"""`set` on a recorded machine: what is shown, asked, refused and done."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.core.changes.persistence import SettingPersister
from backends.errors import StorageError, ToolFailedError
from backends.model import Target
from backends.protocol import PersistRule
from backends.system.recorded import ReplayHost
from tests.cli.conftest import Cli
from tests.cli.machine import machine as recorded


def test_a_dry_run_shows_the_exact_command(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "read_ahead_kb=4096", "--dry-run")
    assert "echo 4096 > /sys/block/sda/queue/read_ahead_kb" in outcome.out


def test_the_review_shows_values_in_their_unit(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "read_ahead_kb=4096", "--dry-run")
    assert re.search(r"Read-ahead +128 KiB +4096 KiB", outcome.out)


def test_a_dry_run_shows_the_way_back(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "read_ahead_kb=4096", "--dry-run")
    assert "echo 128 > /sys/block/sda/queue/read_ahead_kb" in outcome.out


def test_the_review_says_what_else_a_new_scheduler_may_change(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "scheduler=none", "--dry-run")
    assert "Side effects:\n  Changing I/O scheduler may also change: queue size, writeback throttling." in outcome.out


def test_a_dry_run_makes_no_session(cli: Cli, machine: str, state: Path) -> None:
    cli("--machine", machine, "set", "sda", "read_ahead_kb=4096", "--dry-run")
    assert not state.exists()


def test_a_dry_run_needs_no_root(cli: Cli, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "user", root=False)
    assert cli("--machine", str(folder), "set", "sda", "read_ahead_kb=4096", "--dry-run").status == 0


def test_a_dry_run_as_json_has_the_change(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "read_ahead_kb=4096", "--dry-run", "--json")
    assert [(each["now"], each["new"]) for each in outcome.json["changes"]] == [("128", "4096")]


def test_without_root_a_change_fails(cli: Cli, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "user", root=False)
    assert cli("--machine", str(folder), "set", "sda", "read_ahead_kb=4096", "--yes").status == 1


def test_without_a_terminal_a_change_is_refused(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "set", "sda", "read_ahead_kb=4096").status == 3


def test_the_refusal_says_what_to_add(cli: Cli, machine: str) -> None:
    assert "Add --yes" in cli("--machine", machine, "set", "sda", "read_ahead_kb=4096").err


def test_a_refused_change_makes_no_session(cli: Cli, machine: str, state: Path) -> None:
    cli("--machine", machine, "set", "sda", "read_ahead_kb=4096")
    assert not (state / "sessions").exists()


def test_what_risks_data_on_power_loss_needs_more_than_yes(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "write_cache=write-through", "--yes")
    assert (outcome.status, "--confirm FFEE77" in outcome.err) == (3, True)


def test_what_risks_data_on_power_loss_is_done_when_named(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "write_cache=write-through", "--yes", "--confirm", "FFEE77")
    assert outcome.status == 0


def test_the_wrong_name_confirms_nothing(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "write_cache=write-through", "--yes", "--confirm", "block:sdb")
    assert outcome.status == 3


def test_a_change_is_verified_by_reading_back(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "read_ahead_kb=4096", "--yes", "--json")
    assert [each["outcome"]["result"] for each in outcome.json["changes"]] == ["verified"]


def test_settings_are_changed_in_the_order_given(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "nomerges=2", "read_ahead_kb=4096", "--yes", "--json")
    assert [each["key"] for each in outcome.json["changes"]] == ["nomerges", "read_ahead_kb"]


def test_setting_the_present_value_is_done_and_changes_nothing(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "read_ahead_kb=128", "--yes", "--json")
    assert (outcome.status, outcome.json["changes"]) == (0, [])


def test_the_present_value_is_said_to_be_there_already(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "scheduler=mq-deadline", "--yes")
    assert "I/O scheduler of block:sda is already mq-deadline." in outcome.err


def test_a_value_goes_by_its_label_in_the_review(cli: Cli, machine: str) -> None:
    review = cli("--machine", machine, "set", "sda", "nomerges=2", "--dry-run").out
    assert ("all merges" in review, "no merges" in review) == (True, True)


def test_a_value_goes_by_its_label_when_it_is_undone(cli: Cli, machine: str) -> None:
    cli("--machine", machine, "set", "sda", "nomerges=2", "--yes")
    assert "no merges" in cli("--machine", machine, "undo", "--list").out


def test_setting_the_present_value_asks_nobody(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "set", "sda", "read_ahead_kb=128").status == 0


def test_setting_the_present_value_begins_no_session(cli: Cli, machine: str, state: Path) -> None:
    cli("--machine", machine, "set", "sda", "read_ahead_kb=128", "--yes")
    assert not (state / "sessions").exists()


def test_one_of_several_keys_may_have_its_value_already(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", "read_ahead_kb=128", "nomerges=2", "--yes", "--json")
    assert outcome.status == 0
    assert [each["key"] for each in outcome.json["changes"]] == ["nomerges"]
    assert [each["key"] for each in outcome.json["already"]] == ["read_ahead_kb"]


def test_a_change_made_twice_is_done_twice(cli: Cli, machine: str) -> None:
    wish = ("--demo", "--demo-speed", "500", "set", "megaraid:/c0/v0", "scheduler=none", "--yes")
    assert [cli(*wish).status, cli(*wish).status] == [0, 0]


def test_one_illegal_value_keeps_all_from_being_set(cli: Cli, machine: str, state: Path) -> None:
    cli("--machine", machine, "set", "sda", "nomerges=2", "read_ahead_kb=lots", "--yes")
    assert not (state / "journal").exists()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("read_ahead_kb", "is not KEY=VALUE"),
        ("=4096", "is not KEY=VALUE"),
        ("bogus=1", "has no setting bogus"),
        ("read_ahead_kb=lots", "whole number"),
        ("scheduler=cfq", "cannot be 'cfq'"),
    ],
)
def test_what_cannot_be_meant_is_said(cli: Cli, machine: str, word: str, said: str) -> None:
    outcome = cli("--machine", machine, "set", "sda", word, "--yes")
    assert (outcome.status, said in outcome.err) == (2, True)


def test_a_setting_named_twice_is_wrong_usage(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "set", "sda", "nomerges=1", "nomerges=2", "--yes").status == 2


def test_read_only_mode_refuses(cli: Cli, machine: str) -> None:
    assert cli("--read-only", "--machine", machine, "set", "sda", "nomerges=2", "--yes").status == 3


def test_read_only_mode_still_shows_a_plan(cli: Cli, machine: str) -> None:
    assert cli("--read-only", "--machine", machine, "set", "sda", "nomerges=2", "--dry-run").status == 0


def test_what_is_simulated_says_so(cli: Cli, machine: str) -> None:
    assert "SIMULATED" in cli("--machine", machine, "set", "sda", "nomerges=2", "--yes").err


def test_the_session_knows_the_devices(cli: Cli, machine: str) -> None:
    cli("--machine", machine, "set", "sda", "nomerges=2", "--yes")
    assert "1 drive" in cli("--machine", machine, "log").out


def test_undo_without_any_change_has_nothing_to_do(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "undo", "--yes").status == 0


def test_undo_of_an_unknown_change_is_wrong_usage(cli: Cli, machine: str) -> None:
    cli("--machine", machine, "set", "sda", "nomerges=2", "--yes")
    assert cli("--machine", machine, "undo", "c9", "--yes").status == 2


def test_what_a_card_did_after_its_tool_had_given_up_is_taken_back_when_named(
    cli: Cli, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gives_up(_host: ReplayHost, _path: str, _text: str) -> None:
        raise ToolFailedError("Command timed out.")

    with monkeypatch.context() as late:
        late.setattr(ReplayHost, "write", gives_up)
        assert cli("--machine", machine, "set", "sda", "read_ahead_kb=4096", "--yes").status == 1
    assert cli("--machine", machine, "undo", "--yes").err.startswith("Nothing to undo")
    content = json.loads((Path(machine) / "machine.json").read_text())
    content["files"]["/sys/block/sda/queue/read_ahead_kb"] = "4096"
    (Path(machine) / "machine.json").write_text(json.dumps(content))
    outcome = cli("--machine", machine, "undo", "c1", "--yes")
    assert (outcome.status, "verified  c1  block:sda read_ahead_kb: 128 KiB" in outcome.out) == (0, True)
    assert re.search(r"Read-ahead +4096 KiB +128 KiB", outcome.err)


def test_undo_lists_what_it_could_take_back(cli: Cli, machine: str) -> None:
    cli("--machine", machine, "set", "sda", "nomerges=2", "--yes")
    assert "c1" in cli("--machine", machine, "undo", "--list").out


def test_undo_without_a_terminal_needs_yes(cli: Cli, machine: str) -> None:
    cli("--machine", machine, "set", "sda", "nomerges=2", "--yes")
    assert cli("--machine", machine, "undo").status == 3


def test_persist_shows_the_file_before_it_asks(cli: Cli, machine: str) -> None:
    outcome = cli("--machine", machine, "persist", "sda", "read_ahead_kb=4096")
    assert (outcome.status, 'ATTR{queue/read_ahead_kb}="4096"' in outcome.err) == (3, True)


def test_persist_takes_what_the_session_changed(cli: Cli, machine: str) -> None:
    cli("--machine", machine, "set", "sda", "nomerges=2", "--yes")
    assert 'ATTR{queue/nomerges}="2"' in cli("--machine", machine, "persist", "sda").err


def test_persist_with_nothing_changed_asks_for_values(cli: Cli, machine: str) -> None:
    assert "TARGET KEY=VALUE" in cli("--machine", machine, "persist", "sda").err


def test_persist_writes_a_file_for_each_view_of_a_disk_and_removes_from_each(cli: Cli) -> None:
    kept = cli("--demo", "linux", "persist", "sda", "read_ahead_kb=512", "drive_cache=off", "--yes", "--json")
    assert kept.status == 0
    files = json.loads(kept.out)["files"]
    assert [file["target"] for file in files] == ["block:sda", "scsi:sda"]
    removed = cli("--demo", "linux", "persist", "sda", "--remove", "--yes")
    assert removed.out.splitlines() == [f"{file['target']}: removed from {file['path']}" for file in reversed(files)]
    again = cli("--demo", "linux", "persist", "sda", "--remove", "--yes")
    assert "no settings were persisted" in again.out


def test_a_failed_file_says_which_one_was_written_before_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    install = SettingPersister.install_rule

    async def without_room(self: SettingPersister, target: Target, rule: PersistRule, values: dict[str, str]) -> None:
        if target.backend == "scsi":
            raise StorageError(f"{rule.path} cannot be written: No space left on device.")
        await install(self, target, rule, values)

    monkeypatch.setattr(SettingPersister, "install_rule", without_room)
    outcome = cli("--demo", "linux", "persist", "sda", "read_ahead_kb=512", "drive_cache=off", "--yes")
    assert outcome.status != 0
    assert "No space left on device. /etc/udev/rules.d/99-raidbench.rules was written before that." in " ".join(
        outcome.err.split()
    )


def test_persist_is_recorded(cli: Cli, machine: str) -> None:
    cli("--machine", machine, "persist", "sda", "read_ahead_kb=4096", "--yes")
    out = cli("--machine", machine, "log").out
    assert ("/etc/udev/rules.d/99-raidbench.rules keeps block:sda" in out, "read_ahead_kb = 4096" in out) == (
        True,
        True,
    )


def test_a_review_promises_no_way_back_for_what_cannot_be_read(cli: Cli, machine: str) -> None:
    throttling = "/sys/block/sda/queue/wbt_lat_usec"
    file = Path(machine) / "machine.json"
    told = json.loads(file.read_text())
    told["files"].pop(throttling, None)
    told["writable"][throttling] = None
    file.write_text(json.dumps(told))
    alone = cli("--machine", machine, "set", "sda", "wbt_lat_usec=2000", "--dry-run").out
    assert "This cannot be undone." in alone
    assert "To undo" not in alone
    both = cli("--machine", machine, "set", "sda", "wbt_lat_usec=2000", "read_ahead_kb=256", "--dry-run").out
    assert "Cannot be undone: Writeback throttling of block:sda." in both
    assert "-1" not in both.partition("To undo")[2]
