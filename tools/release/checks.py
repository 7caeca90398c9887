"""Decides whether the checkout can be released, and reads the notes of the version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


class NotReleasableError(Exception):
    """The checkout cannot be released as it is. The message says why and what to do."""


def require_releasable(root: Path, version: str) -> str:
    """Return the notes of `version` from CHANGELOG.md of the checkout `root`.

    Raises NotReleasableError for uncommitted files, for a HEAD without the tag of this version, and for a changelog
    without a section about it.
    """
    if changed := _git(root, "status", "--porcelain").splitlines():
        raise NotReleasableError(
            f"The checkout has {len(changed)} uncommitted files, {changed[0][3:]} among them. Commit or remove them."
        )
    tags = _git(root, "tag", "--points-at", "HEAD").split()
    if f"v{version}" not in tags:
        raise NotReleasableError(f"HEAD does not have the tag v{version}. Set it: git tag v{version}")
    return notes(root / "CHANGELOG.md", version)


def notes(changelog: Path, version: str) -> str:
    """Return the section about `version`, with its heading.

    Raises NotReleasableError if there is none or it is empty.
    """
    sections = re.split(r"(?m)^(?=## )", changelog.read_text(encoding="utf-8"))
    for section in sections:
        if re.match(rf"## \[?{re.escape(version)}\]?(?=\s|$)", section):
            if section.partition("\n")[2].strip():
                return section.rstrip() + "\n"
            raise NotReleasableError(
                f"The section {version} of {changelog.name} is empty. Write the highlights of the release."
            )
    raise NotReleasableError(f"{changelog.name} has no section {version}. Add the highlights of the release.")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(("git", *words), cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise NotReleasableError(f"git {words[0]} failed in {root}: {done.stderr.strip() or done.returncode}")
    return done.stdout
