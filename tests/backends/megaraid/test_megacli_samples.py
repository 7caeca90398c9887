"""Every recording of MegaCli at hand: nothing raised, and all that the text shows is in the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.megaraid.megacli_fields import KINDS, found_fields
from tests.backends.megaraid.megacli_texts import ADPALLINFO, BATTERY, LDPDINFO, OLD_LDINFO, PDLIST, SAMPLES

FILES = sorted(SAMPLES.iterdir()) if SAMPLES.is_dir() else []


@pytest.mark.skipif(not FILES, reason="no recordings at hand")
def test_there_are_recordings_of_every_kind() -> None:
    told = [kind for path in FILES for kind in KINDS if found_fields(path.read_text(errors="replace"), kind)]
    assert {kind: told.count(kind) > 1 for kind in KINDS} == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_all_that_a_recording_shows_is_found(path: Path, kind: str) -> None:
    fields = found_fields(path.read_text(errors="replace"), kind)
    assert {name for name, found in fields.items() if not found} == set()


@pytest.mark.parametrize(
    ("text", "kind", "least"),
    [
        (LDPDINFO, "volumes", 16),
        (OLD_LDINFO, "volumes", 14),
        (PDLIST, "drives", 16),
        (ADPALLINFO, "card", 11),
        (BATTERY, "battery", 7),
    ],
)
def test_all_that_our_own_texts_show_is_found(text: str, kind: str, least: int) -> None:
    fields = found_fields(text, kind)
    assert len(fields) >= least
    assert all(fields.values()), fields
