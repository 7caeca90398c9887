"""Several sections as one job: conservative where safety asks, right in time."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields, replace

import pytest

from app.core.fio.job import Engine, InvalidJobError, Job, JobTarget, Pattern, TargetKind
from app.core.fio.jobfile import import_jobfile
from app.core.fio.render import most_bytes, start_of, usable_size
from app.core.fio.sections import (
    JobSection,
    SectionedJob,
    change_sections,
    distinct_names,
    groups,
    join_sections,
    phases,
    planned_starts,
    with_size,
)
from backends.errors import InvalidValueError

READER = Job(rw=Pattern.RANDREAD, bs=4096, iodepth=4, numjobs=2, runtime=10, ramp=2, size=1 << 20)
WRITER = Job(rw=Pattern.WRITE, bs=65536, iodepth=8, runtime=20, ramp=5, size=1 << 24)
CHECK = Job(rw=Pattern.READ, bs=8192, runtime=30, ramp=0, size=1 << 22, direct=False)


def joined(*jobs: Job, waits: tuple[int, ...] = ()) -> Job:
    names = ("reader", "writer", "check")
    return join_sections(
        [
            JobSection(name=name, job=job, waits=at in waits)
            for at, (name, job) in enumerate(zip(names, jobs, strict=False))
        ]
    )


def test_one_section_is_its_own_job() -> None:
    assert join_sections([JobSection(name="alone", job=READER, waits=True)]) is READER


def test_a_reader_beside_a_writer_writes() -> None:
    job = joined(READER, WRITER)
    assert (job.reads, job.writes, job.mixed, job.rw) == (True, True, True, Pattern.RANDRW)


def test_two_readers_do_not_write() -> None:
    assert not joined(READER, CHECK).writes


def test_the_range_is_that_of_the_section_that_uses_most() -> None:
    assert joined(READER, WRITER, CHECK).size == 1 << 24


def test_the_range_is_all_where_a_section_uses_all() -> None:
    assert joined(READER, replace(WRITER, size=None)).size is None


def test_alignment_suits_every_direct_section() -> None:
    assert joined(READER, WRITER).required_alignment == 4096
    assert joined(replace(READER, bs=512), WRITER).required_alignment == 512
    assert joined(WRITER, CHECK).required_alignment == 65536


def test_sections_at_the_same_time_take_as_long_as_the_longest() -> None:
    job = joined(READER, WRITER)
    assert (job.ramp, job.runtime) == (2, 23)


def test_phases_add_up() -> None:
    job = joined(READER, WRITER, CHECK, waits=(2,))
    assert (job.ramp, job.ramp + job.runtime) == (2, 25 + 30)
    assert planned_starts(job.sections) == (0, 0, 25)
    assert [[one.name for one in phase] for phase in phases(job.sections)] == [["reader", "writer"], ["check"]]


def test_a_group_starts_with_a_wait_and_where_the_file_says_so() -> None:
    sections = [
        JobSection(name="a", job=READER, new_group=True),
        JobSection(name="b", job=READER),
        JobSection(name="c", job=READER, new_group=True),
        JobSection(name="d", job=READER, waits=True),
        JobSection(name="e", job=READER),
    ]
    assert [[one.name for one in group] for group in groups(sections)] == [["a", "b"], ["c"], ["d", "e"]]


def test_the_queue_is_that_of_the_fullest_phase() -> None:
    assert joined(READER, WRITER, CHECK, waits=(2,)).queue == 2 * 4 + 8


def test_the_line_names_sections_and_phases() -> None:
    assert joined(READER, WRITER, CHECK, waits=(2,)).describe() == ("3 sections: reader + writer, then check · 55 s")


def test_only_what_all_sections_have_is_told_of_the_whole() -> None:
    texts = joined(READER, WRITER).texts()
    assert (texts["direct"], texts["bs"], texts["iodepth"]) == ("yes", "", "")
    assert Job.from_fields({key: text for key, text in texts.items() if text}).writes


def test_a_field_is_not_changed_without_its_sections() -> None:
    with pytest.raises(ValueError, match="each section"):
        replace(joined(READER, WRITER), rw=Pattern.RANDREAD)


def test_every_section_is_changed() -> None:
    job, notes = change_sections(
        joined(READER, WRITER), lambda one: (replace(one, ioengine=Engine.PSYNC), ("psync", f"depth {one.iodepth}"))
    )
    assert {part.ioengine for part in job.parts} == {Engine.PSYNC}
    assert notes == ("psync", "reader: depth 4", "writer: depth 8")


def test_what_is_wrong_with_a_section_names_it() -> None:
    def fail(job: Job) -> tuple[Job, tuple[str, ...]]:
        if job.bs == 65536:
            raise InvalidValueError("too large")
        return job, ()

    with pytest.raises(InvalidValueError, match="writer: too large"):
        change_sections(joined(READER, WRITER), fail)


@pytest.mark.parametrize(
    ("names", "distinct"),
    [
        (["a", "b"], ("a", "b")),
        (["a", "a", "a"], ("a", "a #2", "a #3")),
        (["a", "a", "a #2"], ("a", "a #3", "a #2")),
        (["a\x1b[31m", "a"], None),
        (["", " "], ("unnamed", "unnamed #2")),
    ],
)
def test_names_are_distinct_and_clean(names: list[str], distinct: tuple[str, ...] | None) -> None:
    found = distinct_names(names)
    assert len(set(found)) == len(names)
    assert all(name.isprintable() for name in found)
    assert distinct is None or found == distinct


def test_no_property_of_a_job_looks_at_the_joined_fields_alone() -> None:
    """Of a job of several sections a field may have fio's default; only ramp and run time are those of the whole."""
    joined_fields = {field.name for field in fields(Job)} - {"ramp", "runtime"}
    for name in vars(Job).keys() - vars(SectionedJob).keys():
        if isinstance(value := vars(Job)[name], property):
            nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(value.fget or len))))
            asked = {
                node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
            }
            assert asked.isdisjoint(joined_fields), name
    assert isinstance(inspect.getattr_static(SectionedJob, "sections"), object)


def test_too_many_sections_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="at most"):
        join_sections([JobSection(name=str(number), job=READER) for number in range(100)])


def test_fields_change_every_section() -> None:
    job = Job.from_fields({"runtime": "3", "ramp": "0"}, joined(READER, WRITER))
    assert [part.runtime for part in job.parts] == [3, 3]
    assert [part.bs for part in job.parts] == [4096, 65536]
    with pytest.raises(InvalidJobError, match="writer: must be at least one block") as caught:
        Job.from_fields({"size": "8k"}, joined(READER, WRITER))
    assert list(caught.value.fields) == ["size"]


def test_a_size_is_given_to_sections_that_name_none() -> None:
    job = with_size(joined(replace(READER, size=None), WRITER), 1 << 30)
    assert [part.size for part in job.parts] == [1 << 30, 1 << 24]
    assert with_size(READER, 1 << 30) is READER


def test_what_is_used_of_a_target_reaches_from_the_first_section_to_the_last() -> None:
    target = JobTarget(path="/dev/sdb", name="/dev/sdb", kind=TargetKind.BLOCK, size=1 << 30)
    late = replace(READER, offset=1 << 26, size=1 << 20)
    early = replace(WRITER, offset=1 << 22, size=1 << 24)
    job = joined(late, early)
    assert (start_of(job, target), usable_size(job, target)) == (1 << 22, (1 << 26) + (1 << 20) - (1 << 22))
    assert job.reach == (1 << 26) + (1 << 20)


def test_sections_write_at_most_the_sum_of_their_amounts() -> None:
    target = JobTarget(path="/dev/sdb", name="/dev/sdb", kind=TargetKind.BLOCK, size=1 << 30)
    small, large = (replace(WRITER, ramp=0, runtime=0, io_size=size) for size in (1 << 20, 1 << 24))
    assert most_bytes(joined(small, large), target) == (1 << 20) + (1 << 24)
    assert most_bytes(joined(small, WRITER), target) is None


def test_how_sections_follow_each_other_needs_no_note() -> None:
    text = "[global]\ntime_based\nruntime=9\n[a]\n[b]\nstonewall\nnew_group\n"
    assert import_jobfile(text).combined_job.notes == ()
