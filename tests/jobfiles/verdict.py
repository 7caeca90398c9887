"""Whether raidbench does with a job file what fio does: it agrees, refuses, notes what differs, or is wrong."""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.core.fio.job import JobTarget, TargetKind
from app.core.fio.jobfile import import_jobfile
from app.core.fio.render import render
from backends.errors import InvalidValueError, RaidbenchError
from tests.jobfiles import meaning
from tests.jobfiles.cases import Case
from tests.jobfiles.comparison import NEVER_BY_NOTE, Difference, differences
from tests.jobfiles.meaning import FIO, Effective, Meaning

SIZE = 8 << 20
"""Bytes of the scratch file."""

_LONGEST = 60.0
"""Seconds after which a run is given up; each ends by an amount within one."""


class Kind(StrEnum):
    """What came of a job file."""

    AGREES = "agrees"
    NOTED = "noted"
    REFUSED = "refused"
    DIFFERS = "DIFFERS"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a job file, and the words for it."""

    kind: Kind
    words: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}" if self.words else self.kind.value


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where job files run: a folder and a file in it that is written in full."""

    folder: Path
    file: Path

    @property
    def target(self) -> JobTarget:
        return JobTarget(path=str(self.file), name="scratch", kind=TargetKind.FILE, size=SIZE)


def lay_out(folder: Path) -> Scratch:
    """A scratch file of random data in a folder that is made for it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "scratch.dat"
    with file.open("wb") as out, Path("/dev/urandom").open("rb") as noise:
        out.write(noise.read(SIZE))
    return Scratch(folder, file)


def judge(text: str, scratch: Scratch, *, runs: bool = False) -> Verdict:
    """What raidbench makes of a job file; with `runs`, both jobs are run and their I/Os counted."""
    try:
        imported = import_jobfile(text)
    except InvalidValueError as error:
        if not error.evidence and not meaning.read(text, scratch.folder).sections:
            return Verdict(Kind.REFUSED, error.message)  # There is no job, so there is no line to name.
        return _refusal(text, error)
    whole = imported.combined_job
    try:
        rendered = render(whole.job, [scratch.target], jobfile="job.fio")
    except RaidbenchError as error:
        return Verdict(Kind.REFUSED, f"on this target: {error.message}")
    own, theirs = meaning.read_both(rendered.text, text, scratch.folder)
    if theirs.complaint:
        return Verdict(Kind.DIFFERS, f"fio refuses the file ({theirs.complaint}), raidbench takes it")
    if own.complaint:
        return Verdict(Kind.DIFFERS, f"fio refuses raidbench's own job: {own.complaint}")
    notes = whole.notes
    if unnoted := list(_unnoted(theirs, own, notes)):
        return Verdict(Kind.DIFFERS, "; ".join(unnoted))
    jobs = [meaning.effective(section) for section in theirs.sections]
    # How many I/Os a second brings is nothing to compare, nor how far a section came that another one ended.
    cut_short = any(job.timed for job in jobs) or any(note.startswith("exitall") for note in notes)
    if runs and not cut_short:
        try:
            one, other = _counts(_with_target(text, scratch), scratch), _counts(rendered.text, scratch)
        except subprocess.TimeoutExpired:
            return Verdict(Kind.DIFFERS, f"one of the two jobs did not end within {_LONGEST:.0f} s")
        if wrong := list(_wrong_counts(one, other, jobs)):
            return Verdict(Kind.DIFFERS, "; ".join(wrong))
    return Verdict(Kind.NOTED, " / ".join(notes)) if notes else Verdict(Kind.AGREES)


def _refusal(text: str, error: InvalidValueError) -> Verdict:
    """A refusal is sound if it names a line and the option that stands there."""
    sentences = (error.evidence or error.message).splitlines()
    lines = text.splitlines()
    for sentence in sentences:
        if (found := re.search(r"line (\d+): (.*)", sentence)) is None:
            return Verdict(Kind.DIFFERS, f"a refusal without a line: {sentence}")
        line = lines[int(found[1]) - 1] if 0 < int(found[1]) <= len(lines) else ""
        option = re.split("[;#=]", line)[0].strip()
        section = line.strip().startswith("[")
        if not section and not any(name in found[2] for name in meaning.spellings(option)):
            return Verdict(Kind.DIFFERS, f"a refusal that does not name '{option}': {sentence}")
    return Verdict(Kind.REFUSED, sentences[0] if sentences else error.message)


# -- notes -------------------------------------------------------------------------------------------------------------

_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "rwmixread": ("rwmixwrite",),
    "direct": ("buffered",),
    "bs": ("bsrange", "bssplit", "blocksize"),
    "runtime": ("run time", "timeout"),
    "size, io_size, number_ios or loops": ("size", "io_size", "number_ios", "loops", "io_limit"),
    "ba": ("blockalign",),
}
"""Other names under which a note may name an option."""


def _unnoted(theirs: Meaning, own: Meaning, notes: Sequence[str]) -> Iterator[str]:
    """Every difference that no note names."""
    if len(theirs.sections) != len(own.sections):
        yield f"fio runs {len(theirs.sections)} sections, raidbench's own job has {len(own.sections)}"
        return
    for place, (section, counterpart) in enumerate(zip(theirs.sections, own.sections, strict=True)):
        one, other = meaning.effective(section), meaning.effective(counterpart)
        found = differences(one, other, SIZE)
        if place and bool(one.number("stonewall")) != bool(other.number("stonewall")):
            found = (*found, Difference("stonewall", one.number("stonewall"), other.number("stonewall")))
        for difference in found:
            if difference.option in NEVER_BY_NOTE or not _named(difference, notes):
                yield f"[{section.name}] {difference}" if len(own.sections) > 1 else str(difference)


def _named(difference: Difference, notes: Iterable[str]) -> bool:
    words = (difference.option, *_SPELLINGS.get(difference.option, ()))
    return any(re.search(rf"\b{re.escape(word)}\b", note) for word in words for note in notes)


# -- runs --------------------------------------------------------------------------------------------------------------

_TARGETS = re.compile(r"^[ \t]*(?:filename|directory|filename_format|opendir|nrfiles)[ \t]*=.*$", re.MULTILINE)


def _with_target(text: str, scratch: Scratch) -> str:
    """The job file as it is, with the scratch file as the only target."""
    return f"[global]\nfilename={scratch.file}\n" + _TARGETS.sub("", text)


Counts = dict[str, tuple[int, int]]
"""I/Os and bytes by direction."""


def _counts(text: str, scratch: Scratch) -> list[Counts]:
    """What a real run did: I/Os and bytes of each entry of fio's report."""
    place = scratch.folder / "run.fio"
    place.write_text(text)
    done = subprocess.run(
        [FIO, "--output-format=json", "--thread", "--allow_file_create=0", str(place)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_LONGEST,
        check=False,
        cwd=scratch.folder,
    )
    start = done.stdout.find("{")
    if done.returncode or start < 0:
        raise AssertionError(f"fio failed: {done.stderr[:300]}\n{text}")
    document = json.loads(done.stdout[start:])
    return [
        {way: (int(entry[way]["total_ios"]), int(entry[way]["io_bytes"])) for way in ("read", "write", "trim")}
        for entry in document["jobs"]
    ]


def _wrong_counts(one: Sequence[Counts], other: Sequence[Counts], jobs: Sequence[Effective]) -> Iterator[str]:
    """Where the amounts of two runs differ beyond what chance does to the mix."""
    both = [_sum(counts) for counts in (one, other)]
    drawn = any(job.mixed or any(job.draws_blocks(place) for place in job.directions) for job in jobs)
    totals = [sum(ios for ios, _ in counts.values()) for counts in both]
    for way in ("read", "write", "trim"):
        (ios, size), (own_ios, own_size) = (counts[way] for counts in both)
        # Six times what chance does to counts of so many I/Os.
        slack = 6 * math.sqrt(max(totals)) if drawn else 0
        if abs(ios - own_ios) > slack or (ios == 0) != (own_ios == 0):
            yield f"{way}s: fio {ios}, raidbench {own_ios}"
        elif not drawn and size != own_size:
            yield f"bytes of {way}s: fio {size}, raidbench {own_size}"


def _sum(counts: Sequence[Counts]) -> Counts:
    """All entries together: clones of a job stand apart without group_reporting."""
    return {
        way: (sum(entry[way][0] for entry in counts), sum(entry[way][1] for entry in counts))
        for way in ("read", "write", "trim")
    }


def judged(case: Case, scratch: Scratch, *, runs: bool = True) -> Verdict:
    """The verdict on a case; a refusal of a file that raidbench must run is wrong."""
    verdict = judge(case.text, scratch, runs=runs and case.runs)
    if verdict.kind is Kind.REFUSED and case.must_run:
        return Verdict(Kind.DIFFERS, f"refused, but it must run: {verdict.words}")
    return verdict
