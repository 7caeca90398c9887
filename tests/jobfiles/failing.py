"""Job files that raidbench misunderstands today, and whose work mends each."""

from __future__ import annotations

from collections.abc import Mapping

FAILING: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("both-globals-direct-last", "both-globals-buffered-last", "both-mixes-global", "both-mixes-reversed"),
            *("both-block-sizes-global", "both-patterns-global", "both-times-global", "both-io-sizes-global"),
            *("blockalign-over-ba", "global-with-a-tail", "global-with-a-word", "global-in-capitals"),
            *("blanks-around-numbers", "blanks-around-a-word", "capital-word", "bool-without-value", "bool-in-words"),
            *("bool-true", "only-globals", "suffix-kb", "suffix-kib", "suffix-fraction", "block-fraction"),
            *("count-with-k", "time-ms", "runtime-zero", "thinktime-zero", "zeros-everywhere", "size-ends-the-job"),
            *("size-and-runtime", "size-and-time-based-off", "runtime-alone", "whole-target", "size-percent"),
            *("number-above-size", "loops", "loops-and-number", "loops-zero", "offset", "offset-without-size"),
            *("offset-percent", "offset-alias", "offset-random", "filesize", "clones-in-order"),
            *("clones-in-order-direct", "clones-with-increment", "clones-reported-together", "ramp-with-amount"),
            *("blocks-by-direction-read", "blocks-by-direction-write", "block-range-of-one", "block-split-blank"),
            *("zones-with-a-blank", "rate-of-writes-only", "rate-of-reads-only", "rate-of-both"),
            *("rate-mixed-by-share", "rate-with-k", "rate-of-bytes-one-side", "rate-of-bytes-both"),
            *("rate-of-bytes-mib", "rate-of-the-other-side", "rate-of-writes-of-reads", "rate-of-trims-only"),
            *("rate-of-a-split", "fsync-each", "fsync-queued", "end-fsync", "no-invalidate", "batches"),
            *("pause-of-completions", "filename_format-other", "randseed-default", "io_size-other"),
            *("offset_increment-other", "number_ios-default", "random_generator-other", "fsync-default"),
            *("fdatasync-default", "overwrite-other", "loops-other", "ramp_time-other", "thinktime-default"),
            *("rate-default", "rate_iops-default", "rate_iops-other", "invalidate-other", "create_serialize-other"),
            *("create_on_open-other", "end_fsync-other", "disk_util-other"),
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
            *("clones-beside-one", "ends-with-the-first", "starts-later", "exitall-other"),
        ),
        "sections",
    ),
}
"""Names of cases, by the part of the work that makes them agree; empty when all of it is done."""
