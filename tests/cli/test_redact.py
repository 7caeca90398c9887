"""`--redact`: nothing that tells whose machine it was is in any output, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.events import CommandRan, InventorySeen, LoggedEvent, NoteAdded
from backends.identity import Identity, Signature, Use
from backends.model import Array, Controller, Drive, Inventory, Scope, State, Target
from tests.cli.conftest import Cli
from tests.core import sessions

HOST = "pear.orchard.example"
UUID = "0c1d2e3f-1111-2222-3333-444455556666"
SECRETS = (
    "WD-WX11D1234567",
    "50014ee2b1234abc",
    "600605b00001f0d3a5b700009e3779b1",
    "1b9773e900007b5a3d0f10000b506006",
    "SV10418263",
    "pear",
    "orchard",
    "joedoe",
    "192.168.17.4",
    "00:1b:21:22:e8:65",
    UUID,
    "payroll-2026",
    "/srv/payroll",
)
"""All that is told below."""


def rich() -> list[LoggedEvent]:
    """A session that tells everything it can."""
    disk = Identity(
        name="sda", serial="WD-WX11D1234567", wwn="naa.50014ee2b1234abc", model="WDC WD40EFRX", size_bytes=4 << 40
    )
    volume = Identity(name="sdb", serial="1b9773e900007b5a3d0f10000b506006", wwn="naa.600605b00001f0d3a5b700009e3779b1")
    card = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
    array = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
    inventory = Inventory(
        controllers=(Controller(target=card, vendor="megaraid", model="9280", serial="SV10418263"),),
        arrays=(Array(target=array, controller=card, device="/dev/sdb", identity=volume),),
        drives=(
            Drive(
                target=sessions.SDA,
                model="WDC WD40EFRX",
                serial=disk.serial,
                wwn=disk.wwn,
                device="/dev/sda",
                size_bytes=4 << 40,
                state=State.ONLINE,
                identity=disk,
                uses=(Use(kind="mount", detail="mounted on /srv/payroll", part="sda1"),),
                signatures=(Signature(kind="ext4", label="payroll-2026", uuid=UUID),),
            ),
        ),
    )
    line = "smartctl --all /dev/disk/by-id/wwn-0x50014ee2b1234abc"
    output = "Serial Number: WD-WX11D1234567\nLU WWN Device Id: 5 0014ee 2b1234abc\n/home/joedoe"
    note = "at 192.168.17.4, 00:1b:21:22:e8:65, joedoe's /home/joedoe, xfs 'payroll-2026' on /srv/payroll/x of pear"
    start = sessions.started()
    return [
        replace(start, machine=replace(start.machine, host=HOST, command_line=f"root=UUID={UUID} quiet")),
        InventorySeen(at=1001.0, inventory=inventory),
        CommandRan(at=1001.5, line=line, mutates=False, seconds=0.1, returncode=0, output=output.replace("\n", " ")),
        *sessions.change(),
        *sessions.run("r1", provenance={"drive_serial": "WD-WX11D1234567; -", "backing_file": "/srv/payroll/x.img"}),
        NoteAdded(at=1009.0, text=note),
    ]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SUDO_USER", "joedoe")
    folder = tmp_path / "joedoe" / "rich"
    sessions.written(folder, *rich())
    return str(folder)


def told(text: str, wanted: Iterable[str] = SECRETS) -> list[str]:
    return [secret for secret in wanted if secret.lower() in text.lower()]


OUTPUTS = (
    ("log",),
    ("log", "--json"),
    *(("report", "--format", form) for form in ("md", "html", "csv", "json")),
    ("report", "--format", "csv", "--samples"),
)


def test_the_session_tells_all_of_it_as_it_is(cli: Cli, session: str) -> None:
    assert set(told(cli("log", "--json", session).out)) == set(SECRETS)


@pytest.mark.parametrize("words", OUTPUTS, ids=" ".join)
def test_nothing_of_it_is_in_a_redacted_output(cli: Cli, session: str, words: tuple[str, ...]) -> None:
    done = cli(*words, "--redact", session)
    assert (done.status, told(done.out)) == (0, [])


@pytest.mark.parametrize("name", ["r.md", "r.html", "r.csv", "r.json", "plot"])
def test_nothing_of_it_is_in_a_redacted_file(cli: Cli, session: str, tmp_path: Path, name: str) -> None:
    made = tmp_path / "out" / name
    made.parent.mkdir()
    form = ("--format", "fio-plot") if name == "plot" else ()
    done = cli("report", *form, "-o", str(made), "--redact", session)
    text = "".join(f"{path} {path.read_text()}" for path in made.parent.rglob("*") if path.is_file())
    assert (done.status, bool(text), told(text.replace(str(tmp_path), ""))) == (0, True, [])


def test_a_redacted_log_is_read_as_any_other(cli: Cli, session: str) -> None:
    events = json.loads(cli("log", "--json", "--redact", session).out)["events"]
    assert [event["event"] for event in events] == [
        event["event"] for event in json.loads(cli("log", "--json", session).out)["events"]
    ]


def test_models_and_sizes_stay(cli: Cli, session: str) -> None:
    assert "WDC WD40EFRX" in cli("report", "--redact", session).out


def test_a_serial_number_has_one_pseudonym_wherever_it_stands(cli: Cli, session: str) -> None:
    events = json.loads(cli("log", "--json", "--redact", session).out)["events"]
    drive = events[1]["inventory"]["drives"][0]
    assert drive["serial"] == drive["identity"]["serial"]
    assert drive["serial"] in events[2]["output"]


def test_following_cannot_be_redacted(cli: Cli, session: str) -> None:
    assert cli("log", "--redact", "--follow", session).status == 2


def test_a_redacted_recording_tells_nothing_and_answers_as_before(cli: Cli, machine: str, tmp_path: Path) -> None:
    before = cli("--machine", machine, "devices", "--json").json
    assert cli("--machine", machine, "capture", str(tmp_path / "made"), "--redact").status == 0
    secrets = {one[key] for one in before["drives"] for key in ("serial", "wwn") if one[key] and len(one[key]) > 3}
    secrets = {secret.partition(".")[2] or secret for secret in secrets}
    text = (tmp_path / "made" / "machine.json").read_text()
    after = cli("--machine", str(tmp_path / "made"), "devices", "--json").json
    assert told(text, secrets) == []
    assert [one["device"] for one in after["drives"]] == [one["device"] for one in before["drives"]]
