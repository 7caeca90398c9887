"""A journal cut anywhere and with flipped bits: what was acknowledged stays, what was spoiled is not believed."""

from __future__ import annotations

import random
from pathlib import Path

from app.core.session.journal import Journal, read_records
from tests.core.doubles import planned
from tests.tally import Tally

SESSION = Path("/sessions/one")


def filled(folder: Path, pairs: int = 4) -> Journal:
    """A journal of so many changes with their outcomes."""
    journal = Journal(folder)
    for number in range(pairs):
        journal.write_intent(f"c{number}", SESSION, planned("128", f"25{number}"))
        journal.write_outcome(f"c{number}", SESSION, "verified")
    return journal


def cut_at_every_byte(folder: Path, pairs: int, step: int = 1) -> Tally:
    """Every record that was complete before the cut is kept, and no other; at every `step`th byte."""
    tally = Tally()
    whole = filled(folder / "whole", pairs).file.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    cut = folder / "cut.log"
    for length in range(0, len(whole) + 1, step):
        with tally.attempt(f"cut at {length}"):
            cut.write_bytes(whole[:length])
            # the record's own bytes are complete one byte before its newline
            assert len(read_records(cut)) == sum(end - 1 <= length for end in ends)
    return tally


def written_on_after_every_cut(folder: Path, step: int = 1) -> Tally:
    """A record that follows a torn one is found wherever the first was torn, at every `step`th byte."""
    tally = Tally()
    whole = filled(folder / "whole-of-one", 1).file.read_bytes()
    journal = Journal(folder / "torn")
    (folder / "torn").mkdir(exist_ok=True)
    for length in range(1, len(whole), step):
        with tally.attempt(f"torn at {length}"):
            journal.file.write_bytes(whole[:length])
            journal.write_outcome("after", SESSION, "kept")
            assert read_records(journal.file)[-1]["id"] == "after"
    return tally


def flip_bits(folder: Path, tries: int, seed: int) -> Tally:
    """A flipped bit costs at most the record it is in, and none says anything else than what was written."""
    tally = Tally()
    file = filled(folder / "flipped").file
    whole, sound = file.read_bytes(), read_records(file)
    chance = random.Random(seed)
    for _ in range(tries):
        bit = chance.randrange(len(whole) * 8)
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        with tally.attempt(f"bit {bit}"):
            file.write_bytes(data)
            found = read_records(file)
            assert all(record in sound for record in found), "a spoiled record is believed"
            assert len([record for record in sound if record not in found]) <= 1, "more than one record is lost"
    return tally


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many flipped bits, and every cut of a journal of four changes; below a thousand flips only some cuts."""
    step = 1 if tries >= 1000 else 97
    tally = cut_at_every_byte(folder, 4, step)
    tally.add(written_on_after_every_cut(folder, step))
    tally.add(flip_bits(folder, tries, seed))
    return tally
