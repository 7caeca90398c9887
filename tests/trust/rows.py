"""Every row, in the order of the table."""

from __future__ import annotations

from tests.trust.row import Row

GUARD = "tests/backends/test_guard.py::"
PROGRAMS = "tests/backends/test_programs.py::"
SCRATCH = "tests/engine/measure/test_scratch.py::"

ROWS: tuple[Row, ...] = (
    Row(
        number="T1",
        what="answers of the kernel and of every tool cut, spliced, doubled, shuffled, with flipped bits, odd numbers, "
        "banners, other encodings and great depth, through 46 parsers",
        mark="10,000 for each parser: no exception, none over 1 s, no value that does not stand there",
        least=460_000,
        check="tests.trust.parsers:run",
        count=10_000,
        quick=4,
        minutes=8,
    ),
    Row(
        number="T4",
        what="the journal cut at every byte and written on after every cut; random bits of it flipped",
        mark="1,000 flips and every byte: every complete record kept, none believed that is spoiled",
        least=1000,
        check="tests.engine.session.journal_faults:run",
        count=1000,
        quick=20,
        minutes=0.5,
    ),
    Row(
        number="T8",
        what="two processes going for one lock at the same moment",
        mark="50 pairs: one holds it, the other names it",
        least=50,
        check="tests.engine.session.lock_races:run",
        count=50,
        quick=3,
    ),
    Row(
        number="T20",
        what="20 keys typed before each question of the command line and each dialog, and 20 in its first half second",
        mark="no confirmation",
        least=20,
        check="tests.cli.typing_ahead:run",
        count=1,
        quick=1,
        minutes=1.0,
    ),
    Row(
        number="T17",
        what="set, trial, keep, undo, recover, kill, reboot, a disk that vanishes or is exchanged, another's hand and "
        "clocks that jump, in any order, beside a model that says what must come out",
        mark="50,000 steps: the value is the one wanted last, or a conflict is on record",
        least=50_000,
        check="tests.engine.change.machine:run",
        count=50_000,
        quick=100,
        minutes=5,
    ),
    Row(
        number="A3",
        what="loop devices over a mounted device, over a mounted image and an offset of it, over an image that a "
        "program has open (under another name too), over an active swap file, over a deleted file",
        mark="none is written to",
        least=8,
        tests=(
            f"{GUARD}test_a_loop_device_over_a_mounted_device_is_refused",
            f"{GUARD}test_a_second_loop_device_over_a_mounted_image_is_refused",
            f"{GUARD}test_an_image_that_a_program_holds_open_is_not_written_through_its_loop_device",
            f"{GUARD}test_an_image_known_by_another_name_is_the_same_image",
            f"{GUARD}test_a_loop_device_over_an_active_swap_file_is_refused",
            f"{GUARD}test_a_loop_device_whose_file_was_deleted_counts_as_in_use",
            f"{GUARD}test_what_lies_beneath_is_held_with_it",
        ),
        lab=("tests/lab/test_guard.py",),
    ),
    Row(
        number="A4",
        what="a device that is held by a thread alone, its program's first thread having ended",
        mark="it is not written to",
        least=1,
        tests=(f"{GUARD}test_a_device_held_by_a_thread_whose_program_ended_its_first_is_refused",),
    ),
    Row(
        number="A9",
        what="programs and links of others along the path of a program that root is to run",
        mark="none of them is run",
        least=15,
        tests=("tests/backends/test_programs.py",),
    ),
)
