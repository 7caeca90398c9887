"""Values that are written by us and read by cattrs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cattrs import Converter

from app.engine.session.json_values import unstructure
from app.engine.session.wire import decode
from tests.cli.test_startup import loaded_by

LOGS = sorted((Path(__file__).parent / "of_version_0_1" / "sessions").glob("*/session.jsonl"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_every_event_is_written_as_cattrs_would_write_it(log: Path) -> None:
    events = [event for line in log.read_text().splitlines() if (event := decode(line)) is not None]
    would = Converter(omit_if_default=True)
    assert [json.dumps(unstructure(one)) for one in events] == [json.dumps(would.unstructure(one)) for one in events]


def test_what_reads_is_not_imported_to_write() -> None:
    write = "from app.engine.session.events import NoteAdded; from app.engine.session.wire import encode; "
    assert loaded_by(f"{write}encode(NoteAdded(at=1.0, text='seen'))", "cattrs", "attr") == ""
