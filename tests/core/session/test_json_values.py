"""Values that are written by us and read by cattrs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cattrs import Converter

from app.core.session.event_codec import decode
from app.core.session.json_codec import structure, unstructure
from backends.model import Drive, Health, Target
from tests.cli.test_startup import loaded_by
from tests.released import FOLDER

SICK = Health(
    predicts_failure=True,
    media_errors=3,
    other_errors=900,
    predictive_errors=1,
    wear_percent=97.5,
    temperature=74.0,
    temperature_limit=70.0,
    locked=True,
    foreign=False,
    copyback=True,
)
LOGS = sorted(FOLDER.glob("*/state/simulated/*/sessions/*/session.jsonl"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_every_event_is_written_as_cattrs_would_write_it(log: Path) -> None:
    events = [event for line in log.read_text().splitlines() if (event := decode(line)) is not None]
    would = Converter(omit_if_default=True)
    written = [json.loads(json.dumps(unstructure(one))) for one in events]
    assert written == [json.loads(json.dumps(would.unstructure(one))) for one in events]


def test_what_reads_is_not_imported_to_write() -> None:
    write = "from app.core.session.events import NoteAdded; from app.core.session.event_codec import encode; "
    assert loaded_by(f"{write}encode(NoteAdded(at=1.0, text='seen'))", "cattrs", "attr") == ""


@pytest.mark.parametrize("health", [Health(), Health(predicts_failure=False, media_errors=0), SICK])
def test_the_health_of_a_drive_is_kept_in_a_session(health: Health) -> None:
    kept = Drive(target=Target(backend="block", address="sda"), health=health)
    assert structure(json.loads(json.dumps(unstructure(kept))), Drive) == kept


def test_a_drive_of_a_session_without_health_has_none_reported() -> None:
    assert structure({"target": {"backend": "block", "address": "sda"}}, Drive).health == Health()
