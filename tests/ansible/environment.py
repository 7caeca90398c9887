"""ansible-core in an environment of its own, so that what it needs never stands beside what raidbench needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".bootstrap" / "ansible"
PROGRAMS = PLACE / "bin"
LOCKED = ROOT / "tools" / "locked" / "ansible.txt"


class NoAnsibleError(Exception):
    """It cannot be had here, with the reason."""


def lacking() -> str:
    """Why plays cannot be run, "" if they can."""
    there = (PROGRAMS / "ansible-playbook").exists()
    return "" if there else "ansible-core is not in .bootstrap/ansible: make ansible gets it"


def get() -> None:
    """Have it as it is locked. Raises NoAnsibleError."""
    kept = PLACE / "locked.txt"
    if not lacking() and kept.exists() and kept.read_bytes() == LOCKED.read_bytes():
        return
    _uv("venv", "-q", "--clear", "--python", sys.executable, str(PLACE))
    python = str(PROGRAMS / "python")
    _uv("pip", "install", "-q", "--require-hashes", "--python", python, "-r", str(LOCKED))
    kept.write_bytes(LOCKED.read_bytes())


def _uv(*words: str) -> None:
    command = ("sh", str(ROOT / "tools" / "bootstrap"), "uv", *words)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["no reason is told"]
        raise NoAnsibleError(f"uv {words[0]}: {told[-1]}")
