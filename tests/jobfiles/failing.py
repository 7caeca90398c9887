"""Job files that raidbench misunderstands today, and whose work mends each."""

from __future__ import annotations

from collections.abc import Mapping

FAILING: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("both-globals-direct-last", "both-globals-buffered-last", "both-mixes-global", "both-mixes-reversed"),
            *("both-block-sizes-global", "both-patterns-global", "both-times-global", "both-io-sizes-global"),
            *("blockalign-over-ba", "global-with-a-tail", "global-with-a-word", "global-in-capitals"),
            *("blank-side-keeps-the-globals-rate", "blanks-around-numbers", "blanks-around-a-word", "capital-word"),
            *("bool-without-value", "bool-in-words", "bool-true", "suffix-kb", "suffix-fraction", "block-fraction"),
            *("count-with-k", "time-ms", "runtime-zero", "thinktime-zero", "zeros-everywhere", "size-ends-the-job"),
            *("size-and-runtime", "size-and-time-based-off", "runtime-alone", "time-based-without-runtime"),
            *("whole-target", "size-percent", "number-above-size", "loops", "loops-and-number", "loops-zero"),
            *("offset", "offset-without-size", "offset-percent", "offset-alias", "offset-random", "filesize"),
            *("filesize-and-size", "clones-in-order", "clones-in-order-direct", "clones-with-increment"),
            *("clones-reported-together", "ramp-with-amount", "increment-without-size", "flag-in-words"),
            *("filesize-zero", "blocks-by-direction-read", "blocks-by-direction-write", "block-range-of-one"),
            *("block-split-blank", "zones-with-a-blank", "rate-of-writes-only", "rate-of-reads-only", "rate-of-both"),
            *("rate-mixed-by-share", "rate-with-k", "rate-of-bytes-one-side", "rate-of-bytes-both"),
            *("rate-of-bytes-mib", "rate-of-the-other-side", "rate-of-writes-of-reads", "rate-of-trims-only"),
            *("rate-of-a-split", "fsync-each", "fsync-queued", "end-fsync", "no-invalidate", "batches"),
            *("pause-of-completions", "filename_format-other", "randseed-default", "size-default", "size-other"),
            *("filesize-other", "offset_increment-other", "number_ios-default", "random_generator-other"),
            *("fsync-default", "fdatasync-default", "overwrite-other", "loops-default", "loops-other"),
            *("ramp_time-default", "ramp_time-other", "thinktime-default", "rate-default", "rate_iops-default"),
            *("rate_iops-other", "invalidate-other", "create_serialize-other", "create_on_open-other"),
            *("end_fsync-other", "disk_util-other", "drawn-1-15", "drawn-1-32", "drawn-1-37", "drawn-1-39"),
            *("drawn-1-56", "drawn-1-59", "drawn-1-71", "drawn-1-80", "drawn-1-100", "drawn-1-108", "drawn-1-115"),
            *("drawn-1-148", "drawn-1-150", "drawn-1-152", "drawn-1-166", "drawn-1-169", "drawn-1-177"),
            *("drawn-1-193", "drawn-1-194", "drawn-1-198", "drawn-1-209", "drawn-1-221", "drawn-1-230"),
            *("drawn-1-254", "drawn-1-263", "drawn-1-269", "drawn-1-275", "drawn-1-283", "drawn-1-287"),
        ),
        "options",
    ),
    **dict.fromkeys(
        (
            *("blocks-of-trims-only", "trim", "trim-at-random", "sync-one", "sync-zero", "sync-word", "sync-direct"),
            *("compressible", "deduplicable", "both-kinds-of-data", "uring-polled-queue", "uring-fixed"),
            *("percentiles", "percentiles-off", "sync-default", "sync-other", "refill_buffers-other"),
            *("scramble_buffers-other", "buffer_compress_percentage-default", "buffer_compress_percentage-other"),
            *("dedupe_percentage-default", "dedupe_percentage-other", "clat_percentiles-other"),
            *("slat_percentiles-other", "percentile_list-other"),
        ),
        "loads",
    ),
    **dict.fromkeys(
        (
            *("global-between-jobs", "reader-beside-writer", "one-after-the-other", "wall-in-globals"),
            *("wall-by-alias", "groups-of-their-own", "three-with-two-phases", "same-name-twice"),
            *("clones-beside-one", "ends-with-the-first", "starts-later"),
        ),
        "sections",
    ),
}
"""Names of cases, by the part of the work that makes them agree; empty when all of it is done."""
