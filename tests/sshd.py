"""A real sshd that only its own key gets into: the machine's program, or the distribution's, unpacked.

It listens on 127.0.0.1, or in a network namespace that a test has made.

Nothing of the machine is changed: what sshd wants of it, a user for its own rights, is in a mount namespace of its own.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.packages import PLACES, absence, unpack

ROOT = Path(__file__).resolve().parents[1]
UNPACKED = ROOT / ".bootstrap" / "sshd"
PACKAGES = ("openssh-server", "libwrap0")
"""What Debian's sshd comes in, and a library that few machines have beside it."""

_SECONDS = 60.0

_CONFIGURATION = """\
ListenAddress {address}
{ports}
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 200
MaxSessions 200
"""

_START = """\
mount --bind "$1/passwd" /etc/passwd
mount -t tmpfs none /run
mkdir /run/sshd
exec "$2" -D -e -f "$1/configuration"
"""
"""In the mount namespace of its own."""


@dataclass(frozen=True)
class Server:
    """An sshd that listens."""

    folder: Path
    ports: tuple[int, ...]
    address: str = "127.0.0.1"

    @property
    def port(self) -> int:
        """The first, for whoever needs one."""
        return self.ports[0]

    @property
    def known(self) -> str:
        """The server's key as a file of known hosts has it, for every port."""
        key = " ".join((self.folder / "host.pub").read_text().split()[:2])
        return "".join(f"[{self.address}]:{port} {key}\n" for port in self.ports)

    @property
    def variables(self) -> str:
        """How Ansible comes to a host there, as its inventory has it."""
        options = f"-F none -o UserKnownHostsFile={self.folder}/known -o StrictHostKeyChecking=yes"
        return (
            f"ansible_connection=ssh ansible_host=127.0.0.1 ansible_port={self.port} ansible_user=root"
            f" ansible_ssh_private_key_file={self.folder}/key ansible_ssh_args='-o ControlMaster=no'"  # each run anew
            f" ansible_ssh_common_args='{options}'"
        )


def get() -> str:
    """Have an sshd; why there is none, "" if there is one."""
    return "" if _program() else unpack(PACKAGES, UNPACKED)


def lacking() -> str:
    """Why no sshd can be started, "" if one can."""
    if os.geteuid() != 0:
        return "needs root"
    return absence("ssh", "ssh-keygen", "unshare") or (
        "" if _program() else "sshd is not there: python -m tests.sshd gets it"
    )


def _program() -> str | None:
    return shutil.which("sshd", path=f"{PLACES}:{UNPACKED / 'usr' / 'sbin'}")


@contextmanager
def server(
    folder: Path,
    *,
    ports: int = 1,
    more: Callable[[tuple[int, ...]], str] | None = None,
    netns: str | None = None,
    address: str = "127.0.0.1",
    root: Sequence[str] = (),
) -> Iterator[Server]:
    """One that listens on so many free ports, ended afterwards; `more`: what its configuration has besides.

    `netns`: a network namespace of the test's own that it listens in, at an address there. `root`: the words before a
    command that runs in a root of the test's own, where `folder` has the same name.
    """
    program = _program()
    assert program is not None
    for key in ("host", "key"):
        subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)), check=True)
    (folder / "authorized").write_text((folder / "key.pub").read_text())
    users = Path("/etc/passwd").read_text()
    own = "" if "\nsshd:" in users else "sshd:x:64999:65534::/nonexistent:/usr/sbin/nologin\n"
    (folder / "passwd").write_text(users + own)
    made = Server(folder, free_ports(ports), address)
    configuration = _CONFIGURATION.format(
        folder=folder, address=address, ports="\n".join(f"Port {port}" for port in made.ports)
    )
    (folder / "configuration").write_text(configuration + ("" if more is None else more(made.ports)))
    (folder / "known").write_text(made.known)
    libraries = ":".join(str(path) for path in (UNPACKED / "usr" / "lib").glob("*-linux-gnu*"))
    within = (*root, *(() if netns is None else ("ip", "netns", "exec", netns)))
    started = (
        *within,
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-ec",
        _START,
        "sh",
        str(folder),
        program,
    )
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(started, env={"PATH": PLACES, "LD_LIBRARY_PATH": libraries}, stderr=log)
    try:
        for port in made.ports:
            _answers(process, port, folder / "log", seen=netns is None)
        yield made
    finally:
        process.terminate()
        process.wait(_SECONDS)


def free_ports(number: int) -> tuple[int, ...]:
    """So many ports of 127.0.0.1 that nobody listens on."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(number)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return tuple(probe.getsockname()[1] for probe in probes)


def _answers(process: subprocess.Popen[bytes], port: int, log: Path, *, seen: bool) -> None:
    """`seen`: whether it can be reached from here; else its own word is believed."""
    end = time.monotonic() + _SECONDS
    while True:
        if not seen and f" port {port}." in log.read_text():
            return
        try:
            if seen:
                with socket.create_connection(("127.0.0.1", port), timeout=5):
                    return
        except OSError:
            pass
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(get() or None)
