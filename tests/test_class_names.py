"""A class name means one thing in the whole product."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLASS = re.compile(r"^[ \t]*class (\w+)", re.MULTILINE)
"""Quicker by far than to parse all files."""


def test_no_class_name_means_two_things() -> None:
    files = [file for package in ("app", "backends", "widgets") for file in (ROOT / package).rglob("*.py")]
    named = [name for file in files for name in CLASS.findall(file.read_text(encoding="utf-8"))]
    assert len(named) > 500
    assert {name for name, count in Counter(named).items() if count > 1} == set()
