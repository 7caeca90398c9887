"""What `make test-user` leaves out ends the same whoever runs it: nothing of the system is asked there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.case_loop import loop_over

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = re.findall(
    r"tests/\S+", re.findall(r"^ALIKE := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]
)
SYSTEM = re.compile(
    r"\b(LocalHost|subprocess|psutil|chmod|chown|[gs]ete?[ug]id|needs_root|loops|tests\.priv|run_here|cli: Cli)\b"
    r"|mark\.(?:root|fio)\b"
)
UNASKED = {"tests/backends/simulator/test_simulated_host.py": {"LocalHost"}}
"""Makes one, and asks it nothing."""


@loop_over("folder", FOLDERS)
def test_no_test_there_can_tell_who_runs_it(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files, "what is left out is there"
    asked = {str(file.relative_to(ROOT)): set(_words(file)) for file in files}
    assert {file: words for file, words in asked.items() if words - UNASKED.get(file, set())} == {}


def _words(file: Path) -> list[str]:
    return [found.group() for found in SYSTEM.finditer(file.read_text(encoding="utf-8"))]
