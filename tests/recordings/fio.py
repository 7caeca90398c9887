"""What 20 versions of fio said, under every accident that could be arranged."""

from __future__ import annotations

from pathlib import Path

from app.core.fio.sampler import Sampler
from app.core.session.results import RunStatus
from tests.core.fio import test_samples as streams
from tests.recordings import checks

ENDS = {
    "01_normal_file_randread": (RunStatus.OK, ""),
    "02_mixed_randrw": (RunStatus.OK, ""),
    "04_multijob_group": (RunStatus.OK, ""),
    "10_sigint": (RunStatus.STOPPED, "Stopped"),
    "12_sigkill": (RunStatus.FAILED, "SIGKILL"),
    "17_sigint_in_rampt": (RunStatus.STOPPED, "Stopped"),
    "18_sigint_before_start": (RunStatus.FAILED, "interrupt"),
    "30_ro_device_write": (RunStatus.FAILED, "EPERM"),
    "34_permission_denied": (RunStatus.FAILED, "EACCES"),
    "37_bad_ioengine": (RunStatus.FAILED, "engine"),
    "38_no_jobs": (RunStatus.FAILED, "no job"),
    "39_no_size": (RunStatus.FAILED, "does not know the size"),
    "40_enospc_file": (RunStatus.FAILED, "ENOSPC"),
    "42b_eio_continue_flood": (RunStatus.FAILED, "EIO"),
    "43_eio_read_truncated_backing": (RunStatus.FAILED, "EIO"),
    "44_eio_multijob_one_fails": (RunStatus.FAILED, "EIO"),
    "46_eio_midrun": (RunStatus.FAILED, "EIO"),
    "49b_bad_option_jobfile": (RunStatus.FAILED, "option"),
    "50_aio_limit": (RunStatus.FAILED, "limit"),
    "51_iouring_eperm": (RunStatus.FAILED, "not permitted"),
    "52_iouring_enosys": (RunStatus.FAILED, "no io_uring"),
    "52e_bs_not_aligned": (RunStatus.FAILED, "direct I/O"),
    "53_stall_fsfreeze": (RunStatus.OK, ""),
    "54_stall_sigint": (RunStatus.STOPPED, "Stopped"),
    "60_ver_2.1.10": (RunStatus.OK, ""),
    "60_ver_2.16": (RunStatus.OK, ""),
    "60_ver_3.1": (RunStatus.OK, ""),
    "60_ver_3.42": (RunStatus.OK, ""),
    "73_idleprof": (RunStatus.FAILED, "memory fault"),
    "76b_gtod_reduce": (RunStatus.OK, ""),
    "81b_minimal": (RunStatus.FAILED, "without a result"),
    "93_group_one_fails": (RunStatus.FAILED, "EIO"),
}
"""How some of them ended, and a word of the reason."""


@checks("fio/*.stdout")
def streams_are_read_to_the_last_byte(path: Path) -> None:
    streams.test_every_document_is_found_however_the_bytes_were_cut(path)
    streams.test_no_complete_document_is_lost(path)


@checks("fio/*.stdout")
def figures_are_fios_own(path: Path) -> None:
    streams.test_every_bucket_maps_to_itself(path)
    streams.test_percentiles_from_the_buckets_are_fios_own(path)
    streams.test_samples_are_sane(path)


@checks("fio/*.stdout")
def ends_have_their_verdict(path: Path) -> None:
    if not path.with_suffix(".rc").exists():
        return
    figures = streams.verdict(path)
    status, word = ENDS.get(path.stem, (figures.status, ""))
    assert figures.status is status
    assert word in (figures.reason or "")


@checks("fio/53_stall_fsfreeze.stdout", "fio/55_worker_sigstop.stdout")
def one_interval_of_a_stalled_run_is_marked(path: Path) -> None:
    machine = Sampler(ramp=False, planned_s=6 if "fsfreeze" in path.stem else 5)
    found = [sample for each in streams.documents(streams.whole(path)) if (sample := machine.add_document(each))]
    assert [sample.stalled for sample in found].count(True) == 1
