"""Signs files with the keys of the releases: by gpg for apt, dnf and gpgv, and by ssh-keygen where gpg is missing."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.release.checks import NotReleasableError

NAMESPACE = "raidbench-release"
"""The namespace of ssh-keygen's signatures: one made for another purpose does not verify."""

IDENTITY = "releases@raidbench"
"""The name of the signer in `allowed_signers`."""


@dataclass(frozen=True, slots=True)
class ReleaseKeys:
    """The two secret keys of the releases.

    gpg's is RSA, because the rpm of RHEL 8 and the apt of Debian 11 have to verify it.
    """

    home: Path
    """GNUPGHOME with exactly one secret key."""
    ssh: Path
    """The secret key of ssh-keygen; its public part is in the same folder with the suffix `.pub`."""
    fingerprint: str
    """The fingerprint of the gpg key."""

    @classmethod
    def read(cls, folder: Path) -> ReleaseKeys:
        """Return the keys in `folder`: `gnupg/` and `ssh_ed25519`. Raises NotReleasableError if one is missing."""
        home, ssh = folder / "gnupg", folder / "ssh_ed25519"
        if not home.is_dir() or not ssh.is_file():
            raise NotReleasableError(f"{folder} must contain gnupg/ and ssh_ed25519 (docs/dev/release.md, Keys).")
        listing = _run("gpg", "--list-secret-keys", "--with-colons", home=home).decode()
        primary = False
        found = []
        for row in listing.splitlines():
            fields = row.split(":")
            if fields[0] == "fpr" and primary:
                found.append(fields[9])
            primary = fields[0] == "sec"
        if len(found) != 1:
            raise NotReleasableError(f"{home} has {len(found)} secret keys; a release is signed by exactly one.")
        return cls(home, ssh, found[0])

    def armored_key(self) -> bytes:
        """Return the public gpg key in ASCII, for apt and dnf."""
        return _run("gpg", "--armor", "--export", self.fingerprint, home=self.home)

    def key_text(self) -> str:
        """Return the public gpg key as one line of base64: gpgv reads no armor."""
        return base64.b64encode(_run("gpg", "--export", self.fingerprint, home=self.home)).decode()

    def signer_text(self) -> str:
        """Return the line of an `allowed_signers` file for the public SSH key."""
        kind, key = self.ssh.with_suffix(".pub").read_text(encoding="ascii").split()[:2]
        return f'{IDENTITY} namespaces="{NAMESPACE}" {kind} {key}'

    def sign(self, file: Path) -> None:
        """Write detached signatures next to `file`: `.asc` by gpg, `.sig` by ssh-keygen."""
        self.sign_by_gpg("--armor", "--detach-sign", file=file, out=file.with_name(f"{file.name}.asc"))
        file.with_name(f"{file.name}.sig").unlink(missing_ok=True)  # ssh-keygen would ask
        _run("ssh-keygen", "-q", "-Y", "sign", "-f", str(self.ssh), "-n", NAMESPACE, str(file))

    def sign_by_gpg(self, *how: str, file: Path, out: Path) -> None:
        """Write to `out` what gpg makes of `file` with the options `how`, such as `--clearsign`."""
        words = ("--batch", "--yes", "--local-user", self.fingerprint, *how, "--output", str(out), str(file))
        _run("gpg", *words, home=self.home)


def require_program(name: str, package: str) -> str:
    """Return the path of a program. Raises NotReleasableError that names the package of Debian if it is missing."""
    path = shutil.which(name)
    if path is None:
        raise NotReleasableError(f"{name} is not installed: apt-get install {package}")
    return path


def _run(program: str, *words: str, home: Path | None = None) -> bytes:
    argv = (require_program(program, {"gpg": "gnupg"}.get(program, "openssh-client")), *words)
    environment = os.environ | ({"GNUPGHOME": str(home)} if home else {}) | {"LC_ALL": "C"}
    done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise NotReleasableError(f"{program} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
