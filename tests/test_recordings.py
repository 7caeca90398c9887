"""Every parser over every recording beside the project, where there are any; what can be checked is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.stream import FioJsonDocument, StreamParser
from backends.text import parse_choices
from backends.topology.mounts import parse_mountinfo, parse_swaps
from backends.topology.signatures import (
    blkid_signatures,
    parse_blkid,
    parse_lsblk,
    parse_udev,
    udev_signatures,
    wipefs_signatures,
)
from backends.vendors.hba.names import parse_lspci
from tests.backends.fusionio.test_mutations import PARSERS as FUSIONIO
from tests.backends.listed.test_mutations import PARSERS as LISTED
from tests.backends.mdraid.test_mutations import PARSERS as MDRAID
from tests.backends.megaraid.test_megacli_mutations import PARSERS as MEGACLI
from tests.backends.megaraid.test_storcli_mutations import everything
from tests.backends.nvme.test_mutations import PARSERS as NVME
from tests.backends.scsi.test_scsi_mutations import PARSERS as SCSI
from tests.backends.smartarray.test_mutations import PARSERS as SMARTARRAY
from tests.backends.smcli.test_mutations import PARSERS as SMCLI
from tests.recordings import CHECKS, SAMPLES, Check, found_by, text_of
from tests.recordings import cards as _cards
from tests.recordings import fio as _fio
from tests.recordings import linux as _linux
from tests.recordings import megaraid as _megaraid
from tests.recordings import megaraid_facts as _megaraid_facts
from tests.recordings import smartarray as _smartarray

LEAST = 560
"""Recordings there are at least, where there are any."""

WRITERS = (_cards, _fio, _linux, _megaraid, _megaraid_facts, _smartarray)
"""What registers the checks."""


def _fio_documents(text: str) -> None:
    parser = StreamParser()
    for event in (*parser.feed(text.encode()), *parser.close()):
        if isinstance(event, FioJsonDocument):
            for name in ("read", "write", "mixed"):
                FioDocument(event.data).counters(name)


def _block(text: str) -> None:
    for parse in (parse_mountinfo, parse_swaps, parse_choices, parse_blkid, parse_lsblk, parse_lspci):
        parse(text)
    blkid_signatures(text, None, None)
    wipefs_signatures(text, None, None)
    udev_signatures(parse_udev(text), None, None)


PARSERS: dict[str, Callable[[str], object]] = {
    **{f"MegaCli, {name}": parse for name, parse in MEGACLI.items()},
    **{f"nvme, {name}": parse for name, parse in NVME.items()},
    **{f"SCSI, {name}": parse for name, parse in SCSI.items()},
    **{f"md, {name}": parse for name, parse in MDRAID.items()},
    **FUSIONIO,
    **LISTED,
    **SMCLI,
    **SMARTARRAY,
    "storcli": lambda text: list(everything(text)),
    "block": _block,
    "fio": _fio_documents,
}
LONGEST = 40_000
"""Characters that a parser is given of what another tool said."""


def complaints(path: Path) -> Iterator[str]:
    """Each parser that fell over what this recording says, whatever tool said it."""
    text = text_of(path)[:LONGEST]
    for name, parse in PARSERS.items():
        try:
            parse(text)
        except Exception as error:
            yield f"{path.name}: {name}: {error!r}"


def contradictions(check: Check, paths: list[Path]) -> Iterator[str]:
    """Each recording that says something else than was read."""
    for path in paths:
        try:
            check(path)
        except Exception as error:
            yield f"{path.name}: {check.__name__}: {str(error)[:300] or repr(error)}"


needs_recordings = pytest.mark.skipif(not SAMPLES.is_dir(), reason="there are no recordings beside the project")
SHARES = 4
"""Tests that share the recordings among them."""


@needs_recordings
@pytest.mark.exhaustive
@pytest.mark.parametrize("share", range(SHARES))
def test_every_parser_reads_every_recording(share: int) -> None:
    every = sorted(path for path in SAMPLES.rglob("*") if path.is_file())
    assert len(every) >= LEAST
    wrong = [words for path in every[share::SHARES] for words in complaints(path)]
    assert not wrong, "\n".join(wrong)


@needs_recordings
@pytest.mark.exhaustive
def test_what_is_read_is_what_a_recording_says() -> None:
    wrong = []
    for check, globs, named in CHECKS:
        paths = found_by(globs, named)
        wrong += [] if paths else [f"{check.__name__}: no recording"]
        wrong += contradictions(check, paths)
    assert not wrong, "\n".join(wrong)
