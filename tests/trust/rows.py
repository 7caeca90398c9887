"""Every row, in the order of the table."""

from __future__ import annotations

from tests.trust.row import Row

GUARD = "tests/backends/test_guard.py::"
HELD = "tests/backends/test_held_look.py::test_"
JOURNAL = "tests/core/session/test_journal.py::test_"
SCRATCH = "tests/core/benchmark/test_scratch.py::test_"
CHANGER = "tests/core/changes/test_changer.py::test_"
TRIALS = "tests/core/changes/test_trials.py::test_"
FORGED = "tests/core/changes/test_forged_logs.py"
HOLD = "tests/core/changes/test_trials_hold.py::test_"
LOCAL = "tests/backends/system/test_local.py::test_"
MDRAID = "tests/backends/mdraid/test_changing.py::"
READING = "tests/backends/mdraid/test_reading.py::test_"
STORCLI = "tests/backends/megaraid/test_storcli_verdict.py::test_"
SUMMARY = "tests/core/fio/test_summary.py::test_"
ROOM = "tests/backends/topology/test_thin_capacity.py::test_"
SCREENS = "tests/journeys/test_terminals.py::test_"

ROWS: tuple[Row, ...] = (
    Row(
        number="T1",
        what="answers of the kernel and of every tool, parsed by 46 parsers after they were truncated, spliced, "
        "doubled, shuffled, given flipped bits, odd numbers, banners, other encodings or deep nesting",
        mark="10,000 for each parser: no exception, none over 1 s, no value that the answer does not contain",
        least=460_000,
        check="tests.trust.parsers:run",
        count=10_000,
        quick=4,
        minutes=8,
    ),
    Row(
        number="T2",
        what="set, trial, bench, ab and sweep, killed at random moments",
        mark="300: no fio keeps running; every changed value and every remaining scratch file is named and "
        "restored or removed",
        least=300,
        check="tests.cli.kills:run",
        count=300,
        quick=0,
        minutes=7,
    ),
    Row(
        number="T3",
        what="loss of the terminal during a trial",
        mark="200: reverted within a second of the deadline",
        least=200,
        check="tests.core.changes.lost_terminals:run",
        count=200,
        quick=0,
        minutes=6,
    ),
    Row(
        number="T4",
        what="a journal truncated at every byte and then continued; random bits of it flipped",
        mark="1,000 flips and every byte: every complete record is kept, no damaged record is believed",
        least=1000,
        check="tests.core.session.journal_faults:run",
        count=1000,
        quick=20,
        minutes=0.5,
    ),
    Row(
        number="T5",
        what="27 states of loop devices (mounted here or elsewhere, next to and below partitions, swap, open, "
        "claimed, above and below other loop devices, array member, unconfirmed content ...) with "
        "exclusive open, bench, precondition and ab; simulated machines with LVM, md, btrfs, ZFS, exports "
        "and second paths",
        mark="20 states or more: no device is written to, and no byte of it changes",
        least=135,
        check="tests.backends.guard_states:run_states",
        count=27,
        quick=1,
        tests=(
            "tests/backends/topology/test_topology.py",
            "tests/backends/test_twins.py",
            "tests/cli/test_on_loops.py::test_a_write_to_the_disk_of_the_system_is_refused_whatever_is_confirmed",
            "tests/core/benchmark/test_measurer.py::TestDevice::test_a_disk_that_is_not_blank_is_not_trimmed_without_its_name",
        ),
        lab=("tests/lab/test_guard.py", "tests/lab/test_layers.py"),
        minutes=2,
    ),
    Row(
        number="T6",
        what="10,000 strings that look like markup, formulas, links or escapes, in every report format; hostile "
        "names on every screen; the output to a terminal",
        mark="none is treated as anything but text, an action or a control character",
        least=20,
        tests=(
            "tests/features/report/test_hostile.py",
            f"{SCREENS}hostile_names_are_only_text_on_every_screen",
            f"{SCREENS}only_known_sequences_reach_the_terminal",
            f"{SCREENS}a_path_that_steers_the_terminal_is_shown_as_text",
            "tests/backends/test_text.py",
        ),
        minutes=2,
    ),
    Row(
        number="T7",
        what="a run whose program is killed, loses its reader, is frozen or ends",
        mark="400: no fio two seconds later",
        least=400,
        check="tests.core.fio.cut_runs:run",
        count=400,
        quick=0,
        minutes=6,
    ),
    Row(
        number="T8",
        what="two processes that request one lock at the same moment",
        mark="50 pairs: one gets the lock, the other names the holder",
        least=50,
        check="tests.core.session.lock_races:run",
        count=50,
        quick=3,
    ),
    Row(
        number="T9",
        what="a different loop device under the same name between the plan and the run",
        mark="100 of 100 refused, no byte written",
        least=110,
        check="tests.backends.exchanged:run_swaps",
        count=100,
        quick=1,
        tests=(
            f"{HELD}what_changed_by_the_time_it_is_held_is_not_written",
            f"{HELD}what_was_chosen_is_compared_before_anything_is_opened",
            "tests/backends/test_block_plans.py::test_another_device_under_the_name_is_never_written",
        ),
        lab=("tests/lab/test_swaps.py", "tests/lab/test_faults.py"),
        minutes=1,
    ),
    Row(
        number="T10",
        what="tools with wrong results: nothing set, a different value set, an unreadable value, a delayed "
        "effect, a value that reverts automatically, an error although the value is set, success with a "
        "failed row, a failed row among good ones, a controller that acts after storcli gave up, another "
        "program's change during a trial",
        mark="each is reported correctly, and reverted or left as a conflict",
        least=20,
        tests=(
            f"{CHANGER}a_set_that_says_yes_and_does_something_else_differs",
            f"{CHANGER}a_value_that_cannot_be_read_back_is_a_failure",
            f"{CHANGER}a_tool_that_complains_and_did_it_all_the_same_is_a_failure_that_can_be_undone",
            f"{CHANGER}undo_of_what_is_already_back_writes_nothing",
            f"{CHANGER}what_comes_only_after_it_was_read_back_can_be_taken_back",
            "tests/core/changes/test_late_card.py",
            "tests/cli/test_change.py::test_what_a_card_did_after_its_tool_had_given_up_is_taken_back_when_named",
            f"{STORCLI}exit_0_with_a_failed_row_is_a_failure_in_the_tools_words",
            f"{STORCLI}one_failed_row_among_good_ones_is_a_failure",
            f"{STORCLI}a_row_of_success_is_success_whatever_the_exit_status",
            f"{TRIALS}the_watchdog_never_touches_somebody_elses_value",
            "tests/core/changes/test_keeping_trials.py",
            "tests/cli/test_trial.py::test_what_went_back_by_itself_is_not_called_kept",
        ),
        lab=("tests/lab/test_lying.py",),
    ),
    Row(
        number="T11",
        what="tools that hang, flood, ask, die of a signal, print no text, are missing, cannot be executed or "
        "could be replaced by any user; a screen during a slow tool",
        mark="ended at the time limit, memory below the limits, no program that any user may write to is run, "
        "the screen keeps responding",
        least=14,
        tests=(
            f"{LOCAL}a_read_that_hangs_is_a_timeout",
            f"{LOCAL}a_timeout_ends_grandchildren_too",
            f"{LOCAL}a_program_deaf_to_polite_signals_ends_at_its_timeout",
            f"{LOCAL}a_flood_is_cut_at_the_limit",
            f"{LOCAL}a_flood_does_not_grow_our_memory_by_more_than_the_limits",
            f"{LOCAL}a_flood_of_a_change_is_cut_and_the_change_goes_on",
            f"{LOCAL}standard_input_is_at_its_end",
            f"{LOCAL}death_by_a_signal_is_a_negative_status",
            f"{LOCAL}bytes_that_are_no_text_are_replaced",
            f"{LOCAL}an_absent_program_is_missing",
            f"{LOCAL}a_file_that_may_not_be_executed_is_a_failure",
            f"{LOCAL}an_endless_error_line_is_cut",
            "tests/backends/system/test_programs.py::TestRoot::test_takes_none_that_anybody_may_overwrite",
            "tests/journeys/test_settings.py::test_nobody_waits_for_a_backend_that_thinks",
        ),
        minutes=0.5,
    ),
    Row(
        number="T12",
        what="plans of random values for set, trials and ab with --dry-run; every opened file and every program "
        "is recorded",
        mark="100 plans: nothing below /dev or /sys is opened for writing, no command of a plan is run",
        least=100,
        check="tests.cli.dry_runs:run",
        count=100,
        quick=0,
        minutes=2,
    ),
    Row(
        number="T13",
        what="terminals of one cell, terminals that change their size, stop and continue, have no colours, no "
        "cursor or no UTF-8; a closed or full standard output, a reader that leaves; an exception on a "
        "screen",
        mark="no traceback, the terminal is restored",
        least=14,
        tests=(
            f"{SCREENS}a_tiny_terminal_is_no_reason_to_fail",
            f"{SCREENS}a_run_survives_any_size",
            f"{SCREENS}a_dialog_survives_any_size",
            f"{SCREENS}a_resize_is_followed",
            f"{SCREENS}stopped_with_ctrl_z_and_continued_it_draws_again",
            f"{SCREENS}a_terminal_that_cannot_move_its_cursor_is_told_in_a_sentence",
            f"{SCREENS}on_a_console_only_ascii_reaches_the_terminal",
            f"{SCREENS}where_the_locale_is_c_only_ascii_reaches_the_terminal",
            "tests/journeys/test_crashes.py::test_after_an_exception_the_terminal_is_as_it_was",
            "tests/cli/test_odds.py::test_a_closed_standard_output_is_no_crash",
            "tests/cli/test_odds.py::test_a_full_standard_output_is_said",
            "tests/cli/test_odds.py::test_a_reader_that_leaves_is_no_error",
        ),
        minutes=2,
    ),
    Row(
        number="T14",
        what="a journal on a full, read-only or missing filesystem, behind a link, or below a file",
        mark="refused every time before anything is set",
        least=14,
        check="tests.cli.no_journal:run_all",
        count=10,
        quick=1,
        tests=(
            f"{JOURNAL}a_new_journal_is_on_disk_with_its_name_before_anything_is_changed",
            f"{JOURNAL}every_later_record_is_on_disk_too",
            f"{JOURNAL}a_record_that_does_not_reach_the_disk_is_an_error",
        ),
        minutes=0.5,
    ),
    Row(
        number="T15",
        what="the wall clock set forward and back by a day, or back by a year, during a trial",
        mark="reverted at its deadline by the boot clock, within a second",
        least=20,
        check="tests.core.changes.clock_jumps:run",
        count=20,
        quick=2,
        tests=("tests/core/changes/test_clock_set_back.py",),
    ),
    Row(
        number="T16",
        what="scratch files with colons, blanks, stars, quotes, line breaks, dashes and escapes in their names, "
        "written by fio",
        mark="100 names: no other file is created or written",
        least=100,
        check="tests.core.benchmark.odd_names:run",
        count=100,
        quick=2,
        minutes=1,
    ),
    Row(
        number="T17",
        what="set, trial, keep, undo, recover, kill, reboot, a disk that vanishes or is replaced, changes by "
        "other programs and clocks that jump, in any order, compared with a model of the expected result",
        mark="50,000 steps: the value is the last requested one, or a conflict is recorded",
        least=50_000,
        check="tests.core.changes.machine:run",
        count=50_000,
        quick=100,
        minutes=5,
    ),
    Row(
        number="T18",
        what="output of fio that refused with exit 0, was killed, had an I/O error, did no I/O, wrote half a "
        "document, or text before it",
        mark="all of them failed, none of them a result",
        least=20,
        tests=(
            "tests/core/fio/test_samples.py::test_a_known_end_has_its_verdict",
            f"{SUMMARY}a_refusal_that_exits_with_0_is_a_failure_with_a_sentence",
            f"{SUMMARY}no_io_at_all_is_never_a_result_of_zero_iops",
            f"{SUMMARY}an_error_number_is_said_in_words",
            f"{SUMMARY}without_a_document_fios_own_words_are_the_reason",
            f"{SUMMARY}a_death_by_signal_is_said",
            f"{SUMMARY}a_run_that_ended_early_without_a_word_is_a_failure",
            "tests/core/fio/test_load.py::test_a_broken_document_costs_no_run",
        ),
    ),
    Row(
        number="T19",
        what="requests to the root helper: malformed, unknown, out of order",
        mark="10,000: none accepted, no exception",
        least=10_000,
        check="tests.privsep.forbidden:refuses",
        count=10_000,
        quick=50,
        minutes=1,
    ),
    Row(
        number="T20",
        what="20 keys typed before each question of the command line and each dialog about a risk, and 20 in its first"
        " half second",
        mark="no confirmation",
        least=20,
        check="tests.cli.typing_ahead:run",
        count=1,
        quick=0,
        minutes=1.0,
    ),
    Row(
        number="A1",
        what="one disk under two names: mounted, open, claimed, or its partition in use by the other path; with "
        "exclusive opens and locks, and in the inventory",
        mark="not written to; locked and shown as one disk",
        least=20,
        tests=("tests/backends/test_twins.py", "tests/backends/test_paths.py", "tests/core/changes/test_two_paths.py"),
        lab=("tests/lab/test_layers.py",),
    ),
    Row(
        number="A2",
        what="links created in place of a scratch file, before and during a run, also by another user",
        mark="only the scratch file is written",
        least=8,
        tests=(
            "tests/cli/test_scratch_attacked.py",
            f"{SCRATCH}a_writing_job_refuses_a_foreign_file_behind_a_link",
            f"{SCRATCH}a_link_of_our_name_is_left_alone",
            f"{SCRATCH}a_link_made_by_somebody_since_the_plan_is_not_followed",
            f"{SCRATCH}a_link_that_took_our_name_during_the_run_is_neither_followed_nor_removed",
            f"{SCRATCH}a_folder_exchanged_for_a_link_since_the_plan_is_not_entered",
            f"{SCRATCH}our_file_replaced_by_somebody_since_the_plan_is_refused",
        ),
        lab=("tests/lab/test_scratch.py",),
    ),
    Row(
        number="A3",
        what="loop devices over a mounted device, over a mounted image and an offset of it, over an image that "
        "a program has open (also under another name), over an active swap file, over a deleted file",
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
        what="a device that only a thread has open, after the first thread of its program ended",
        mark="it is not written to",
        least=1,
        tests=(f"{GUARD}test_a_device_held_by_a_thread_whose_program_ended_its_first_is_refused",),
    ),
    Row(
        number="A5",
        what="an array that would be re-created while it, or a volume on it, is in use, or on other members "
        "than planned",
        mark="it is not touched",
        least=3,
        tests=(
            f"{MDRAID}TestMadeAnew::test_it_is_refused_while_in_use",
            f"{MDRAID}TestMadeAnew::test_other_members_than_planned_stop_it_before_anything_is_done",
        ),
        lab=("tests/lab/test_guard.py",),
    ),
    Row(
        number="A6",
        what="content created on a device between the question and its answer",
        mark="the answer does not confirm it",
        least=3,
        tests=(
            f"{GUARD}test_what_was_made_on_it_after_the_question_is_not_covered_by_the_answer",
            f"{HELD}what_changed_by_the_time_it_is_held_is_not_written",
            f"{HELD}what_lies_on_it_only_now_is_not_covered_by_the_word_that_was_typed",
            f"{HELD}a_tool_that_destroys_is_let_at_what_stayed_the_same_alone",
            "tests/backends/test_twins.py::test_a_run_is_refused_where_something_came_that_was_not_shown",
            "tests/features/sweep/test_runner.py::test_what_lies_on_the_device_since_it_was_confirmed_is_not_destroyed",
        ),
    ),
    Row(
        number="A7",
        what="a kept scratch file that was copied, renamed, written to or given a second name",
        mark="it counts as a user's file: not written to, not removed",
        least=5,
        tests=(
            f"{SCRATCH}a_copy_of_our_file_is_somebody_elses",
            f"{SCRATCH}our_file_under_another_name_is_somebody_elses",
            f"{SCRATCH}our_kept_file_that_somebody_wrote_to_is_his",
            f"{SCRATCH}our_kept_file_that_somebody_wrote_to_in_place_is_his",
            f"{SCRATCH}our_file_with_a_second_name_is_not_written_to",
        ),
        lab=("tests/lab/test_scratch.py",),
    ),
    Row(
        number="A8",
        what="raidbench killed while a slow tool is still setting a value; then recover, keep, undo, set and "
        "the end of a trial",
        mark="no command reports a restored value before the tool has ended, and afterwards the value is the "
        "reported one",
        least=10,
        tests=("tests/cli/test_slow_setter.py",),
        minutes=2,
    ),
    Row(
        number="A9",
        what="programs and links of other users along the path of a program that root is to run; another user's "
        "folder first in PATH while devices are listed, set and benchmarked",
        mark="none of them is run",
        least=20,
        tests=("tests/backends/system/test_programs.py", "tests/cli/test_strangers_programs.py"),
        minutes=0.5,
    ),
    Row(
        number="A10",
        what="scratch files and folders that remain after a kill in a run, or between two runs of an experiment "
        "or a sweep",
        mark="recover finds these, and nothing else",
        least=8,
        tests=(
            "tests/core/benchmark/test_leftovers.py",
            "tests/cli/test_recover.py::test_a_scratch_file_that_was_left_is_removed",
            "tests/cli/test_recover.py::test_a_file_without_our_mark_is_not_removed",
            "tests/backends/system/test_working_folders.py",
        ),
    ),
    Row(
        number="A11",
        what="questions on the command line: keys typed before them, the devices that they name, the "
        "confirmation token",
        mark="model, serial number and size are named; nothing typed before the question counts",
        least=8,
        tests=("tests/cli/test_typed_ahead.py", "tests/backends/test_nameplate.py"),
        minutes=0.5,
    ),
    Row(
        number="A12",
        what="files of a session under an umask that grants all users read and write access",
        mark="none of them is open to other users",
        least=3,
        tests=("tests/cli/test_private_files.py",),
        minutes=0.5,
    ),
    Row(
        number="A13",
        what="sudo raidbench: the session belongs to the user, and root runs no installation of the user",
        mark="no file of root remains in the user's home, no program of the user is run as root",
        least=4,
        tests=("tests/privsep/test_split.py", "tests/core/session/test_paths.py"),
        minutes=1,
    ),
    Row(
        number="A14",
        what="a second trial, and other changes, on targets that share a controller or a disk with an undecided trial",
        mark="they wait for it or are refused",
        least=5,
        tests=(
            f"{TRIALS}another_change_of_a_device_on_trial_is_refused",
            f"{TRIALS}another_setting_under_the_same_lock_waits_for_the_trial",
            f"{TRIALS}one_controller_has_one_trial_at_a_time",
            f"{TRIALS}controllers_have_their_trials_apart",
            "tests/cli/test_exit_status.py",
        ),
    ),
    Row(
        number="A15",
        what="an interrupted creation of an array; a reshape during which a check began; an array whose bitmap "
        "is in a file",
        mark="members that still contain the array are assembled, never re-created; the check is not "
        "interrupted, the bitmap not lost",
        least=8,
        tests=(
            f"{MDRAID}TestMadeAnew::test_members_that_still_hold_it_are_assembled_first",
            f"{MDRAID}TestMadeAnew::test_members_that_hold_something_else_are_not",
            f"{MDRAID}TestMadeAnew::test_members_of_another_array_are_not",
            f"{MDRAID}TestReshape::test_what_began_since_it_was_planned_is_not_broken_off",
            f"{READING}a_bitmap_in_a_file_is_told_with_the_file",
            f"{READING}a_bitmap_in_a_file_is_not_changed_since_no_way_back_would_bring_its_file",
            f"{READING}nothing_is_planned_that_would_lose_the_file_of_a_bitmap",
        ),
        lab=("tests/lab/test_reshape.py",),
    ),
    Row(
        number="A16",
        what="job files with line ends of every system, and options hidden behind them",
        mark="options that name a target, run a program or are unknown are refused",
        least=30,
        tests=("tests/core/fio/test_jobfile.py",),
    ),
    Row(
        number="A17",
        what="a trial whose program is upgraded or removed before its deadline",
        mark="it is reverted nevertheless",
        least=2,
        tests=(
            "tests/test_forms.py::test_a_trial_comes_back_though_the_program_was_removed_meanwhile",
            f"{TRIALS}when_the_deadline_comes_nothing_is_read_from_where_the_program_lay",
        ),
        minutes=1,
    ),
    Row(
        number="A18",
        what="session logs and journals with forged steps, paths, programs, risks, locks, members and "
        "companions, of every vendor, reverted by undo, trial, recover, sweeps and the root helper",
        mark="no step of a log is run; a step that differs from the backend's own plan is refused, and both are shown",
        least=60,
        tests=(
            FORGED,
            "tests/backends/test_ways_back.py",
            "tests/backends/listed/test_backends.py",
            "tests/privsep/test_changes.py::test_a_change_with_anything_else_in_it_is_refused",
        ),
    ),
    Row(
        number="A19",
        what="two device-mapper targets over the same part of a device (linear, crypt, striped, mirror, unknown "
        "kinds; complete and partial; through further layers), one of them mounted or open; tables that "
        "are truncated or not reported; a different table during a run",
        mark="the other target is refused and both are named; a run ends if its table leads elsewhere",
        least=30,
        tests=("tests/backends/topology/test_device_mapper.py", "tests/core/benchmark/test_footing_watch.py"),
        lab=("tests/lab/test_layers.py",),
    ),
    Row(
        number="A20",
        what="a device that a program outside has open, written from within another pid or user namespace, or "
        "without CAP_SYS_PTRACE; programs that hide their open files; settings and scratch files there",
        mark="no byte of a device is written and the reason is named; everything else works",
        least=20,
        tests=("tests/backends/topology/test_visibility.py",),
        minutes=0.5,
    ),
    Row(
        number="A21",
        what="loop devices whose path is covered by a decoy, that were set up in another mount namespace, whose "
        "file is on an overlay, in a layer of one, on FUSE, 9p or the network; facts that losetup does not "
        "report; a swap file inside, a claim in a socket",
        mark="all refused, no byte of the files below them changes",
        least=20,
        tests=(
            "tests/backends/topology/test_loop_backing.py",
            f"{GUARD}test_a_swap_file_inside_is_named_beside_the_mount",
            f"{GUARD}test_a_swap_file_inside_what_was_unmounted_lazily_still_uses_it",
            f"{GUARD}test_a_claim_that_is_under_way_in_a_socket_is_refused",
            f"{GUARD}test_another_name_that_came_just_before_it_was_held_is_not_left_out_of_the_hold",
            "tests/backends/test_beneath.py::test_a_disk_that_a_zram_writes_back_to_is_refused_with_what_gives_it_back",
        ),
        minutes=0.5,
    ),
    Row(
        number="A22",
        what="two names with one serial number and size, whatever product they report: in use, locked, open; "
        "UUIDs that are equal, different, changed meanwhile, or on one of them only",
        mark="each counts as in use by the other, both are named and share a lock, unless different UUIDs on "
        "both prove that they are two disks",
        least=30,
        tests=("tests/backends/test_possibly_one.py",),
    ),
    Row(
        number="A23",
        what="a filesystem re-created with the same kind, label and size between the question and the confirmation",
        mark="refused, no byte of it is written",
        least=2,
        tests=(
            f"{GUARD}test_a_filesystem_made_anew_after_the_question_is_not_the_one_that_was_confirmed",
            "tests/backends/test_guard_verdict.py::test_of_what_lies_there_the_uuid_is_told_so_that_another_in_its_place_is_not"
            "_covered_by_the_answer",
        ),
    ),
    Row(
        number="A24",
        what="loop devices, zram, device-mapper, md and bcache over a disk without an identity, through several "
        "layers (network block devices themselves: not tried)",
        mark="refused, and the disk without an identity is named",
        least=6,
        tests=(
            "tests/backends/test_beneath.py::test_what_lies_on_a_disk_without_an_identity_has_none_either",
            "tests/backends/test_beneath.py::test_through_any_number_of_layers",
            "tests/backends/test_beneath.py::test_what_lies_on_a_disk_with_an_identity_is_not_refused_for_that",
        ),
    ),
    Row(
        number="A25",
        what="a log, journal or lock that is a device, FIFO, socket, folder, link or second name, or another "
        "user's; folders that other users may write to",
        mark="not written, not waited for, no file created in it, and reported",
        least=20,
        tests=("tests/core/session/test_own_file.py",),
    ),
    Row(
        number="A26",
        what="a state folder that becomes read-only, full or fails every write in the middle of a trial, for a "
        "while and for an hour; a real folder with a real watchdog, and one whose disk no longer responds "
        "(dm-error)",
        mark="the value is restored at the deadline, is set once, and is reported as soon as the folder can be written",
        least=6,
        tests=(
            f"{HOLD}the_value_comes_back_though_nothing_can_be_recorded_and_is_recorded_when_it_can",
            f"{HOLD}a_disk_that_takes_nothing_for_an_hour_ends_the_tries_and_not_the_value",
            f"{HOLD}a_real_watchdog_puts_back_what_it_can_tell_nobody",
            f"{HOLD}a_real_watchdog_puts_back_though_the_disk_of_its_state_folder_has_died",
        ),
        minutes=0.5,
    ),
    Row(
        number="A27",
        what="a user of the root helper who ends another user's trial, or has re-created an array that this "
        "user's change deleted",
        mark="refused and still on trial; every terminal of the trial's own user, and root, may decide it",
        least=6,
        tests=("tests/privsep/test_whose.py",),
    ),
    Row(
        number="A28",
        what="a user of the root helper who tries to read content that is mounted, in use or the system's: "
        "through its disk, its partitions, devices over it, jobs that write or name files; by a "
        "configuration that other users wrote; files of /sys; fio that outlives its client",
        mark="no descriptor is passed, fio has no privileges and no other file, and ends with its reader",
        least=60,
        tests=(
            "tests/privsep/test_reads_of_what_is_in_use.py",
            "tests/privsep/test_reading.py::test_no_other_file_is_read_than_the_mounts_of_process_1",
            "tests/privsep/test_sudo.py::test_a_user_measures_what_is_mounted",
            "tests/privsep/test_sudo.py::test_no_fio_is_left_of_a_run_that_was_ended",
            "tests/privsep/test_sudo.py::test_the_program_that_reads_what_is_mounted_is_not_the_users",
        ),
        minutes=1,
    ),
    Row(
        number="A29",
        what="root with two state folders: a trial in one, changes from the other, also through the helper; a "
        "list of journals that is damaged, forged or cannot be written",
        mark="one lock and one trial at a time, whatever the environment contains",
        least=11,
        tests=(
            f"{HOLD}what_is_on_trial_elsewhere_is_not_changed_from_here",
            f"{HOLD}a_trial_that_others_cannot_see_does_not_begin",
            f"{HOLD}a_list_of_journals_that_is_spoiled_keeps_nobody_from_seeing_the_rest",
            f"{HOLD}what_somebody_else_wrote_of_journals_is_not_followed",
            f"{HOLD}the_locks_of_root_lie_in_one_place_whatever_its_environment_says",
            "tests/privsep/test_whose.py::test_a_trial_in_another_journal_of_root_stands_in_the_way",
        ),
    ),
    Row(
        number="A30",
        what="a journal, or its folder, that vanishes during a trial; files that the helper is asked to read; "
        "names of locks that lead elsewhere",
        mark="reverted, unless it was kept before; no other file is read, no lock is created elsewhere",
        least=10,
        tests=(
            f"{HOLD}a_journal_that_vanished_keeps_nothing",
            f"{HOLD}what_was_kept_stays_kept_when_the_journal_vanishes_after_it",
            "tests/privsep/test_reading.py::test_no_other_file_is_read_than_the_mounts_of_process_1",
            "tests/core/session/test_locks.py::test_a_lock_of_any_name_lies_in_its_folder",
        ),
    ),
    Row(
        number="A31",
        what="a sweep during which a value or its undo is refused, the volume vanishes, the state folder cannot "
        "be written (full, read-only, failing), or a run ends unexpectedly",
        mark="it ends or continues with the rest, names every value that is not restored, and restores all others",
        least=7,
        tests=("tests/features/sweep/test_faults.py",),
    ),
    Row(
        number="A32",
        what="a disk that the machine exports to itself (NVMe over TCP and by loop, LIO by its loopback and "
        "iSCSI, SCST, a USB gadget) from a disk, partition, file or memory that is mounted, open or free; "
        "and the reverse",
        mark="refused with the user of the data named, and no descriptor of it is passed on",
        least=60,
        tests=("tests/backends/topology/test_exports.py", "tests/privsep/test_lending.py"),
        lab=("tests/lab/test_exports.py",),
    ),
    Row(
        number="A33",
        what="a disk, partition, volume or image with the UUID of a mounted device, of swap or of a device "
        "below an open volume: local, remote (iSCSI, Fibre Channel, SRP, NVMe over fabrics), without a "
        "number, in another file, in memory",
        mark="refused with both named, or proven to be a copy and named as a copy in the question",
        least=40,
        tests=("tests/backends/topology/test_clones.py",),
        lab=("tests/lab/test_exports.py",),
    ),
    Row(
        number="A34",
        what="a program that has a character device of a disk open: sg, bsg, an NVMe namespace or controller, "
        "by one path or several, a raw device",
        mark="the disk is refused with the program named, another disk is not",
        least=10,
        tests=("tests/backends/test_characters.py",),
        lab=("tests/lab/test_exports.py",),
    ),
    Row(
        number="A35",
        what="a target, logical volume, array or multipath device of which a partition, loop device, program or "
        "export uses the same sectors of a disk below; adjacent sectors",
        mark="refused with the user named; sectors that the kernel's tables prove to be separate are not",
        least=60,
        tests=("tests/backends/topology/test_ranges.py", "tests/backends/test_beneath.py"),
        lab=("tests/lab/test_beneath.py",),
    ),
    Row(
        number="A36",
        what="a trial on a loop device with only the packages of `make run`; a watchdog that cannot load a "
        "module, find its trial, write the journal or set the device",
        mark="the value is restored at the deadline; no trial begins before its watchdog is ready, and doctor "
        "reports the reason",
        least=20,
        tests=(
            "tests/test_runtime_packages.py",
            "tests/core/changes/test_watchdog_begins.py",
            "tests/features/doctor/test_doctor_on_trials.py",
        ),
        minutes=1,
    ),
    Row(
        number="A37",
        what="settings that the kernel resets when another one is written: set alone and together, by a trial, "
        "persist, sweep, ab and the helper, killed in between; and another program that sets them at the "
        "same time",
        mark="the requested value is effective, other changed values are reported and restored, the other "
        "program's value is kept",
        least=80,
        tests=(
            "tests/backends/test_side_effects.py",
            "tests/core/changes/test_side_effects.py",
            "tests/core/changes/test_side_effects_on_disks.py",
            "tests/features/sweep/test_changed_settings.py",
            "tests/cli/test_side_effects_on_loops.py",
        ),
        lab=("tests/lab/test_effects.py",),
        minutes=1,
    ),
    Row(
        number="A38",
        what="scratch files that remain after a kill or that a run kept, then looped, mounted, used as swap, "
        "exported, open or mapped, formatted, resized, overwritten, given to another user; tables, "
        "members, snapshots, loop devices and mounts that change during a run; dmsetup that is slow, "
        "silent, broken or missing",
        mark="no such file is written or removed, and its user is named; the run ends, at the latest after 15 s "
        "without an answer, and reports why",
        least=100,
        tests=(
            f"{SCRATCH}an_interrupted_file_of_another_size_than_planned_is_somebodys",
            f"{SCRATCH}an_interrupted_file_that_somebody_copied_another_into_is_his",
            f"{SCRATCH}a_mark_that_says_another_file_makes_it_somebodys",
            f"{SCRATCH}a_file_can_be_used_again_with_more_and_with_less",
            "tests/core/benchmark/test_scratch_use.py",
            "tests/core/benchmark/test_footing_watch.py",
            "tests/backends/system/test_mapper.py",
            "tests/cli/test_scratch_in_use.py",
        ),
        lab=("tests/lab/test_changing_tables.py",),
        minutes=1,
    ),
    Row(
        number="A39",
        what="files of other authors that are rewritten: odd bytes and lines, links, hard links, other kinds, "
        "changed meanwhile, full disk, immutable; input files that are pipes, devices, sockets, endless or "
        "contain absurd numbers; outputs onto links; every command with `--read-only`",
        mark="every byte, owner, mode and attribute of others is kept, or the change is refused at once with a "
        "sentence; nothing else is written or removed",
        least=320,
        tests=(
            "tests/backends/system/test_file_replacement.py",
            "tests/backends/test_rule_lines.py",
            "tests/backends/test_input_file.py",
            "tests/cli/test_hostile_files.py",
            "tests/cli/test_output_places.py",
            "tests/cli/test_read_only.py",
        ),
        minutes=2,
    ),
    Row(
        number="A40",
        what="a user of the root helper who tries to take over another user's trial: its session and id again, "
        "before and after its end, in other spellings, by every outcome, its lock, its watchdog, at the "
        "same moment; and a link that is replaced between the check of a path and its use, by every "
        "request with a path",
        mark="refused and not believed, the value is restored at the deadline; the opened file is the checked one",
        least=90,
        tests=(
            "tests/privsep/test_owners.py",
            "tests/privsep/test_stolen_trials.py",
            "tests/privsep/test_whose.py",
            "tests/privsep/test_nodes.py",
            "tests/privsep/test_changes.py::test_an_id_that_another_user_gave_in_this_session_is_passed_over",
        ),
        minutes=1,
    ),
    Row(
        number="A41",
        what="sessions, open changes, baselines and locks of simulators and recordings together with those of "
        "the machine: by the commands that use the last one, completion, and as root",
        mark="no command for the machine reports or uses a simulated session, and no simulator uses another one's",
        least=30,
        tests=(
            "tests/cli/test_simulation_apart.py",
            "tests/cli/test_completion.py::test_one_rack_is_not_taken_for_another_nor_for_this_machine",
            "tests/core/session/test_paths.py",
        ),
        minutes=1,
    ),
    Row(
        number="A42",
        what="a serial number, WWN, UUID, address, name and label of every kind in every field, text and file "
        "of a session, in many spellings, in every redacted output",
        mark="none is found, in any spelling; values, models and sizes are kept",
        least=60,
        tests=("tests/cli/test_secrets.py", "tests/cli/test_redact.py", "tests/backends/test_redaction.py"),
        minutes=1,
    ),
    Row(
        number="A43",
        what="answers of tools about the wrong object, appended to the right answer, with a block or a row "
        "twice, with rows below another heading: on simulated machines, and by each parser",
        mark="300 wrong answers: no false value is believed, the refusal names both objects",
        least=380,
        check="tests.backends.answers_of_others:run",
        count=300,
        quick=12,
        tests=(
            "tests/backends/test_answers_of_others.py",
            "tests/backends/test_other_objects.py",
            "tests/backends/megaraid/test_named.py",
        ),
        minutes=3,
    ),
    Row(
        number="A44",
        what="trials begun by an earlier start, another terminal or another user: kept, restored and decided "
        "elsewhere while the workbench is open, several at once, by keys typed too early, by users who may "
        "not decide",
        mark="every screen shows the trial, its deadline and the keys, or who may decide it; the header follows "
        "the decision",
        least=12,
        tests=("tests/tui/test_trials_of_earlier_starts.py", "tests/core/changes/test_undecided.py"),
        minutes=1,
    ),
    Row(
        number="A45",
        what="an array of drives that contain signatures of other arrays, or copies of superblocks alone, or "
        "that fail, vanish or have I/O errors meanwhile; raidbench killed in a creation or a deletion",
        mark="refused, or named in the question with the confirmation token; recover names an incomplete array "
        "and deletes only its parts",
        least=140,
        tests=(
            "tests/backends/topology/test_leftovers.py",
            "tests/backends/test_free_drives.py",
            "tests/backends/mdraid/test_made.py",
            "tests/core/changes/arrays/test_made_here.py",
            "tests/features/arrays/test_array_building.py",
            "tests/features/arrays/test_controller_arrays.py",
        ),
        lab=("tests/lab/test_building.py", "tests/lab/test_volumes.py", "tests/lab/test_making.py"),
        minutes=2,
    ),
    Row(
        number="A46",
        what="users that the kernel shows in none of its usual lists: an external journal, the log or realtime "
        "device of XFS, the bitmap file of an array, an image mounted without a loop device; overlapping "
        "partitions; maps of a path, zram, bcache and btrfs above and below each other",
        mark="refused with the user named; free devices are not refused",
        least=15,
        tests=("tests/backends/topology/test_quiet_users.py",),
        lab=("tests/lab/test_odd_users.py",),
    ),
    Row(
        number="A47",
        what="frames to the root helper through the real sudo: random, mutated, truncated, deep, huge, in "
        "pieces, out of order, many at once, with descriptors, under signals; connections that end in the "
        "middle",
        mark="5,000 frames: each is carried out or refused with a reason, the helper ends, and nothing else was "
        "started or written",
        least=5_000,
        check="tests.privsep.fuzzing:run",
        count=5_000,
        quick=150,
        minutes=3,
    ),
    Row(
        number="A48",
        what="a wall clock set forward and back by an hour and by years during a trial, between sessions, "
        "during an experiment and between runs, and at 1970 after a reboot; a state folder that is full, "
        "without inodes, read-only, without permissions, locks or extended attributes, with a failing "
        "fsync, unreachable, unreadable, with an odd name",
        mark="the deadline is met and the order is that of the log; the setting has its journal and is undone, "
        "or is not set and the folder and the next step are named",
        least=70,
        tests=("tests/core/session/test_set_clocks.py", "tests/cli/test_state_folders.py"),
    ),
    Row(
        number="A49",
        what="hosts of a joint run whose results contradict themselves (histograms, totals, rates, times), are "
        "repeated, belong to another run, or arrive after their lease",
        mark="each is left out of the sum and named with the reason, the others count",
        least=50,
        tests=("tests/features/fleet/multihost/test_lies.py",),
        minutes=1,
    ),
    Row(
        number="A50",
        what="the disk below a DRBD device, by sysfs or by drbdsetup; the disks and inner devices of a Stratis "
        "pool, with and without a filesystem; a DRBD device whose disk is not reported, or only half of "
        "drbdsetup's answer",
        mark="each is refused, and the device built on it is named; the DRBD device and the filesystem are not refused",
        least=20,
        tests=("tests/backends/test_drbd.py", "tests/backends/test_stratis.py"),
    ),
    Row(
        number="A51",
        what="a journal with an open change and an open trial, a journal of arrays with an open array, sessions with "
        "an interrupted sweep or A/B, all of a build before 0.2.0; records whose fields are not known",
        mark="nothing acts on them and nothing is changed; file, device and old value are named",
        least=30,
        tests=("tests/test_unreleased.py",),
    ),
    Row(
        number="L1",
        what="the origin of an active snapshot, LVM's or created manually, itself and through volumes on it; "
        "the snapshot and its hidden parts",
        mark="the origin is refused and its snapshots are named; a snapshot is written as far as its store has space",
        least=8,
        tests=(
            f"{ROOM}what_a_snapshot_was_taken_of_is_refused_and_the_snapshot_named",
            f"{ROOM}what_is_built_on_the_origin_of_a_snapshot_is_refused_too",
            f"{ROOM}a_snapshot_made_without_lvm_makes_its_origin_refused",
            f"{ROOM}the_hidden_parts_of_a_snapshot_are_refused",
            f"{ROOM}a_snapshot_is_written_as_far_as_its_store_reaches",
            f"{ROOM}a_snapshot_that_has_died_is_refused",
        ),
        lab=("tests/lab/test_thin.py",),
    ),
    Row(
        number="L2",
        what="thin volumes, VDO, sparse ZFS volumes, loop devices on files with holes, scratch files above "
        "them: by bench, precondition, ab, sweep, several targets and the helper; free space that other "
        "programs use during a run",
        mark="a write that does not leave a tenth free, or whose space is unknown, is refused and nothing is "
        "written; a run ends at that point",
        least=30,
        tests=(
            "tests/backends/topology/test_thin_capacity.py",
            "tests/core/benchmark/test_dwindling.py",
            "tests/cli/test_on_loops.py::test_no_way_to_write_fills_the_file_system_beneath_a_sparse_file",
            "tests/privsep/test_helper.py::test_a_device_whose_file_does_not_fit_is_lent_to_nobody",
        ),
        lab=("tests/lab/test_thin.py",),
        minutes=1,
    ),
)
