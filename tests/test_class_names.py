"""A class name means one thing in the whole product."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

TWICE = {
    "Asker": "of each vendor that asks with a tool",
    "Card": "of MegaRAID, and the one simulated",
    "Cell": "of a sweep's plan, of what is shown, of a widget's table",
    "Choice": "a legal value of a setting, and one to be chosen in a dialog",
    "Column": "of what is shown, of a widget's table",
    "CpuSampled": "of the load, and of a run in a session",
    "Disk": "of the kernel, and the one simulated",
    "Fact": "of a device, of what is shown, of a widget",
    "Facts": "of what is shown, and as a block of a report",
    "Job": "of fio, and of a card in the background",
    "Kind": "of a tool, and of a disk's language",
    "PhaseChanged": "of the load, and of a run in a session",
    "Row": "of what is shown, of a widget's table, of a comparison",
    "SampleTaken": "of the load, and of a run in a session",
    "Series": "of a report's graph, and of a widget's",
    "SteadinessSeen": "of the load, and of a run in a session",
    "Unit": "of an axis, and a card with its lock",
    "Workload": "of a plan, and of the simulated load",
    "_Seen": "of virtual drives, and of drives",
}
"""Names that still stand for two things, and why. No other name may join them; one that is single again leaves."""


def test_no_class_name_means_two_things() -> None:
    files = [file for package in ("app", "backends", "widgets") for file in (ROOT / package).rglob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    counted = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert {name for name, count in counted.items() if count > 1} == set(TWICE)
