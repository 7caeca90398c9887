"""The simulated racks from the command line: which is meant, what they suffer from, what their firmware refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.core.session.journal import Journal
from app.core.session.paths import Paths
from backends.change import Change, ChangeStep
from backends.identity import Identity
from backends.model import Scope, Target
from backends.simulator.profiles import HOSTS, STATES, demo_text, rack_name
from backends.simulator.profiles.table import MACHINES
from tests.cli.conftest import Cli

FAST = ("--demo-speed", "1000")
HPE = ("--demo", "hpe", *FAST)


def test_every_name_has_its_rack_and_its_host() -> None:
    assert list(MACHINES) == list(HOSTS)
    assert {name: make().name for name, make in MACHINES.items()} == {name: name for name in HOSTS}
    assert [demo_text(rack_name(host)) for host in HOSTS.values()] == [
        "--demo",
        "--demo hpe",
        "--demo linux",
        "--demo arrays",
        "--demo ssds",
    ]
    assert [rack_name(host) for host in HOSTS.values()] == list(HOSTS)
    assert (rack_name("storage1"), demo_text(rack_name("storage1"))) == ("", "--demo")


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "host"),
    [
        (("--demo",), "rack-demo"),
        (("--demo", "lsi"), "rack-demo"),
        (("--demo=lsi",), "rack-demo"),
        (("--demo", "hpe"), "rack-hpe"),
        (("--demo=hpe",), "rack-hpe"),
        (("--demo", "linux"), "rack-linux"),
        (("--demo", "arrays"), "rack-arrays"),
        (("--demo", "ssds"), "rack-ssds"),
        (("--read-only", "--demo", "hpe"), "rack-hpe"),
        (("--session", "devices", "--demo", "hpe"), "rack-hpe"),
        (("--session", "--demo", "--demo"), "rack-demo"),
    ],
)
def test_the_rack_is_the_word_that_follows_where_one_is_called_so(cli: Cli, words: tuple[str, ...], host: str) -> None:
    assert cli(*FAST, *words, "devices", "--json").json["host"] == host


def test_a_command_keeps_words_that_look_like_the_option(cli: Cli) -> None:
    refused = cli("devices", "--demo", "hpe")
    assert refused.status == 2
    assert "--demo" in refused.err


def test_another_word_is_a_command(cli: Cli) -> None:
    assert "No such simulated host or command 'dell'. Simulated hosts: lsi, hpe" in cli("--demo", "dell").err
    assert "Did you mean hpe?" in cli("--demo", "hpee").err
    assert "'dell' is not one of 'lsi', 'hpe', 'linux', 'arrays', 'ssds'" in cli("--demo=dell", "devices").err


def test_each_rack_keeps_its_own_state_and_is_reset_alone(cli: Cli, state: Path) -> None:
    assert cli("--demo", *FAST, "set", "/c0/v0", "read_ahead=none", "--yes").status == 0
    assert cli(*HPE, "set", "/slot0", "cache_ratio=50/50", "--yes").status == 0
    assert {path.parent.name for path in state.rglob("demo-rack.json")} == {"lsi", "hpe"}
    assert cli(*HPE, "--demo-reset", "devices").status == 0
    assert {path.parent.name for path in state.rglob("demo-rack.json")} == {"lsi"}


def now(cli: Cli, target: str, key: str) -> dict[str, object]:
    settings = cli(*HPE, "show", target, "--json").json["target"]["settings"]
    return next((one for one in settings if one["key"] == key), {})


@pytest.mark.long
def test_with_failed_batteries_the_cache_ratio_is_refused_in_the_firmwares_words(cli: Cli) -> None:
    refused = cli(*HPE, "--demo-state", "battery-failed", "set", "/slot0", "cache_ratio=50/50", "--yes")
    assert refused.status != 0
    assert "while the cache is unprotected" in refused.err
    assert now(cli, "/slot0", "cache_ratio")["now"] == "10/90"
    written = now(cli, "/slot0/ld1", "write_cache")
    assert (written["now"], written["effective"]) == ("write-back", "write-through")
    assert "low batteries" in cli(*HPE, "show", "/slot0/ld1").out
    assert cli(*HPE, "--demo-state", "sound", "set", "/slot0", "cache_ratio=50/50", "--yes").status == 0


def test_under_smart_path_caching_is_not_offered_and_acceleration_is(cli: Cli) -> None:
    acceleration = now(cli, "/slot0/ld2", "acceleration")
    assert acceleration["now"] == "smart-path"
    offered = {choice["value"] for choice in acceleration["choices"]}  # type: ignore[attr-defined]
    assert {"none", "smart-path"} <= offered
    caching = now(cli, "/slot0/ld2", "write_cache")
    assert not caching.get("choices")


def test_arcconf_is_sent_nothing_where_the_value_is_set_already(cli: Cli) -> None:
    was = now(cli, "/aac1/ld0", "read_cache")["now"]
    same = cli(*HPE, "set", "/aac1/ld0", f"read_cache={was}", "--yes")
    assert same.status == 0
    assert "already" in same.out + same.err
    sent = [line for line in cli(*HPE, "log").out.splitlines() if "setcache" in line.lower()]
    assert not sent


@pytest.mark.long
@pytest.mark.parametrize("name", STATES)
def test_a_rack_in_any_state_is_listed(cli: Cli, name: str) -> None:
    found = cli(*HPE, "--demo-state", name, "devices", "--json")
    assert found.status == 0
    assert len(found.json["controllers"]) >= 4


def test_while_another_ssacli_runs_that_is_told(cli: Cli) -> None:
    told = cli(*HPE, "--demo-state", "locked", "devices")
    assert "ssacli" in told.out + told.err


def test_states_are_of_the_demo_alone(cli: Cli) -> None:
    refused = cli("--demo-state", "slow", "devices")
    assert refused.status == 2
    assert "--demo" in refused.err


def test_what_a_crash_left_on_one_rack_is_not_told_of_another(cli: Cli) -> None:
    change = Change(
        target=Target(backend="megaraid", address="/c0/v0", scope=Scope.ARRAY),
        key="read_ahead",
        label="Read-ahead",
        before="adaptive",
        after="none",
        writes=(ChangeStep(argv=("/opt/MegaRAID/storcli/storcli64", "/c0/v0", "set", "rdcache=nora")),),
        undo=(),
        identity=Identity(name="c0-v0"),
    )
    paths = Paths.of("lsi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.core.session.journal.process_start", lambda _pid: "1")
        Journal(paths.journal).write_intent("c1", paths.sessions / "gone", change)
    note = "a crash interrupted 1 change"
    assert note in cli("--demo", *FAST, "devices").err
    assert note not in cli(*HPE, "devices").err
    assert note not in cli("--demo", "linux", *FAST, "devices").err


def test_a_reset_forgets_the_devices_of_its_own_rack_alone(cli: Cli) -> None:
    lsi, hpe = Paths.of("lsi").devices, Paths.of("hpe").devices
    for folder in (lsi, hpe):
        folder.mkdir(parents=True)
    assert cli(*HPE, "--demo-reset", "devices").status == 0
    assert (lsi.exists(), hpe.exists()) == (True, False)


REASONS = {
    "smartarray:/slot0/ld3": "Cache disabled; low batteries",
    "smartarray:/aac1/ld0": "the battery is failed",
    "smartarray:/arc2/ld0": "the cache is temporarily disabled",
    "smcli:DS4700_A/fast": "a battery is failed",
}


@pytest.mark.long
def test_a_write_cache_without_its_battery_says_why_wherever_it_is_told(cli: Cli) -> None:
    assert cli(*HPE, "--demo-state", "battery-failed", "devices").status == 0
    for target, reason in REASONS.items():
        told = now(cli, target, "write_cache")
        assert (told["now"], told["effective"]) == ("write-back", "write-through"), target
        assert reason in str(told["why_effective"])
        assert reason in cli(*HPE, "show", target).out
    listed = [row for row in cli(*HPE, "devices").out.splitlines() if "back ▲through" in row]
    smart_array, adaptec, smart_raid, disk_system = 2, 3, 1, 2
    assert len(listed) == smart_array + adaptec + smart_raid + disk_system


@pytest.mark.long
@pytest.mark.parametrize("address", ["/slot0/ld3", "/aac1/ld0", "/arc2/ld0", "smcli:DS4700_A/fast"])
def test_a_run_without_the_battery_says_why_in_the_terminal_the_json_and_the_report(cli: Cli, address: str) -> None:
    words = ("bench", address, "--profile", "randread-4k", "--runtime", "2", "--ramp", "0")
    reason = REASONS[address if ":" in address else f"smartarray:{address}"]
    done = cli(*HPE, "--demo-state", "battery-failed", *words)
    assert done.status == 0, done.err
    assert re.search(f"but the effective value is write-through: .*{reason}", f"{done.out}{done.err}")
    for form in ("md", "html", "json"):
        assert reason in cli(*HPE, "report", "--format", form).out, form
