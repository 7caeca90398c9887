"""The job files that fio and raidbench must understand alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.jobfiles import options


@dataclass(frozen=True, slots=True)
class Case:
    """A job file."""

    name: str
    text: str
    runs: bool = False
    """Whether both jobs are also run and their I/Os counted: each must end by an amount within a second or two."""
    must_run: bool = False
    """Whether raidbench has to run it: a refusal would be wrong."""


_OWN: Mapping[str, str] = {
    # -- globals and sections ------------------------------------------------------------------------------------------
    "direct-over-buffered": "[global]\nbuffered=1\n[job]\ndirect=1\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "buffered-over-direct": "[global]\ndirect=1\n[job]\nbuffered=1\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "both-globals-direct-last": (
        "[global]\nbuffered=1\ndirect=1\n[job]\nbuffered=1\nrw=randread\nnumber_ios=30\nruntime=9\n"
    ),
    "both-globals-buffered-last": (
        "[global]\ndirect=1\nbuffered=1\n[job]\ndirect=1\nrw=randread\nnumber_ios=30\nruntime=9\n"
    ),
    "mixwrite-over-mixread": (
        "[global]\nrwmixread=100\n[job]\nrwmixwrite=60\nrw=randrw\nbs=4k\nnumber_ios=200\nruntime=9\n"
    ),
    "mixread-over-mixwrite": (
        "[global]\nrwmixwrite=100\n[job]\nrwmixread=60\nrw=randrw\nbs=4k\nnumber_ios=200\nruntime=9\n"
    ),
    "both-mixes-global": (
        "[global]\nrwmixread=10\nrwmixwrite=0\n[job]\nrwmixread=70\nrw=randrw\nnumber_ios=200\nruntime=9\n"
    ),
    "both-mixes-reversed": (
        "[global]\nrwmixwrite=0\nrwmixread=100\n[job]\nrwmixwrite=70\nrw=randrw\nnumber_ios=200\nruntime=9\n"
    ),
    "both-mixes-one-section": "[job]\nrw=randrw\nrwmixread=90\nrwmixwrite=70\nnumber_ios=200\nruntime=9\n",
    "blocksize-over-bs": "[global]\nbs=16k\n[job]\nblocksize=8k\nrw=read\nsize=1m\nnumber_ios=30\nruntime=9\n",
    "bs-over-blocksize": "[global]\nblocksize=16k\n[job]\nbs=8k\nrw=read\nsize=1m\nnumber_ios=30\nruntime=9\n",
    "both-block-sizes-global": (
        "[global]\nbs=16k\nblocksize=32k\n[job]\nbs=8k\nrw=read\nsize=1m\nnumber_ios=30\nruntime=9\n"
    ),
    "readwrite-over-rw": "[global]\nrw=randwrite\n[job]\nreadwrite=read\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "both-patterns-global": (
        "[global]\nrw=randwrite\nreadwrite=write\n[job]\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n"
    ),
    "timeout-over-runtime": "[global]\nruntime=8\n[job]\ntimeout=5\nrw=randread\nbs=4k\nnumber_ios=30\n",
    "both-times-global": "[global]\nruntime=8\ntimeout=7\n[job]\nruntime=5\nrw=randread\nbs=4k\nnumber_ios=30\n",
    "io-limit-over-io-size": "[global]\nio_size=1m\n[job]\nio_limit=128k\nrw=randread\nbs=4k\nsize=2m\nruntime=9\n",
    "both-io-sizes-global": (
        "[global]\nio_size=1m\nio_limit=2m\n[job]\nio_size=128k\nrw=randread\nbs=4k\nsize=4m\nruntime=9\n"
    ),
    "blockalign-over-ba": (
        "[global]\nba=4k\nblockalign=16k\n[job]\nba=8k\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n"
    ),
    "global-with-a-tail": "[globalX]\nrw=randwrite\nbs=8k\n[job]\nrw=randread\nnumber_ios=30\nruntime=9\n",
    "global-with-a-word": "[global defaults]\nbs=8k\n[job]\nrw=randread\nnumber_ios=30\nruntime=9\n",
    "global-in-capitals": "[GLOBAL]\nbs=8k\n[job]\nrw=randread\nnumber_ios=30\nruntime=9\n",
    "global-after-a-job": ("[one]\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n[global]\nbs=16k\n"),
    "global-between-jobs": ("[global]\nrw=randread\nnumber_ios=30\nruntime=9\n[one]\nbs=4k\n[global]\nbs=16k\n[two]\n"),
    "two-globals": "[global]\nbs=4k\n[global]\nbs=8k\niodepth=2\n[job]\nrw=randread\nnumber_ios=30\nruntime=9\n",
    "flag-undone-by-a-section": (
        "[global]\nnorandommap\n[job]\nnorandommap=0\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n"
    ),
    "same-key-twice": "[job]\nrw=randwrite\nbs=16k\nbs=8k\nrw=randread\nnumber_ios=30\nnumber_ios=20\nruntime=9\n",
    "both-spellings-in-a-section": (
        "[job]\nrw=randread\nbs=16k\nblocksize=8k\nreadwrite=randwrite\nnumber_ios=30\nruntime=9\n"
    ),
    "blank-side-keeps-the-globals-rate": (
        "[global]\nrate_iops=700,800\n[job]\nrate_iops=,600\nrw=randrw\nnumber_ios=60\nruntime=9\n"
    ),
    "blank-side-keeps-the-globals-blocks": (
        "[global]\nbs=16k,32k\n[job]\nbs=,8k\nrw=randread\nnumber_ios=30\nruntime=9\n"
    ),
    # -- the shape of a file -------------------------------------------------------------------------------------------
    "comments": (
        "; of a night\n# and a day\n[job] ; here\nrw=randread ; random\nbs=4k # small\nnumber_ios=30\nruntime=9\n"
    ),
    "blanks-around-numbers": "[job]\nrw=randread\nbs= 8k\nnumber_ios =30\nruntime = 9\n",
    "blanks-around-a-word": "[job]\nrw = randread\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "tabs-before-options": "[job]\n\trw=randread\n\tbs=4k\n\tnumber_ios=30\n\truntime=9\n",
    "windows-line-ends": "[job]\r\nrw=randread\r\nbs=4k\r\nnumber_ios=30\r\nruntime=9\r\n",
    "no-line-end": "[job]\nrw=randread\nbs=4k\nruntime=9\nnumber_ios=30",
    "section-with-blanks": "[ a job ]\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "quoted-number": '[job]\nrw=randread\nbs="4k"\nnumber_ios=30\nruntime=9\n',
    "quoted-word": '[job]\nrw="randread"\nbs=4k\nnumber_ios=30\nruntime=9\n',
    "quoted-description": '[job]\ndescription="a; b"\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n',
    "capital-word": "[job]\nrw=RANDREAD\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "capital-option": "[job]\nrw=randread\nBS=8k\nnumber_ios=30\nruntime=9\n",
    "flag-without-value": "[job]\nrw=randread\nnorandommap\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "bool-without-value": "[job]\nrw=randread\ndirect\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "bool-in-words": "[job]\nrw=randread\ndirect=yes\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "bool-true": "[job]\nrw=randread\ninvalidate=true\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "bool-two": "[job]\nrw=randread\ndirect=2\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "empty-value": "[job]\nrw=randread\nbs=\nnumber_ios=30\nruntime=9\n",
    "unknown-option": "[job]\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\nspeed=fast\n",
    "unknown-engine": "[job]\nrw=randread\nioengine=warp\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "abbreviated-option": "[job]\nrw=randread\nnumjob=2\nbs=4k\nnumber_ios=30\nruntime=9\n",
    "option-before-sections": "bs=8k\n[job]\nrw=randread\nnumber_ios=30\nruntime=9\n",
    "only-globals": "[global]\nrw=randread\nbs=4k\n",
    "empty-section": "[global]\nrw=randread\nbs=4k\nnumber_ios=30\nruntime=9\n[job]\n",
    # -- numbers and units ---------------------------------------------------------------------------------------------
    "suffix-kb": "[job]\nrw=read\nbs=4kb\nsize=256kb\nruntime=9\n",
    "suffix-kib": "[job]\nrw=read\nbs=4kib\nsize=256KiB\nruntime=9\n",
    "suffix-capitals": "[job]\nrw=read\nbs=4K\nsize=1M\nnumber_ios=40\nruntime=9\n",
    "suffix-fraction": "[job]\nrw=read\nbs=4k\nsize=1.5m\nnumber_ios=40\nruntime=9\n",
    "block-fraction": "[job]\nrw=read\nbs=4.5k\nsize=1m\nnumber_ios=40\nruntime=9\n",
    "suffix-b": "[job]\nrw=read\nbs=4096b\nsize=1m\nnumber_ios=40\nruntime=9\n",
    "hexadecimal": "[job]\nrw=read\nbs=0x1000\nsize=0x100000\nnumber_ios=0x28\nruntime=9\n",
    "octal": "[job]\nrw=read\nbs=4k\nsize=1m\nnumber_ios=040\nruntime=9\n",
    "product": "[job]\nrw=read\nbs=4*1024\nsize=1m\nnumber_ios=40\nruntime=9\n",
    "sum-in-brackets": "[job]\nrw=read\nbs=(2k+2k)\nsize=1m\nnumber_ios=40\nruntime=9\n",
    "count-with-k": "[job]\nrw=randread\nbs=512\nsize=1m\nnumber_ios=1k\nruntime=9\n",
    "depth-with-k": "[job]\nrw=randread\nbs=4k\nioengine=libaio\niodepth=1k\nnumber_ios=40\nruntime=9\n",
    "time-ms": "[job]\nrw=randread\nbs=4k\nnumber_ios=40\nruntime=9500ms\n",
    "time-us": "[job]\nrw=randread\nbs=4k\nnumber_ios=40\nruntime=9000000us\n",
    "time-minutes": "[job]\nrw=randread\nbs=4k\nnumber_ios=40\nruntime=2m\n",
    "time-hours": "[job]\nrw=randread\nbs=4k\nnumber_ios=40\nruntime=1h\n",
    "time-fraction": "[job]\nrw=randread\nbs=4k\nnumber_ios=40\nruntime=1.5\n",
    "time-capital-m": "[job]\nrw=randread\nbs=4k\nnumber_ios=40\nruntime=2M\n",
    "runtime-zero": "[job]\nrw=read\nbs=4k\nsize=128k\nruntime=0\n",
    "thinktime-bare": "[job]\nrw=randread\nbs=4k\nthinktime=300\nnumber_ios=40\nruntime=9\n",
    "thinktime-zero": "[job]\nrw=randread\nbs=4k\nthinktime=0\nnumber_ios=40\nruntime=9\n",
    "thinktime-blocks-without": "[job]\nrw=randread\nbs=4k\nthinktime_blocks=4\nnumber_ios=40\nruntime=9\n",
    "zeros-everywhere": (
        "[job]\nrw=randwrite\nbs=4k\nfsync=0\nfdatasync=0\nrate=0\nrate_iops=0\nio_size=0\nramp_time=0\n"
        "startdelay=0\nthinktime=0\nnumber_ios=40\nruntime=9\n"
    ),
    # -- where and how much --------------------------------------------------------------------------------------------
    "size-ends-the-job": "[job]\nrw=read\nbs=4k\nsize=256k\n",
    "size-and-runtime": "[job]\nrw=randread\nbs=4k\nsize=256k\nruntime=20\n",
    "size-and-time-based-off": "[job]\nrw=randread\nbs=4k\nsize=256k\nruntime=20\ntime_based=0\n",
    "runtime-alone": "[job]\nrw=read\nbs=64k\nruntime=20\n",
    "time-based": "[job]\nrw=randread\nbs=4k\nsize=256k\ntime_based\nruntime=2\n",
    "time-based-without-runtime": "[job]\nrw=randread\nbs=4k\nsize=256k\ntime_based\n",
    "time-based-with-number": "[job]\nrw=randread\nbs=4k\nsize=1m\ntime_based\nruntime=20\nnumber_ios=50\n",
    "time-based-with-io-size": "[job]\nrw=randread\nbs=4k\nsize=1m\ntime_based\nruntime=1\nio_size=64k\n",
    "whole-target": "[job]\nrw=read\nbs=256k\n",
    "size-percent": "[job]\nrw=read\nbs=64k\nsize=25%\nruntime=9\n",
    "size-percent-io-size": "[job]\nrw=randread\nbs=64k\nsize=50%\nio_size=1m\nruntime=9\n",
    "size-hundred-percent": "[job]\nrw=randread\nbs=64k\nsize=100%\nnumber_ios=40\nruntime=9\n",
    "io-size-percent": "[job]\nrw=randread\nbs=64k\nsize=4m\nio_size=50%\nruntime=9\n",
    "io-size-above-size": "[job]\nrw=read\nbs=4k\nsize=64k\nio_size=256k\nruntime=9\n",
    "io-size-below-size": "[job]\nrw=write\nbs=4k\nsize=256k\nio_size=64k\nruntime=9\n",
    "io-size-and-number": "[job]\nrw=read\nbs=4k\nsize=1m\nio_size=64k\nnumber_ios=40\nruntime=9\n",
    "io-size-and-fewer": "[job]\nrw=read\nbs=4k\nsize=1m\nio_size=256k\nnumber_ios=40\nruntime=9\n",
    "number-above-size": "[job]\nrw=read\nbs=4k\nsize=64k\nnumber_ios=40\nruntime=9\n",
    "loops": "[job]\nrw=read\nbs=4k\nsize=128k\nloops=3\n",
    "loops-and-number": "[job]\nrw=read\nbs=4k\nsize=128k\nloops=3\nnumber_ios=50\nruntime=9\n",
    "loops-zero": "[job]\nrw=read\nbs=4k\nsize=128k\nloops=0\nruntime=9\n",
    "offset": "[job]\nrw=read\nbs=4k\noffset=1m\nsize=256k\nruntime=9\n",
    "offset-without-size": "[job]\nrw=read\nbs=64k\noffset=6m\nruntime=9\n",
    "offset-percent": "[job]\nrw=read\nbs=64k\noffset=50%\nsize=1m\nruntime=9\n",
    "offset-alias": "[job]\nrw=read\nbs=64k\nfileoffset=2m\nsize=1m\nruntime=9\n",
    "offset-random": "[job]\nrw=randread\nbs=4k\noffset=4m\nsize=1m\nnumber_ios=60\nruntime=9\n",
    "filesize": "[job]\nrw=randread\nbs=4k\nfilesize=1m\nnumber_ios=60\nruntime=9\n",
    "filesize-and-size": "[job]\nrw=randread\nbs=4k\nfilesize=2m\nsize=1m\nnumber_ios=60\nruntime=9\n",
    "clones-in-order": "[job]\nrw=read\nbs=16k\nsize=1m\nnumjobs=3\n",
    "clones-in-order-direct": "[job]\nrw=write\nbs=16k\nsize=1m\nnumjobs=2\ndirect=1\nruntime=9\n",
    "clones-with-increment": "[job]\nrw=read\nbs=16k\nsize=1m\nnumjobs=3\noffset_increment=1m\nruntime=9\n",
    "clones-at-random": "[job]\nrw=randread\nbs=4k\nsize=1m\nnumjobs=3\nnumber_ios=40\nruntime=9\n",
    "clones-reported-together": "[job]\nrw=read\nbs=16k\nsize=512k\nnumjobs=2\ngroup_reporting\n",
    "increment-percent": "[job]\nrw=read\nbs=16k\nsize=1m\nnumjobs=2\noffset_increment=25%\nruntime=9\n",
    "ramp-with-amount": "[job]\nrw=randread\nbs=4k\nsize=256k\nramp_time=1\nruntime=9\n",
    "filesize-and-offset": "[job]\nrw=read\nbs=4k\nfilesize=2m\noffset=1m\nruntime=9\n",
    "increment-without-size": "[job]\nrw=read\nbs=64k\nnumjobs=2\noffset_increment=2m\nruntime=9\n",
    "engine-sync": "[job]\nrw=randread\nbs=4k\nioengine=sync\nnumber_ios=40\nruntime=9\n",
    "flag-in-words": "[job]\nrw=randread\nbs=4k\nnorandommap=no\nnumber_ios=40\nruntime=9\n",
    "filesize-zero": "[job]\nrw=randread\nbs=4k\nfilesize=0\nnumber_ios=40\nruntime=9\n",
    # -- blocks --------------------------------------------------------------------------------------------------------
    "blocks-by-direction": "[job]\nrw=randrw\nbs=4k,8k\nnumber_ios=100\nruntime=9\n",
    "blocks-by-direction-read": "[job]\nrw=randread\nbs=4k,8k\nnumber_ios=50\nruntime=9\n",
    "blocks-by-direction-write": "[job]\nrw=randwrite\nbs=4k,8k\nnumber_ios=50\nruntime=9\n",
    "blocks-of-writes-only": "[job]\nrw=randwrite\nbs=,8k\nnumber_ios=50\nruntime=9\n",
    "blocks-of-trims-only": "[job]\nrw=randread\nbs=8k,,64k\nnumber_ios=50\nruntime=9\n",
    "block-range": "[job]\nrw=randread\nbsrange=4k-16k\nnumber_ios=100\nruntime=9\n",
    "block-range-of-one": "[job]\nrw=randread\nbsrange=8k-8k\nnumber_ios=50\nruntime=9\n",
    "block-range-and-bs": "[job]\nrw=randread\nbsrange=8k-8k\nbs=4k\nnumber_ios=50\nruntime=9\n",
    "block-range-by-direction": "[job]\nrw=randwrite\nbsrange=4k-8k,16k-16k\nnumber_ios=50\nruntime=9\n",
    "block-split": "[job]\nrw=randread\nbssplit=4k/50:8k/50\nnumber_ios=200\nruntime=9\n",
    "block-split-blank": "[job]\nrw=randread\nbssplit=4k/70:8k/:16k/\nnumber_ios=200\nruntime=9\n",
    "block-split-all-blank": "[job]\nrw=randread\nbssplit=4k/:8k/\nnumber_ios=200\nruntime=9\n",
    "block-split-without-slash": "[job]\nrw=randread\nbssplit=4k:8k\nnumber_ios=200\nruntime=9\n",
    "block-split-short-of-all": "[job]\nrw=randread\nbssplit=4k/30:8k/50\nnumber_ios=200\nruntime=9\n",
    "block-split-by-direction": "[job]\nrw=randread\nbssplit=4k/50:8k/50,16k/100\nnumber_ios=200\nruntime=9\n",
    "block-split-beside-bs": "[job]\nrw=randread\nbs=64k\nbssplit=4k/100\nnumber_ios=50\nruntime=9\n",
    "block-split-over-bs": "[global]\nbssplit=4k/50:8k/50\n[job]\nrw=randread\nbs=16k\nnumber_ios=50\nruntime=9\n",
    "uneven-block": "[job]\nrw=randread\nbs=5000\nnumber_ios=50\nruntime=9\n",
    # -- patterns ------------------------------------------------------------------------------------------------------
    "backwards": "[job]\nrw=read:-8k\nbs=4k\nsize=1m\nnumber_ios=30\nruntime=9\n",
    "with-holes": "[job]\nrw=write:4k\nbs=4k\nsize=1m\nnumber_ios=30\nruntime=9\n",
    "offsets-in-eights": "[job]\nrw=randread:8\nbs=4k\nsize=1m\nnumber_ios=64\nruntime=9\n",
    "sequential-mix": "[job]\nrw=rw\nbs=4k\nsize=1m\nnumber_ios=100\nruntime=9\n",
    "mix-by-alias": "[job]\nreadwrite=readwrite\nbs=4k\nsize=1m\nrwmixread=75\nnumber_ios=100\nruntime=9\n",
    "mix-of-reads-alone": "[job]\nrw=randrw\nbs=4k\nrwmixread=100\nnumber_ios=100\nruntime=9\n",
    "zipf": "[job]\nrw=randread\nbs=4k\nrandom_distribution=zipf:1.1\nnumber_ios=100\nruntime=9\n",
    "zipf-bare": "[job]\nrw=randread\nbs=4k\nrandom_distribution=zipf\nnumber_ios=100\nruntime=9\n",
    "zipf-with-centre": "[job]\nrw=randread\nbs=4k\nrandom_distribution=zipf:1.1/0.5\nnumber_ios=100\nruntime=9\n",
    "zones-with-a-blank": (
        "[job]\nrw=randread\nbs=4k\nrandom_distribution=zoned:60/10:30/20:10/\nnumber_ios=100\nruntime=9\n"
    ),
    "zones-by-direction": (
        "[job]\nrw=randread\nbs=4k\nrandom_distribution=zoned:60/10:40/90,50/50:50/50\nnumber_ios=100\nruntime=9\n"
    ),
    "zones-absolute": (
        "[job]\nrw=randread\nbs=4k\nrandom_distribution=zoned_abs:60/1m:40/7m\nnumber_ios=100\nruntime=9\n"
    ),
    "distribution-in-order": "[job]\nrw=read\nbs=4k\nrandom_distribution=zipf:1.1\nnumber_ios=40\nruntime=9\n",
    "share-at-random": "[job]\nrw=randread\nbs=4k\npercentage_random=40\nnumber_ios=100\nruntime=9\n",
    "share-by-direction": "[job]\nrw=randread\nbs=4k\npercentage_random=40,100\nnumber_ios=100\nruntime=9\n",
    "same-blocks-each-run": "[job]\nrw=randread\nbs=4k\nrandrepeat=1\nrandseed=5\nnumber_ios=100\nruntime=9\n",
    # -- trims ---------------------------------------------------------------------------------------------------------
    "trim": "[job]\nrw=trim\nbs=64k\nsize=1m\ndirect=1\nruntime=9\n",
    "trim-at-random": "[job]\nrw=randtrim\nbs=64k\nsize=1m\nnumber_ios=10\nruntime=9\n",
    "trim-then-write": "[job]\nrw=trimwrite\nbs=64k\nsize=1m\nnumber_ios=10\nruntime=9\n",
    "trim-then-write-at-random": "[job]\nrw=randtrimwrite\nbs=64k\nsize=1m\nnumber_ios=10\nruntime=9\n",
    "trim-blocks-of-their-own": "[job]\nrw=randtrim\nbs=4k,4k,64k\nsize=1m\nnumber_ios=10\nruntime=9\n",
    # -- rates ---------------------------------------------------------------------------------------------------------
    "rate-of-writes-only": "[job]\nrw=randrw\nbs=4k\nrate_iops=,500\nnumber_ios=100\nruntime=9\n",
    "rate-of-reads-only": "[job]\nrw=randrw\nbs=4k\nrate_iops=500,\nnumber_ios=100\nruntime=9\n",
    "rate-of-both": "[job]\nrw=randrw\nbs=4k\nrate_iops=900,300\nnumber_ios=200\nruntime=9\n",
    "rate-alike": "[job]\nrw=randrw\nbs=4k\nrate_iops=500\nnumber_ios=200\nruntime=9\n",
    "rate-mixed-by-share": "[job]\nrw=randrw\nbs=4k\nrwmixread=90\nrate_iops=800\nnumber_ios=200\nruntime=9\n",
    "rate-with-k": "[job]\nrw=randread\nbs=4k\nrate_iops=2k\nnumber_ios=200\nruntime=9\n",
    "rate-with-a-fraction": "[job]\nrw=randread\nbs=4k\nrate_iops=1.5k\nnumber_ios=3\nruntime=9\n",
    "rate-of-bytes-one-side": "[job]\nrw=randrw\nbs=4k\nrate=,2m\nnumber_ios=100\nruntime=9\n",
    "rate-of-bytes-both": "[job]\nrw=randrw\nbs=4k\nrate=3m,1m\nnumber_ios=100\nruntime=9\n",
    "rate-of-bytes-kb": "[job]\nrw=randread\nbs=4k\nrate=2000kb\nnumber_ios=100\nruntime=9\n",
    "rate-of-bytes-mib": "[job]\nrw=randread\nbs=4k\nrate=2MiB\nnumber_ios=100\nruntime=9\n",
    "rate-of-the-other-side": "[job]\nrw=randread\nbs=4k\nrate_iops=,100\nnumber_ios=100\nruntime=9\n",
    "rate-of-writes-of-reads": "[job]\nrw=randwrite\nbs=4k\nrate_iops=100,\nnumber_ios=100\nruntime=9\n",
    "rate-of-trims-only": "[job]\nrw=randrw\nbs=4k\nrate_iops=,,100\nnumber_ios=100\nruntime=9\n",
    "rate-in-both-units": "[job]\nrw=randread\nbs=4k\nrate=4m\nrate_iops=500\nnumber_ios=100\nruntime=9\n",
    "rate-below-a-block": "[job]\nrw=randread\nbs=64k\nrate=32k\nnumber_ios=1\nruntime=9\n",
    "rate-of-a-split": "[job]\nrw=randread\nbssplit=4k/50:8k/50\nrate_iops=1000\nnumber_ios=100\nruntime=9\n",
    "rate-by-poisson": "[job]\nrw=randread\nbs=4k\nrate_iops=1000\nrate_process=poisson\nnumber_ios=100\nruntime=9\n",
    "rate-for-a-second": "[job]\nrw=randread\nbs=4k\nsize=4m\nrate_iops=300\ntime_based\nruntime=2\n",
    "rate-of-clones": "[job]\nrw=randread\nbs=4k\nrate_iops=500\nnumjobs=2\nnumber_ios=60\nruntime=9\n",
    # -- writes and data -----------------------------------------------------------------------------------------------
    "sync-one": "[job]\nrw=write\nbs=4k\nsize=128k\nsync=1\nruntime=9\n",
    "sync-zero": "[job]\nrw=write\nbs=4k\nsize=128k\nsync=0\nruntime=9\n",
    "sync-word": "[job]\nrw=write\nbs=4k\nsize=128k\nsync=sync\nruntime=9\n",
    "sync-of-reads": "[job]\nrw=read\nbs=4k\nsize=128k\nsync=dsync\nruntime=9\n",
    "sync-direct": "[job]\nrw=write\nbs=4k\nsize=128k\nsync=dsync\ndirect=1\nruntime=9\n",
    "fsync-each": "[job]\nrw=write\nbs=4k\nsize=128k\nfsync=1\nruntime=9\n",
    "fsync-and-fdatasync": "[job]\nrw=write\nbs=4k\nsize=128k\nfsync=8\nfdatasync=4\nruntime=9\n",
    "fsync-queued": "[job]\nrw=write\nbs=4k\nsize=128k\nfsync=8\nioengine=libaio\niodepth=4\ndirect=1\nruntime=9\n",
    "end-fsync": "[job]\nrw=write\nbs=4k\nsize=128k\nend_fsync=1\nruntime=9\n",
    "compressible": "[job]\nrw=write\nbs=16k\nsize=512k\nbuffer_compress_percentage=60\nrefill_buffers\nruntime=9\n",
    "compressible-chunks": (
        "[job]\nrw=write\nbs=16k\nsize=512k\nbuffer_compress_percentage=60\nbuffer_compress_chunk=4k\nruntime=9\n"
    ),
    "deduplicable": "[job]\nrw=write\nbs=16k\nsize=512k\ndedupe_percentage=50\nruntime=9\n",
    "both-kinds-of-data": (
        "[job]\nrw=write\nbs=16k\nsize=512k\ndedupe_percentage=50\nbuffer_compress_percentage=30\nruntime=9\n"
    ),
    "zeros-written": "[job]\nrw=write\nbs=16k\nsize=512k\nzero_buffers\nruntime=9\n",
    # -- engines and figures -------------------------------------------------------------------------------------------
    "uring-polled-queue": (
        "[job]\nrw=randread\nbs=4k\nioengine=io_uring\nsqthread_poll=1\niodepth=4\nnumber_ios=40\nruntime=9\n"
    ),
    "uring-fixed": (
        "[job]\nrw=randread\nbs=4k\nioengine=io_uring\nfixedbufs\nregisterfiles\niodepth=4\nnumber_ios=40\nruntime=9\n"
    ),
    "uring-hipri": (
        "[job]\nrw=randread\nbs=4k\nioengine=io_uring\nhipri\ndirect=1\niodepth=4\nnumber_ios=40\nruntime=9\n"
    ),
    "uring-poll-cpu": (
        "[job]\nrw=randread\nbs=4k\nioengine=io_uring\nsqthread_poll\nsqthread_poll_cpu=0\nnumber_ios=40\nruntime=9\n"
    ),
    "hipri-of-another-engine": "[job]\nrw=randread\nbs=4k\nioengine=libaio\nhipri\nnumber_ios=40\nruntime=9\n",
    "percentiles": "[job]\nrw=randread\nbs=4k\npercentile_list=50:90:99.999\nnumber_ios=40\nruntime=9\n",
    "percentiles-off": "[job]\nrw=randread\nbs=4k\nclat_percentiles=0\nnumber_ios=40\nruntime=9\n",
    "depth-of-a-sync-engine": "[job]\nrw=randread\nbs=4k\nioengine=psync\niodepth=16\nnumber_ios=40\nruntime=9\n",
    "engine-by-default": "[job]\nrw=randread\nbs=4k\niodepth=16\nnumber_ios=40\nruntime=9\n",
    "no-invalidate": "[job]\nrw=randread\nbs=4k\ninvalidate=0\nnumber_ios=40\nruntime=9\n",
    "batches": (
        "[job]\nrw=randread\nbs=4k\nioengine=libaio\ndirect=1\niodepth=8\niodepth_batch=4\niodepth_batch_complete=2\n"
        "number_ios=40\nruntime=9\n"
    ),
    "pause-of-completions": (
        "[job]\nrw=randread\nbs=4k\nioengine=libaio\ndirect=1\niodepth=8\nthinktime=500\nthinktime_blocks=8\n"
        "number_ios=40\nruntime=9\n"
    ),
    # -- several sections ----------------------------------------------------------------------------------------------
    "reader-beside-writer": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[reader]\nrw=randread\n[writer]\nrw=randwrite\n"
    ),
    "one-after-the-other": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[reader]\nrw=randread\n[writer]\nstonewall\nrw=randwrite\n"
    ),
    "wall-in-globals": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\nstonewall\n[one]\nrw=randread\n[two]\nrw=read\n"
    ),
    "wall-by-alias": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[one]\nrw=randread\n[two]\nwait_for_previous\nrw=read\n"
    ),
    "groups-of-their-own": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\ngroup_reporting\n"
        "[one]\nrw=randread\n[two]\nnew_group\nrw=read\n"
    ),
    "three-with-two-phases": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[one]\nrw=randwrite\n[two]\nstonewall\nrw=randread\n"
        "[three]\nrw=read\n"
    ),
    "waits-for-another": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[one]\nrw=randread\n[two]\nwait_for=one\nrw=read\n"
    ),
    "same-name-twice": ("[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[one]\nrw=randread\n[one]\nrw=read\n"),
    "clones-beside-one": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[one]\nrw=randread\nnumjobs=2\n[two]\nrw=read\n"
    ),
    "ends-with-the-first": (
        "[global]\nbs=4k\nsize=1m\nruntime=9\nexitall\n[one]\nrw=randread\nnumber_ios=40\n[two]\nrw=read\n"
    ),
    "starts-later": (
        "[global]\nbs=4k\nsize=1m\nnumber_ios=40\nruntime=9\n[one]\nrw=randread\n[two]\nstartdelay=1\nrw=read\n"
    ),
}

_UNRUN = frozenset(
    (
        # They end by time alone, fail in fio itself, or need what a scratch file has not.
        *("time-based-without-runtime", "time-based", "time-based-with-number", "time-based-with-io-size"),
        *("trim", "trim-at-random", "trim-then-write", "trim-then-write-at-random", "trim-blocks-of-their-own"),
        *("uring-polled-queue", "uring-hipri", "uring-poll-cpu", "uneven-block", "ramp-with-amount"),
        *("rate-for-a-second", "rate-with-a-fraction", "rate-below-a-block", "depth-with-k"),
    )
)

_MAY_BE_REFUSED = frozenset(
    (
        *("unknown-option", "unknown-engine", "abbreviated-option", "option-before-sections", "only-globals"),
        *("empty-value", "bool-without-value", "bool-two", "capital-word", "capital-option", "quoted-number"),
        *("quoted-word", "quoted-description", "blanks-around-a-word", "bool-in-words", "bool-true"),
        *("suffix-fraction", "block-fraction", "hexadecimal", "octal", "product", "sum-in-brackets", "time-fraction"),
        *("time-capital-m", "suffix-b", "loops-zero", "time-based-without-runtime", "uneven-block", "time-us"),
        *("block-range", "block-range-and-bs", "block-range-by-direction", "block-split-by-direction"),
        *("block-split-without-slash", "backwards", "with-holes", "offsets-in-eights", "zipf-bare"),
        *("zipf-with-centre", "zones-by-direction", "zones-absolute", "share-by-direction", "distribution-in-order"),
        *("rate-with-a-fraction", "rate-in-both-units", "rate-below-a-block", "fsync-and-fdatasync"),
        *("uring-poll-cpu", "hipri-of-another-engine", "batches", "waits-for-another", "exitall", "starts-later"),
        *("ends-with-the-first", "same-name-twice", "trim-then-write", "trim-then-write-at-random"),
        *("io-size-and-number", "io-size-and-fewer", "loops-and-number", "io-size-percent", "increment-percent"),
        *("thinktime-blocks-without", "sync-of-reads", "depth-with-k", "time-based-with-io-size"),
        *("time-based-with-number", "ramp-with-amount", "rate-of-a-split", "block-split-all-blank"),
        *("block-split-short-of-all", "block-split-over-bs", "trim-blocks-of-their-own", "size-percent-io-size"),
        *("blanks-around-numbers", "section-with-blanks", "pause-of-completions", "clones-beside-one"),
        *("suffix-kib", "rate-of-bytes-mib", "flag-in-words", "filesize-zero", "filesize-and-offset"),
        *("blank-side-keeps-the-globals-rate", "blank-side-keeps-the-globals-blocks", "increment-without-size"),
        *("blocks-by-direction", "blocks-of-writes-only", "filesize", "filesize-and-size", "zeros-written"),
        *("compressible-chunks", "percentiles-off", "no-invalidate", "rate-of-trims-only", "loops"),
    )
)
"""Job files that raidbench may refuse, as long as it says so."""

EXAMPLES = Path("/usr/share/doc/fio/examples")
"""Where fio's package puts its example files; not every system installs documentation."""


def cases() -> tuple[Case, ...]:
    """Every job file, each with a name of its own."""
    own = [
        Case(name, text, runs=name not in _UNRUN, must_run=name not in _MAY_BE_REFUSED) for name, text in _OWN.items()
    ]
    each = [
        Case(name, text, runs=option in options.MEASURED, must_run=option in options.MUST_RUN)
        for option, name, text in options.jobs()
    ]
    shipped = [Case(f"example-{file.stem}", file.read_text()) for file in sorted(EXAMPLES.glob("*.fio"))]
    return (*own, *each, *shipped)
