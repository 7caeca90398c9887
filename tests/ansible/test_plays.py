"""Plays on three simulated hosts: check mode, diff, twice, waves, trial and gate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests import sshd
from tests.ansible.environment import PROGRAMS, ROOT, lacking
from tests.backends.loops import loop, needs_loops, wait_for
from tests.watchdogs import marked, watchdogs
from tools.package import collection

pytestmark = [pytest.mark.ansible, pytest.mark.skipif(bool(lacking()), reason=lacking())]

HOSTS = ("one", "two", "three")
DISKS = {"select": {"media": "hdd"}, "set": {"read_ahead_kb": 2048}, "optional": True}
ILLEGAL = {"select": {"media": "hdd"}, "set": {"read_ahead_kb": "much"}}
PLAY = """\
- hosts: raid
  gather_facts: false
  serial: [1, 2, "50%"]
  max_fail_percentage: 0
  environment: {RAIDBENCH_STATE_DIR: "{{ place }}/{{ inventory_hostname }}", PYTHONPATH: "{{ sources }}"}
"""
ROLE = PLAY + "  roles: [raidbench.storage.tune]\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of collections, with ours as it is shipped."""
    folder = tmp_path_factory.mktemp("collections")
    file = folder / collection.file_name()
    collection.make(file, 0)
    galaxy = (str(PROGRAMS / "ansible-galaxy"), "collection")
    environment = {**os.environ, "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_COLLECTIONS_PATH": str(folder)}
    for words in (("install", "--offline", "-p", str(folder), str(file)), ("verify", "--offline", "raidbench.storage")):
        subprocess.run((*galaxy, *words), env=environment, check=True, capture_output=True)
    return folder


@dataclass(frozen=True)
class Played:
    """What a play came to."""

    status: int
    stats: dict[str, dict[str, int]]
    tasks: dict[str, dict[str, Any]]
    """By host, what its tasks answered by their names."""

    def of(self, host: str, task: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.tasks[host][task]
        return answer


@dataclass(frozen=True)
class Racks:
    """Three simulated hosts, each with a state of its own."""

    folder: Path
    collections: Path
    connection: str = "ansible_connection=local"
    """How a host is come to, as the inventory has it."""

    def program(self) -> list[str]:
        return [sys.executable, "-P", "-m", "app", "--demo", "hpe", "--demo-speed", "1000"]

    def play(self, text: str, *words: str, **values: Any) -> Played:
        (self.folder / "play.yml").write_text(text)
        own = f"{self.connection} ansible_python_interpreter={sys.executable}"
        (self.folder / "hosts").write_text("\n".join(["[raid]", *(f"{host} {own}" for host in HOSTS)]) + "\n")
        told = {
            "raidbench_program": self.program(),
            "place": str(self.folder),
            "sources": marked(ROOT, self.folder),
            **values,
        }
        (self.folder / "values.json").write_text(json.dumps(told))
        environment = {
            **os.environ,
            "ANSIBLE_HOME": str(self.folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": str(self.collections),
            "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callbacks"),
            "ANSIBLE_CALLBACKS_ENABLED": "told",
            "TOLD_IN": str(self.folder / "told.json"),
        }
        command = (str(PROGRAMS / "ansible-playbook"), "-i", "hosts", "play.yml", "-e", "@values.json", *words)
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert (self.folder / "told.json").exists(), done.stdout + done.stderr
        answer = json.loads((self.folder / "told.json").read_text())
        (self.folder / "told.json").unlink()
        return Played(done.returncode, answer["stats"], answer["tasks"])

    def run(self, host: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Return the answer of raidbench on the state of a host."""
        environment = {**os.environ, "RAIDBENCH_STATE_DIR": str(self.folder / host), "PYTHONPATH": str(ROOT)}
        command = [*self.program(), *words]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True)

    def read_ahead(self, host: str) -> str:
        """What sdf of a host is set to."""
        done = self.run(host, "show", "block:sdf", "--json")
        (found,) = (one for one in json.loads(done.stdout)["target"]["settings"] if one["key"] == "read_ahead_kb")
        now: str = found["now"]
        return now


@pytest.fixture
def racks(tmp_path: Path, installed: Path) -> Racks:
    return Racks(tmp_path, installed)


SET = "Set settings, on trial if raidbench_trial is set"


def test_check_mode_changes_nothing_and_says_what_would_be_set(racks: Racks) -> None:
    played = racks.play(ROLE, "--check", "--diff", raidbench_targets=[DISKS])
    answer = played.of("one", SET)
    assert (played.status, answer["changed"]) == (0, True)
    assert "block:sdf read_ahead_kb = 128\n" in answer["diff"]["before"]
    assert "block:sdf read_ahead_kb = 2048\n" in answer["diff"]["after"]
    assert any("read_ahead_kb" in command for command in answer["commands"])
    assert racks.read_ahead("one") == "128"


def test_the_second_run_changes_nothing(racks: Racks) -> None:
    first = racks.play(ROLE, raidbench_targets=[DISKS])
    again = racks.play(ROLE, raidbench_targets=[DISKS])
    assert [first.stats[host]["changed"] for host in HOSTS] == [1, 1, 1]
    assert [again.stats[host]["changed"] for host in HOSTS] == [0, 0, 0]
    assert (first.status, again.status, racks.read_ahead("three")) == (0, 0, "2048")


@pytest.mark.root
@pytest.mark.skipif(bool(sshd.lacking()), reason=sshd.lacking())
def test_over_ssh_hosts_are_set_once_and_a_strange_host_key_is_not_taken(racks: Racks, tmp_path: Path) -> None:
    (tmp_path / "sshd").mkdir()
    with sshd.server(tmp_path / "sshd") as server:
        there = replace(racks, connection=server.variables)
        runs = [there.play(ROLE, raidbench_targets=[DISKS]) for _ in range(2)]
        (server.folder / "known").write_text("")
        strange = there.play(ROLE, raidbench_targets=[DISKS])
    assert [[run.stats[host]["changed"] for host in HOSTS] for run in runs] == [[1, 1, 1], [0, 0, 0]]
    assert (runs[0].status, racks.read_ahead("two")) == (0, "2048")
    assert (strange.status != 0, [told.get("unreachable") for told in strange.stats.values()]) == (True, [1])


def test_no_further_host_is_touched_once_one_has_failed(racks: Racks) -> None:
    played = racks.play(ROLE, raidbench_targets=[ILLEGAL])
    assert played.status != 0
    assert (list(played.stats), played.stats["one"]["failures"]) == (["one"], 1)
    assert "read_ahead_kb" in played.of("one", SET)["msg"]
    assert not (racks.folder / "two").exists()


def test_the_play_that_comes_along_stops_after_the_canary(racks: Racks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(racks.folder / "state"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    play = "- import_playbook: raidbench.storage.roll\n"
    played = racks.play(play, raidbench_targets=[ILLEGAL])
    assert (played.status != 0, list(played.stats), played.stats["one"]["failures"]) == (True, ["one"], 1)
    fine = racks.play(play, raidbench_targets=[DISKS])
    assert (fine.status, [fine.stats[host]["changed"] for host in HOSTS]) == (0, [1, 0, 0])  # one machine, thrice


FITS = "Check that each wave fits into its trial"


@pytest.mark.parametrize(
    ("told", "wave", "needed"),
    [
        ({"raidbench_trial": 600, "raidbench_waves": [1, "100%"]}, 3, 750),
        ({"raidbench_trial": 400, "raidbench_waves": [1, "70%"]}, 2, 500),
        ({"raidbench_trial": 400, "raidbench_waves": [1, "1%"], "raidbench_gate_seconds": 151}, 1, 401),
        ({"raidbench_trial": 601, "raidbench_waves": [1]}, 1, 250),
    ],
)
def test_waves_that_cannot_fit_their_trial_are_refused_before_any_host_is_touched(
    racks: Racks, told: dict[str, Any], wave: int, needed: int
) -> None:
    play = "- import_playbook: raidbench.storage.roll\n"
    played = racks.play(play, "-f", "1", raidbench_targets=[DISKS], raidbench_host_seconds=250, **told)
    assert (played.status != 0, list(played.tasks["one"])) == (True, [FITS])
    sentence = f"a wave of {wave} hosts, 1 at a time, takes {needed} s"
    assert sentence in played.of("one", FITS)["msg"]
    assert [host for host in HOSTS if (racks.folder / host).exists()] == []


KEEPS = "Keep the trial"


def test_waves_that_fit_are_let_through_and_what_passes_the_gate_is_kept_on_all_simulated_hosts(racks: Racks) -> None:
    told = {"raidbench_trial": 500, "raidbench_waves": [1, 2], "raidbench_host_seconds": 250}
    played = racks.play(ROLE, "-f", "1", raidbench_targets=[DISKS], raidbench_gate_severity="", **told)
    assert (played.status, "failed" in played.of("one", FITS)) == (0, False)
    assert [played.of(host, SET)["on_trial"] for host in HOSTS] == [True] * 3
    assert all(KEEPS in played.tasks[host] for host in HOSTS)
    wait_for(lambda: not watchdogs(racks.folder), 240)  # the processes that would revert it
    assert [racks.read_ahead(host) for host in HOSTS] == ["2048"] * 3
    again = racks.play(ROLE, raidbench_targets=[DISKS], raidbench_gate_severity="")
    assert (again.status, [again.stats[host]["changed"] for host in HOSTS]) == (0, [0, 0, 0])


def test_a_gate_that_fails_reverts_a_simulated_host_and_leaves_nothing_to_recover_or_undo(racks: Racks) -> None:
    told = {"raidbench_trial": 20, "raidbench_waves": [1], "raidbench_host_seconds": 10}
    gate = {"raidbench_gate": [["false"]], "raidbench_gate_severity": ""}
    played = racks.play(ROLE, raidbench_targets=[DISKS], **told, **gate)
    assert (played.status != 0, list(played.stats)) == (True, ["one"])
    assert (played.of("one", SET)["on_trial"], KEEPS in played.tasks["one"]) == (True, False)
    wait_for(lambda: not watchdogs(racks.folder), 240)
    assert racks.read_ahead("one") == "128"
    assert "There is nothing to recover" in racks.run("one", "recover", "--list").stderr
    assert "no change is in force" in racks.run("one", "undo", "--list").stderr


@needs_loops()
@pytest.mark.root
@pytest.mark.parametrize(("gate", "kept"), [("true", True), ("false", False)])
def test_what_passes_the_gate_is_kept_and_else_it_comes_back_by_itself(
    racks: Racks, tmp_path: Path, gate: str, kept: bool
) -> None:
    """On loop devices of this machine."""
    with loop(tmp_path / "disk.img") as disk:
        attribute = Path(f"/sys/block/{disk.name}/queue/read_ahead_kb")
        before = attribute.read_text()
        played = racks.play(
            ROLE,
            raidbench_program=[sys.executable, "-P", "-m", "app"],
            raidbench_targets=[{"select": {"address": f"block:{disk.name}"}, "set": {"read_ahead_kb": 512}}],
            raidbench_trial=120 if kept else 15,
            raidbench_host_seconds=10,
            raidbench_gate=[[gate]],
            raidbench_gate_severity="",
        )
        assert (played.of("one", SET)["on_trial"], played.of("one", SET)["changed"]) == (True, True)
        assert (KEEPS in played.tasks["one"]) == kept
        if kept:
            assert played.status == 0
            wait_for(lambda: not watchdogs(tmp_path), 240)  # who would take it back
            assert attribute.read_text() == "512\n"
        else:
            assert (played.status != 0, list(played.stats)) == (True, ["one"])
            wait_for(lambda: attribute.read_text() == before, 120)


def test_what_no_file_sets_fails_the_task_with_its_sentence(racks: Racks) -> None:
    table = {"select": {"address": "smartarray:/slot0/ld1"}, "set": {"strip_size": 65536}}
    played = racks.play(ROLE, "--limit", "one", raidbench_targets=[table])
    assert played.status != 0
    assert (
        "strip_size of smartarray:/slot0/ld1 is 262144, wanted 65536: this would destroy data"
        in played.of("one", SET)["msg"]
    )


def test_the_facts_have_devices_findings_and_settings_that_the_module_takes(racks: Racks) -> None:
    tasks = """\
  tasks:
    - name: facts
      raidbench.storage.facts: {program: "{{ raidbench_program }}", gather: [devices, findings, settings]}
    - name: again
      raidbench.storage.settings:
        program: "{{ raidbench_program }}"
        targets: "{{ ansible_facts.raidbench.settings | map('dict2items') | map('selectattr', 'key', 'in',
          ['select', 'set', 'expect']) | map('items2dict') | list }}"
"""
    played = racks.play(PLAY + tasks, "--limit", "one")
    found = played.of("one", "facts")["ansible_facts"]["raidbench"]
    assert {one["address"] for one in found["devices"]["controllers"]} >= {"smartarray:/slot0"}
    assert found["findings"] == []
    assert (played.status, played.of("one", "again")["changed"]) == (0, False)
