"""The names of fio's options: those of the installed fio, or of all versions up to 3.42 if none was queried."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends.values import dataclass

_NAMES = """
    allow_file_create allow_mounted_write allrandrepeat apptag apptag_mask atomic ba block_error_percentiles
    blockalign blocksize blocksize_range blocksize_unaligned bs bs_unaligned bsrange bssplit
    buffer_compress_chunk buffer_compress_percentage buffer_pattern buffered bwavgtime cgroup cgroup_nodelete
    cgroup_weight clat_percentiles clocksource cmd_type cmdprio cmdprio_bssplit cmdprio_class cmdprio_hint
    cmdprio_percentage continue_on_error cpumask cpus_allowed cpus_allowed_policy create_fsync create_on_open
    create_only create_serialize dataplacement dedupe_global dedupe_mode dedupe_percentage
    dedupe_working_set_percentage description direct directory disable_bw disable_bw_measurement disable_clat
    disable_lat disable_slat disk_util do_verify dp_scheme end_fsync error_dump exec_postrun exec_prerun
    exit_what exitall exitall_on_error experimental_verify fadvise_hint fallocate fdatasync fdp fdp_pli
    fdp_pli_select file_append file_service_type filename filename_format fileoffset filesize fill_device
    fill_fs fixedbufs flow flow_id flow_sleep force_async fsync fsync_on_close gid group_reporting gtod_cpu
    gtod_reduce hipri hipri_percentage hugepage-size ignore_error ignore_zone_limits invalidate io_limit io_size
    io_submit_mode iodepth iodepth_batch iodepth_batch_complete iodepth_batch_complete_max
    iodepth_batch_complete_min iodepth_batch_submit iodepth_low ioengine iomem iomem_align iopsavgtime
    ioscheduler job_max_open_zones kb_base lat_percentiles latency_percentile latency_run latency_target
    latency_window libaio_vectored lockfile lockmem log_alternate_epoch log_alternate_epoch_clock_id
    log_avg_msec log_compression log_compression_cpus log_entries log_hist_coarseness log_hist_msec
    log_issue_time log_max_value log_offset log_prio log_store_compressed log_unix_epoch log_window_value loops
    max_latency max_open_zones md_per_io_size mem merge_blktrace_file merge_blktrace_iters
    merge_blktrace_scalars name new_group nice nonvectored norandommap nowait nr_files nrfiles num_range
    numa_cpu_nodes numa_mem_policy number_ios numjobs offset offset_align offset_increment opendir openfiles
    overwrite per_job_logs percentage_random percentile_list pi_act pi_chk plid_select plids pre_read prio
    prioclass priohint profile ramp_size ramp_time random_distribution random_generator randrepeat randseed rate
    rate_cycle rate_ignore_thinktime rate_iops rate_iops_min rate_min rate_process ratecycle ratemin
    read_beyond_wp read_iolog read_iolog_chunked read_mode readfua readwrite refill_buffers registerfiles
    replay_align replay_no_stall replay_redirect replay_scale replay_skip replay_time_scale runtime rw
    rw_sequencer rwmixread rwmixwrite scramble_buffers serialize_overlap significant_figures size
    slat_percentiles spr_num_regions spr_op sprandom sqthread_poll sqthread_poll_cpu ss ss_dur ss_ramp
    startdelay stats steadystate steadystate_duration steadystate_ramp_time stonewall sync sync_file_range
    thinkcycles thinktime thinktime_blocks thinktime_blocks_type thinktime_iotime thinktime_spin thread
    time_based timeout trim_backlog trim_backlog_batch trim_percentage trim_verify_zero uid uncached
    unified_rw_reporting unique_filename unit_base unlink unlink_each_loop userspace_reap verify verify_async
    verify_async_cpus verify_backlog verify_backlog_batch verify_dump verify_fatal verify_header_seed
    verify_interval verify_mode verify_offset verify_only verify_pattern verify_state_load verify_state_save
    verify_write_sequence wait_for wait_for_previous write_barrier write_bw_log write_hint write_hist_log
    write_iolog write_iops_log write_lat_log write_mode writefua zero_buffers zone_reset_frequency
    zone_reset_threshold zonecapacity zonemode zonerange zonesize zoneskip
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionTable:
    """The options that a version of fio knows."""

    version: str
    """Name of that version in a sentence: `fio-3.33`."""
    names: frozenset[str]
    """All names and aliases of the options."""
    installed: bool = False
    """Whether an installed fio listed these names."""

    def lacks(self, name: str) -> bool:
        """Return whether this version of fio refuses an option with that name."""
        return name not in self.names


SHIPPED = OptionTable(version="fio up to 3.42", names=frozenset(_NAMES.split()))
"""The options of all versions of fio 3 up to 3.42."""


def listed_names(helps: Iterable[str]) -> frozenset[str]:
    """Return the option names in the output of `--cmdhelp=all` and `--enghelp=ENGINE`."""
    return frozenset(re.findall(r"^ *([a-z][a-z0-9_-]*) *: ", "\n".join(helps), re.MULTILINE))


def option_names(content: str | bytes) -> frozenset[str]:
    """Return the names before `=` in a job file."""
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    lines = (re.split("[;#]", line, maxsplit=1)[0].strip() for line in content.splitlines())
    return frozenset(line.partition("=")[0].strip() for line in lines if line and not line.startswith("["))
