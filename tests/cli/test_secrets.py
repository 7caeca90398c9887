"""One identifier of every kind in every place of a session: none is in any redacted output, however it is spelled."""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.events import (
    CommandRan,
    InventorySeen,
    LoggedEvent,
    MachineChecked,
    NoteAdded,
    ProblemRecorded,
    RecordedFinding,
)
from backends.identity import Identity, Signature, Use
from backends.model import Array, Controller, Drive, Fact, Inventory, Level, Problem, Scope, State, Target
from tests.cli.conftest import Cli
from tests.core import sessions

HOST = "plum.garden.example"

SERIALS = {
    "serial number of a drive": "WD-WX11D7654321",
    "serial number of digits": "4410298377165",
    "serial number of a controller": "SV20518264",
    "NAA": "50014ee2b7654abc",
    "NAA of 128 bits": "600605b00002f0d3a5b700009e3779b2",
    "EUI": "0025385b71b0ce43",
    "NGUID": "36344630526042880025384500000001",
}
UUIDS = {
    "file system": "7b0e51f7-3ad2-4d2e-9c11-0a5f6e8d9c21",
    "vfat": "7A3C-19DE",
    "NTFS": "5E8C2A1F8C29F3D7",
    "LVM": "Qz3x9K-1aBc-2dEf-3gHi-4jKl-5mNo-6pQr7s",
    "md": "4bbb0122:39827cfa:6331ad66:da767372",
    "ZFS": "13928471039481726354",
    "GPT": "c12a7328-f81f-41d2-ba4b-00a0c93ec93b",
    "MBR": "2b3c4d5e-02",
    "btrfs device": "9f3c1a2b-77d0-4e55-8d6a-1b2c3d4e5f60",
}
FACTS = {"SAS address": "5000c500a7b3c4d6", "World wide name": "500605b00a1b2c3d", "Asset tag": "LAB-00417-X"}
KEYED = {
    "Unit serial number:   ": "Z1X4ABCD",
    "Asset Tag: ": "INV-2231-B",
    "ID_SERIAL_SHORT=": "S3Z9NB0K765432",
    "guid: ": "17284910384756102938",
    '"wwn": "': "0x5002538e90b1c2d3",
}
SHAPES = {
    "IPv4": "192.168.23.7",
    "IPv6": "2001:db8:17::4a",
    "MAC": "00:1b:21:33:e8:66",
    "IQN": "iqn.2016-04.com.garden:storage.disk1",
    "NQN": "nqn.2014-08.org.garden:nvme:uuid:0011",
    "email": "jane.roe@garden.example",
    "home": "/home/janeroe",
}
OTHER = {"host": "plum", "domain": HOST, "user": "janeroe", "label": "ledger-2027", "mount": "/srv/ledger"}

ALL = {**SERIALS, **UUIDS, **FACTS, **KEYED, **SHAPES, **OTHER}
NUMBERS = [*SERIALS.values(), *UUIDS.values(), *FACTS.values(), *KEYED.values()]
"""Those that are found with other separators as well."""


def spelled(secret: str) -> list[str]:
    """Spellings of a number that tools use."""
    bare = re.sub(r"[^0-9A-Za-z]", "", secret)
    pairs = [bare[at : at + 2] for at in range(0, len(bare), 2)]
    found = [secret, secret.lower(), secret.upper(), urllib.parse.quote(secret, safe="")]
    if len(bare) >= 12 or (len(bare) >= 8 and not bare.isdigit()):
        found += [bare, ":".join(pairs), "-".join(pairs), "%3A".join(pairs), re.sub(r"\W", "_", secret)]
    return found


TEXT = "\n".join(
    (
        *(f"{key}{value}" for key, value in KEYED.items()),
        *(f"UUID={value} beside" for value in UUIDS.values()),
        *(f"seen {one} there" for number in NUMBERS for one in spelled(number)),
        *(f"at {value}" for value in SHAPES.values()),
        f"ssh janeroe@plum; {HOST}; md/plum:0; xfs 'ledger-2027' on /srv/ledger/x",
        "4096 8192 bytes, 12.5 %, TOSHIBA DT01, read_ahead_kb=4096",
    )
)
DISK = Identity(name="sda", serial=SERIALS["serial number of a drive"], wwn=f"naa.{SERIALS['NAA']}", size_bytes=1 << 40)


def everything() -> list[LoggedEvent]:
    """A session with each of them in each place."""
    card = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
    array = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
    facts = tuple(Fact(label=label, value=value) for label, value in FACTS.items())
    signatures = tuple(
        Signature(kind=kind, uuid=uuid, label="ledger-2027" if kind == "vfat" else None) for kind, uuid in UUIDS.items()
    )
    drives = tuple(
        Drive(
            target=replace(sessions.SDA, address=f"sd{'abcdefghij'[at]}"),
            serial=number,
            wwn=f"eui.{number}",
            model="TOSHIBA DT01",
            state=State.ONLINE,
            identity=replace(DISK, serial=number),
            signatures=signatures,
            uses=(Use(kind="mount", detail=f"mounted on /srv/ledger, UUID {UUIDS['vfat']}"),),
            facts=(*facts, Fact(label="BIOS", value="14.0.2.7")),
            firmware="16.0.12.0",
        )
        for at, number in enumerate(SERIALS.values())
    )
    problem = Problem(where=f"drive {SERIALS['NAA']}", message=TEXT, hint=TEXT)
    inventory = Inventory(
        controllers=(
            Controller(target=card, vendor="x", serial=SERIALS["serial number of a controller"], facts=facts),
        ),
        arrays=(Array(target=array, level=Level.RAID1, identity=DISK, facts=facts),),
        drives=drives,
        problems=(problem,),
    )
    flaw = RecordedFinding(rule="x", severity="warn", where=SERIALS["EUI"], message=TEXT, evidence=TEXT, mends=TEXT)
    start = sessions.started()
    told = {"drive_serial": "; ".join(SERIALS.values()), "mount": "/srv/ledger", "filesystem": f"ext4 {UUIDS['vfat']}"}
    return [
        replace(start, machine=replace(start.machine, host=HOST, command_line=f"root=UUID={UUIDS['file system']}")),
        InventorySeen(at=1001.0, inventory=inventory),
        CommandRan(at=1001.5, line=TEXT, mutates=True, seconds=0.1, returncode=1, output=TEXT),
        MachineChecked(at=1001.6, findings=(flaw,), rules=1),
        *sessions.change(),
        *sessions.run("r1", provenance=told, warnings=(TEXT,)),
        *sessions.run("r2", provenance=told, at=1010.0),
        NoteAdded(at=1020.0, text=TEXT),
        ProblemRecorded(at=1021.0, problem=problem),
    ]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its folder, with all of them in what programs said, and one in a file's name."""
    monkeypatch.setenv("SUDO_USER", "janeroe")
    folder = tmp_path / "state" / "sessions" / "all"
    sessions.written(folder, *everything())
    for name in (
        "output/c1.txt",
        f"output/{SERIALS['NAA']}.txt",
        "runs/r1/fio.out",
        "runs/r1/fio.err",
        "runs/r1/job.fio",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(TEXT + "\n" + json.dumps({"serial": SERIALS["EUI"], "text": TEXT}) + "\n")
    return str(folder)


def leaks(text: str) -> list[str]:
    """Kinds of which something is in a text, with any separators, escapes and case, or in base64."""
    plain = html.unescape(urllib.parse.unquote(text)) + "".join(
        base64.b64decode(found + "===", validate=False).decode("latin-1")
        for found in re.findall(r"base64,([A-Za-z0-9+/]{16,})", text)
    )
    plain = plain.replace("\\u002d", "-").replace("\\u003a", ":").lower()
    bare = re.sub(r"[-:_ .]", "", plain)
    found = []
    for kind, secret in ALL.items():
        secret = secret.lower().removeprefix("0x").removeprefix("iqn.").removeprefix("nqn.")
        squeezed = re.sub(r"[^0-9a-z]", "", secret)
        flexible = kind not in SHAPES and kind not in OTHER
        if secret in plain or (flexible and squeezed in bare) or (flexible and squeezed[::-1] in bare):
            found.append(kind)
    return found


def test_the_search_finds_all_of_them_where_nothing_is_redacted(cli: Cli, session: str) -> None:
    assert set(leaks(cli("log", "--json", "--show", "all", session).out)) == set(ALL)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("log",),
        ("log", "--show", "all"),
        ("log", "--show", "all", "--json"),
        ("report",),
        ("report", "--format", "html"),
        ("report", "--format", "json"),
        ("report", "--format", "csv"),
        ("report", "--format", "csv", "--samples"),
    ],
    ids=" ".join,
)
def test_none_is_in_what_is_printed(cli: Cli, session: str, words: tuple[str, ...]) -> None:
    done = cli(*words, "--redact", session)
    assert (done.status, leaks(done.out)) == (0, []), done.err


@pytest.mark.parametrize("words", [("--json",), (), ("--plot",)], ids=" ".join)
def test_none_is_in_the_history(cli: Cli, session: str, words: tuple[str, ...]) -> None:
    done = cli("history", *words, "--redact")
    assert (done.status, leaks(done.out)) == (0, []), done.err


@pytest.mark.parametrize("name", ["r.md", "r.html", "r.csv", "r.json"])
def test_none_is_in_a_written_report(cli: Cli, session: str, tmp_path: Path, name: str) -> None:
    made = tmp_path / "out" / name
    made.parent.mkdir()
    assert cli("report", "-o", str(made), "--redact", session).status == 0
    text = "".join(f"{path.name} {path.read_text()}" for path in made.parent.rglob("*") if path.is_file())
    assert leaks(text) == []


def test_none_is_in_an_archive_nor_in_the_names_of_its_members(cli: Cli, session: str, tmp_path: Path) -> None:
    made = tmp_path / "made.rba"
    done = cli("archive", "-o", str(made), "--redact", session)
    assert done.status == 0, done.err
    with zipfile.ZipFile(made) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    assert {name: found for name, text in members.items() if (found := leaks(name + "\n" + text))} == {}
    assert len(members) == 7
    again = cli("log", "--json", "--show", "all", str(made))
    assert (again.status, leaks(again.out)) == (0, [])


def test_what_tells_nothing_stays(cli: Cli, session: str) -> None:
    out = cli("log", "--show", "all", "--json", "--redact", session).out
    assert "4096 8192 bytes, 12.5 %, TOSHIBA DT01, read_ahead_kb=4096" in out


@pytest.mark.parametrize("form", ["md", "json", "html"])
def test_versions_that_look_like_addresses_stay(cli: Cli, session: str, form: str) -> None:
    out = cli("report", "--format", form, "--redact", session).out
    assert "16.0.12.0" in out


def test_all_spellings_of_one_have_one_pseudonym(cli: Cli, session: str) -> None:
    events = json.loads(cli("log", "--json", "--show", "all", "--redact", session).out)["events"]
    (drive,) = [
        one for one in events[1]["inventory"]["drives"] if one["serial"].lower().startswith(tuple("123456789"))
    ][:1]
    bare = re.sub(r"\W", "", drive["serial"]).lower()
    note = next(event["text"] for event in events if "text" in event)
    assert bare in re.sub(r"[-:_ .]|%3A|%2D", "", note).lower()


def test_a_short_number_is_replaced_in_its_field_and_stays_as_a_figure(cli: Cli, tmp_path: Path) -> None:
    drive = Drive(target=sessions.SDA, serial="4096", state=State.ONLINE, signatures=(Signature(kind="x", uuid="7"),))
    seen = InventorySeen(at=1001.0, inventory=Inventory(drives=(drive,)))
    note = NoteAdded(at=1002.0, text="4096 bytes, 7 %")
    folder = sessions.written(tmp_path / "s", sessions.started(), seen, note)
    events = json.loads(cli("log", "--json", "--redact", str(folder)).out)["events"]
    made = events[1]["inventory"]["drives"][0]
    assert made["serial"] != "4096"
    assert made["signatures"][0]["uuid"] != "7"
    assert events[2]["text"] == "4096 bytes, 7 %"


def test_what_only_a_field_of_a_run_tells_is_found_in_texts(cli: Cli, tmp_path: Path) -> None:
    run = sessions.run("r1", provenance={"drive_serial": "-; QX9077431"})
    folder = sessions.written(tmp_path / "s", sessions.started(), *run, NoteAdded(at=1009.0, text="swap qx9077431"))
    assert "qx9077431" not in cli("log", "--json", "--redact", str(folder)).out.lower()


def test_what_only_a_text_calls_unique_is_found_elsewhere(cli: Cli, tmp_path: Path) -> None:
    notes = (NoteAdded(at=1008.0, text="volume 91AC-07DE is back"), NoteAdded(at=1009.0, text="UUID=91AC-07DE"))
    folder = sessions.written(tmp_path / "s", sessions.started(), *notes)
    assert "91AC" not in cli("log", "--json", "--redact", str(folder)).out
