"""The command blocks of docs/install.md, to be run against a release, and the roots in which they are run."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from tests.package.hosts import Root
from tools.package.tree import ROOT

PAGE = ROOT / "docs" / "install.md"
README = ROOT / "README.md"

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class ReleaseRoot(Root):
    """A root of its own: that of the packages has neither curl nor gpg."""

    @property
    def folder(self) -> Path:
        """Its files."""
        return super().folder.with_name(f"{self.suite}-release")


CLEAN = ReleaseRoot(
    title="Debian 12", suite="bookworm", glibc="2.36", packages=("ca-certificates", "curl", "gnupg", "openssh-client")
)
"""A minimal Debian 12 with the programs that the page calls."""


def blocks(page: Path) -> dict[str, list[str]]:
    """Return the command blocks of a page by the heading above them, without the headings that have none."""
    _, *parts = _HEADING.split(page.read_text(encoding="utf-8"))
    found = {heading: _BLOCK.findall(text) for heading, text in zip(parts[::2], parts[1::2], strict=True)}
    return {heading: lines for heading, lines in found.items() if lines}


USER, APT, DNF = blocks(PAGE)["Install a release"]
[VERIFY] = blocks(PAGE)["Verify a release"]

ONLY_OURS = "rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*\n"
"""No other repository is asked, so that no network is needed."""


def script(block: str, url: str) -> str:
    """Return a block as a script that ends at the first command that fails."""
    return "set -e\n" + block.replace("BASE_URL", url)


def is_verified(release: Path) -> bool:
    """Return whether the commands that verify a release succeed."""
    [sums] = release.glob("*/SHA256SUMS")
    with tempfile.TemporaryDirectory() as home:
        places = os.environ | {"GNUPGHOME": home}
        argv = ("sh", "-c", script(VERIFY, ""))
        done = subprocess.run(argv, cwd=sums.parent, env=places, stdin=subprocess.DEVNULL, capture_output=True)
    sums.with_name("raidbench.gpg").unlink(missing_ok=True)
    return done.returncode == 0


def install_by_apt(work: Path, url: str, block: str = APT) -> str:
    """Return what the installed raidbench says in a clean root, or the output of apt."""
    done = CLEAN.run(work, f"{ONLY_OURS}{script(block, url)}\nraidbench --version")
    return done.stdout.splitlines()[-1] if done.returncode == 0 else done.stdout + done.stderr


def install_as_user(work: Path, url: str) -> str:
    """Return what the raidbench says that a new user has installed into an empty home, or the output of install.sh."""
    user = script(USER, url) + '\nexec "$HOME/.local/bin/raidbench" --version\n'
    (work / "in" / "user.sh").write_text(user)
    done = CLEAN.run(work, "useradd -m admin && su - admin -c 'sh /in/user.sh'")
    return done.stdout.splitlines()[-1] if done.returncode == 0 else done.stdout + done.stderr


def files_of(release: Path) -> list[Path]:
    """Return all files of a release."""
    return sorted(file for file in release.rglob("*") if file.is_file())
