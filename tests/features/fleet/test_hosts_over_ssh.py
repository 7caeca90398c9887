"""`--hosts` over a real sshd on 127.0.0.1: each port is a host, and each fault is told by its sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from backends.self_exec import LAUNCHER
from tests import sshd
from tests.cli.conftest import ROOT, Outcome, argv, program

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

DOCUMENT = json.dumps({"schema": 1, "findings": [], "text": "all is well"})
ESCAPES = json.dumps({"schema": 1, "findings": [], "text": "\x1b[2J\x1b]0;gone\x07  two  blanks\u202e"})

PROGRAMS: Mapping[str, str] = {
    "equal1": f"echo '{DOCUMENT}'",
    "equal2": f"echo 'Welcome to this machine'; echo '{DOCUMENT}'",
    "found": f"echo '{DOCUMENT}'; exit 5",
    "escapes": f"cat <<'END'\n{ESCAPES}\nEND",
    "garbage": r"printf 'no \033[31mdocument'",
    "noise": "yes 'one of many lines'",
    "lines": "echo '{'; yes | head -n 1000000",
    "endless": "echo '{'; tr '\\0' ' ' </dev/zero",
    "hangs": "exec sleep 90",
    "older": """echo '{"schema": 1, "error": {"status": 2, "message": "No such option: --with-text"}}'; exit 2""",
    "newer": """echo '{"schema": 7, "findings": [], "text": "fine"}'""",
    "refuses": r"printf 'the disk \033[31mis on fire\n' >&2; exit 9",
    "words": "",  # its own, below
    "real": f'PYTHONPATH={ROOT} RAIDBENCH_STATE_DIR=$(dirname $0)/state exec {sys.executable} -m app --demo lsi "$@"',
}
"""What raidbench is on each host."""

BARE = "bare"
"""A host without a raidbench, which is sent one."""

KEYS = ("unknownkey", "changedkey", "wrongkey")
"""Further names of the first host, whose keys are not as they should be."""

CAUSES: Mapping[str, tuple[str, str]] = {
    "garbage": ("not-json", "The response is not JSON from raidbench."),
    "noise": ("not-json", "The response is not JSON from raidbench."),
    "lines": ("too-long", "The output of the host exceeded 16 MiB or 500000 lines, and was truncated."),
    "endless": ("too-long", "The output of the host exceeded 16 MiB or 500000 lines, and was truncated."),
    "hangs": ("timed-out", "The host did not respond in time."),
    "older": ("raidbench-older", "raidbench there is too old for this version."),
    "newer": ("raidbench-newer", "raidbench there is newer, and its output is not compatible with this version."),
    "refuses": ("failed", "The command exited with status 9 there."),
    "unknownkey": ("key-unknown", "The SSH host key is unknown, so nothing was sent."),
    "changedkey": (
        "key-changed",
        "The SSH host key has changed, so nothing was sent. The host was reinstalled, or it is another host.",
    ),
    "wrongkey": ("no-permission", "The host does not accept the SSH keys of this user."),
    "absent": ("raidbench-absent", "raidbench is not installed there."),
    "closed": ("unreachable", "The host is unreachable."),
    "nameless": ("name-unknown", "The host name is unknown."),
}
"""How each fault is told."""

WELL = {"equal1", "equal2", "found", "escapes", "words"}


@dataclass(frozen=True)
class Farm:
    """Hosts, and how ssh comes to them."""

    folder: Path
    server: sshd.Server

    @property
    def environment(self) -> dict[str, str]:
        """For the program: an ssh that reads the configuration of this test, and groups of its own."""
        return {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "CLUSTERSHELL_CFGDIR": str(self.folder),
            "RAIDBENCH_STATE_DIR": str(self.folder / "state"),
        }

    def run(self, *words: str) -> Outcome:
        """The command line, as a program."""
        return program(*words, env=self.environment)


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    if why := sshd.get() or sshd.lacking():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("farm")
    (folder / "server").mkdir()
    for name, script in PROGRAMS.items():
        place = folder / "hosts" / name
        place.mkdir(parents=True)
        words = f"echo \"$@\" >{place}/told\nprintf '%s\\n' \"$@\" >{place}/words\necho '{DOCUMENT}'"
        (place / "raidbench").write_text(f"#!/bin/sh\n{script or words}\n")
        (place / "raidbench").chmod(0o755)
    (folder / "hosts" / BARE).mkdir()
    names = (*PROGRAMS, "absent", BARE)

    def paths(ports: tuple[int, ...]) -> str:
        return "".join(
            f"Match LocalPort {port}\n  SetEnv PATH={folder}/hosts/{name}:/usr/bin:/bin HOME={folder}/hosts/{name}\n"
            for name, port in zip(names, ports, strict=True)
        )

    with sshd.server(folder / "server", ports=len(names), more=paths) as server:
        _client(folder, server, dict(zip(names, server.ports, strict=True)))
        yield Farm(folder, server)


def _client(folder: Path, server: sshd.Server, ports: Mapping[str, int]) -> None:
    for name in ("other", "stranger"):
        subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)), check=True)
    own, stranger = (
        " ".join(file.read_text().split()[:2]) for file in (server.folder / "host.pub", folder / "stranger.pub")
    )
    ports = {**ports, **dict.fromkeys(KEYS, server.port), "closed": sshd.free_ports(1)[0]}
    known = {name: stranger if name == "changedkey" else own for name in ports if name != "unknownkey"}
    (folder / "known").write_text("".join(f"{name} {key}\n" for name, key in known.items()))
    rows = [
        f"Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  HostKeyAlias {name}\n  IdentityFile "
        f"{folder / 'other' if name == 'wrongkey' else server.folder / 'key'}"
        for name, port in ports.items()
    ]
    first = f"  Port {server.port}\n  HostKeyAlias {next(iter(ports))}\n  IdentityFile {server.folder / 'key'}"
    rows += [f"Host many*\n  HostName 127.0.0.1\n{first}"]
    rows += ["Host nameless\n  HostName there..is.no.such.host"]
    rows += [
        f"Host *\n  User root\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known\n"
        "  GlobalKnownHostsFile none\n  StrictHostKeyChecking no\n  BatchMode no\n"
        "  RemoteCommand false\n"
    ]
    (folder / "config").write_text("\n".join(rows))
    (folder / "bin").mkdir()
    (folder / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/config "$@"\n')
    (folder / "bin" / "ssh").chmod(0o755)
    (folder / "groups.conf").write_text(
        "[Main]\ndefault: local\n[local]\nmap: echo equal1,equal2,found\nlist: echo raid\n"
    )


@pytest.fixture(scope="module")
def everybody(farm: Farm) -> Outcome:
    names = ",".join((*WELL, *CAUSES))
    return farm.run("check", "--hosts", names, "--host-timeout", "20", "--json")


def test_each_fault_is_told_by_its_sentence(everybody: Outcome) -> None:
    told = {one["host"]: (one["cause"], one["message"]) for one in everybody.json["missing"]}
    assert told == CAUSES
    assert everybody.status == 6
    assert all(f": {sentence}" in everybody.err for _, sentence in CAUSES.values())
    assert f"{len(WELL)} of {len(WELL) + len(CAUSES)} hosts answered" in everybody.err


def test_equal_documents_stand_together_and_a_newer_form_stands_with_none(everybody: Outcome) -> None:
    groups = {tuple(one["names"]): (one["status"], one["document"]["findings"]) for one in everybody.json["answers"]}
    assert {frozenset(names) for names in groups} == {frozenset(WELL - {"found"}), frozenset({"found"})}
    assert everybody.json["counts"] == {
        "asked": len(WELL) + len(CAUSES), "answered": len(WELL), "missing": len(CAUSES)
    }  # fmt: skip


def test_nothing_that_a_host_says_reaches_the_terminal_unclean(farm: Farm, everybody: Outcome) -> None:
    told = farm.run("check", "--hosts", "escapes,refuses,garbage")
    assert (told.status, "\x1b" in told.out + told.err, "\x1b" in everybody.out + everybody.err) == (6, False, False)
    assert "  two  blanks" in told.out
    assert "the disk �[31mis on fire" in told.err


def test_groups_and_exclusions_are_those_of_clustershell(farm: Farm) -> None:
    told = farm.run("check", "--hosts", "@raid!equal2", "--json")
    assert [one["names"] for one in told.json["answers"]] == [["equal1"], ["found"]]
    assert told.status == 5


def test_the_words_reach_the_program_as_they_were_typed(farm: Farm) -> None:
    word = "a b'c\"$(touch /tmp/never)`;&|*?"
    assert farm.run("show", "--hosts", "words", "--json", "--", word).status == 0
    told = (farm.folder / "hosts" / "words" / "words").read_text().splitlines()
    assert told == ["show", "--json", "--", word]


def test_no_key_of_a_host_is_taken(farm: Farm) -> None:
    before = (farm.folder / "known").read_text()
    assert farm.run("doctor", "--hosts", "unknownkey,changedkey", "--json").status == 6
    assert (farm.folder / "known").read_text() == before


def test_more_hosts_than_are_asked_at_a_time_are_all_told(farm: Farm) -> None:
    told = farm.run("check", "--hosts", "many[1-80]", "--json")
    assert (told.status, [one["hosts"] for one in told.json["answers"]]) == (0, ["many[1-80]"])


def test_a_host_with_a_raidbench_tells_what_it_tells_there(farm: Farm) -> None:
    devices = farm.run("devices", "--hosts", "real")
    assert (devices.status, devices.out.splitlines()[0]) == (0, "real (1 host)")
    assert "megaraid:/c0/v1" in devices.out
    alone = farm.run("hosts", "diff", "real", "--json")
    assert (alone.status, alone.json["differences"], alone.json["roles"][0]["names"]) == (0, [], ["real"])


def test_the_one_file_is_copied_once_and_called_from_then_on(farm: Farm, tmp_path: Path) -> None:
    """The file is a shell that runs the script its first word names: what is sent is run, whoever wrote it."""
    place = farm.folder / "hosts" / BARE
    script = place / "doctor"
    script.write_text(f"echo '{json.dumps({'schema': 1, 'findings': [], 'program': '9.9', 'text': 'well'})}'")
    script.chmod(0o755)
    file = tmp_path / "raidbench"
    file.write_bytes(Path("/bin/bash").read_bytes() + f"{LAUNCHER}=".encode() + os.urandom(12 << 20))
    words = ("hosts", "prepare", BARE, "--file", str(file), "--json")
    before = farm.run(*words)
    assert (before.status, list(place.iterdir())) == (3, [script])
    first = farm.run(*words, "--yes")
    (copy,) = (place / ".local" / "lib" / "raidbench").iterdir()
    told = copy.stat()
    second = farm.run(*words, "--yes")
    assert not first.json["missing"], first.err
    assert [(one.status, one.json["hosts"][0]["copy"]) for one in (first, second)] == [(0, "copied"), (0, "same")]
    assert (copy.stat().st_ino, copy.read_bytes()) == (told.st_ino, file.read_bytes())
    assert farm.run("doctor", "--hosts", BARE, "--json").json["answers"][0]["document"]["program"] == "9.9"


def test_whose_key_is_not_known_is_sent_nothing(farm: Farm, tmp_path: Path) -> None:
    file = tmp_path / "raidbench"
    file.write_bytes(Path("/bin/bash").read_bytes() + f"{LAUNCHER}=".encode())
    told = farm.run("hosts", "prepare", "unknownkey,changedkey", "--file", str(file), "--yes", "--json")
    assert {one["host"]: one["cause"] for one in told.json["missing"]} == {
        "unknownkey": "key-unknown",
        "changedkey": "key-changed",
    }


def _ssh_of(farm: Farm) -> list[int]:
    """Process ids of ssh clients that read this test's configuration."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:3] == [b"/usr/bin/ssh", b"-F", f"{farm.folder}/config".encode()]:
            found.append(int(entry.name))
    return found


def _until(farm: Farm, there: bool) -> None:
    end = time.monotonic() + 120
    while bool(_ssh_of(farm)) != there:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_ssh_ends_with_the_program(farm: Farm, number: signal.Signals, status: int) -> None:
    _until(farm, False)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **farm.environment}
    words = argv("check", "--hosts", "hangs,equal1", "--json")
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _until(farm, True)
    process.send_signal(number)
    process.communicate(timeout=120)
    _until(farm, False)
    assert process.returncode == status
