"""Job files drawn at random: any subset of fio's options, each with a legal value."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.jobfiles import options

_CHOICES = {
    "rw": ("read", "write", "randread", "randwrite", "rw", "readwrite", "randrw", "trim", "randtrim"),
    "readwrite": ("read", "randwrite", "randrw"),
    "bs": ("4k", "4096", "8k", "4k,8k", ",8k", "8k,", "4k,,64k", "16K", "4kb", "8KiB"),
    "blocksize": ("4k", "16k", "8k,4k"),
    "bsrange": ("4k-8k", "8k-8k", "4k-8k,16k-32k"),
    "bssplit": ("4k/50:8k/50", "4k/50:8k/", "4k/:8k/:16k/", "4k/100", "8k/30:16k/70,4k/100"),
    "ba": ("4k", "8k"),
    "size": ("1m", "2m", "50%", "100%", "1024kb", "1048576"),
    "io_size": ("0", "64k", "256k", "2m"),
    "io_limit": ("128k",),
    "number_ios": ("0", "1", "50", "1k"),
    "filesize": ("0", "1m", "4m"),
    "offset": ("0", "1m", "25%", "64k"),
    "fileoffset": ("2m",),
    "runtime": ("0", "3", "2s", "1500ms", "1m", "2M"),
    "timeout": ("4", "0"),
    "time_based": ("", "0", "1"),
    "ramp_time": ("0", "1", "1s"),
    "loops": ("0", "1", "2"),
    "numjobs": ("1", "2", "3"),
    "offset_increment": ("0", "256k"),
    "rate": ("0", "1m", ",1m", "1m,", "2m,1m", "1m,2m,3m", "1000kb"),
    "rate_iops": ("0", "100", ",100", "100,", "200,100", "1k", "1k,2k"),
    "rate_process": ("linear", "poisson"),
    "rwmixread": ("0", "30", "70", "100"),
    "rwmixwrite": ("0", "30", "100"),
    "direct": ("0", "1"),
    "buffered": ("0", "1"),
    "norandommap": ("", "0", "1"),
    "group_reporting": ("", "0", "1"),
    "ioengine": ("psync", "sync", "libaio", "io_uring", "posixaio", "pvsync2"),
    "iodepth": ("1", "4", "0x8"),
    "random_distribution": ("random", "zipf:1.2", "pareto:0.9", "normal:20", "zoned:60/10:40/90", "zoned:60/10:40/"),
    "percentage_random": ("100", "50", "0", "50,100"),
    "fsync": ("0", "1", "8"),
    "fdatasync": ("0", "1", "8"),
    "sync": ("0", "1", "none", "sync", "dsync"),
    "thinktime": ("0", "200", "1ms", "200us"),
    "thinktime_blocks": ("1", "4"),
    "invalidate": ("0", "1"),
    "end_fsync": ("0", "1"),
    "zero_buffers": ("", "0", "1"),
    "refill_buffers": ("", "0", "1"),
    "scramble_buffers": ("0", "1"),
    "buffer_compress_percentage": ("0", "1", "50", "100"),
    "dedupe_percentage": ("0", "30"),
    "percentile_list": ("50:99", "99.9:99.99:99.999"),
    "randrepeat": ("0", "1"),
    "randseed": ("5", "0x10"),
}
"""Values beyond the two of the table of options, for the options that say most."""

_RARE = 0.15
"""How often a file also has an option that raidbench most likely refuses: such files say least."""


def files(count: int, seed: int) -> Iterator[str]:
    """So many job files; the same seed draws the same files."""
    draw = random.Random(seed)
    rare = [name for name, values in options.VALUES.items() if values[0] != "-" and name not in _CHOICES]
    for _ in range(count):
        shared = _lines(draw, draw.randint(0, 4))
        own = _lines(draw, draw.randint(1, 7))
        if draw.random() < _RARE:
            own.append(_line(rare_name := draw.choice(rare), draw.choice(options.VALUES[rare_name])))
        title = draw.choice(("global", "global", "globals", "global x"))
        yield "\n".join([*([f"[{title}]", *shared] if shared else []), "[job]", *own]) + "\n"


def _lines(draw: random.Random, count: int) -> list[str]:
    names = draw.sample(sorted(_CHOICES), count)
    return [_line(name, draw.choice(_CHOICES[name])) for name in names]


def _line(name: str, value: str) -> str:
    return f"{name}={value}" if value else name
