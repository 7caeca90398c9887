"""The command lines that make an array of the kernel's RAID driver. Pure."""

from __future__ import annotations

from collections.abc import Collection

from backends.change import Write
from backends.errors import InvalidValueError
from backends.making import (
    SYNC_RATE,
    ArrayPlan,
    ArrayWish,
    capacity,
    require_alike,
    require_layout,
    require_shape,
    spans_of,
)
from backends.model import Level
from backends.raid import copies_of
from backends.vendors.mdraid.settings import STRIPED

_CHUNK = 512 << 10
"""Bytes; mdadm(8), --chunk."""

_LOST = 128 << 20
"""What md keeps of each large member: superblock, bitmap and room to reshape (super1.c, data offset), at most."""

_CREATE_SECONDS = 0.7
"""Longest of ten on Linux 6.1 with mdadm 4.2."""

NESTED = {Level.RAID50: Level.RAID5, Level.RAID60: Level.RAID6}
"""Levels made of a RAID 0 over inner arrays, and theirs."""

FIRST = 100
"""Numbers of nodes begin here: what is assembled at boot goes down from 127, and others begin at 0."""


def plan_array(
    wish: ArrayWish, *, mdadm: str, taken: Collection[str], uuids: tuple[str, ...], assume_clean: bool
) -> ArrayPlan:
    """What makes the array: of RAID 50 and 60 the inner arrays first, the outer one's chunk their full stripe.

    `taken`: kernel names that are used. `uuids`: one for the array and, of a nested one, one for each inner array.
    `assume_clean`: its parity is not computed: right only once every stripe was written.
    Raises InvalidValueError.
    """
    warnings = require_alike(wish.drives)
    data = require_shape(wish) if wish.layout is None else require_layout(wish)
    strip = None if wish.level is Level.RAID1 else wish.strip_bytes or _CHUNK
    if wish.policies:
        raise InvalidValueError("md has no policies at birth.", hint="Set them once the array is there.")
    if strip is not None and (strip < 4096 or strip & (strip - 1)):
        raise InvalidValueError(f"A chunk of {strip} bytes cannot be made.", hint="A power of two, 4k at least.")
    spans = 1 if wish.layout is not None else spans_of(wish.level, len(wish.drives), wish.spans)
    if wish.layout is None and wish.level is Level.RAID10 and spans != spans_of(wish.level, len(wish.drives), None):
        raise InvalidValueError("md makes a RAID10 of pairs.", hint="Leave out the spans.")
    wanted = ArrayWish(
        level=wish.level,
        drives=wish.drives,
        strip_bytes=strip,
        spans=spans if wish.level in NESTED else None,
        layout=wish.layout,
        name=wish.name,
    )
    nodes = [drive.place for drive in wish.drives]
    numbers = (number for number in range(FIRST, FIRST + 1000) if f"md{number}" not in taken)
    if wish.level not in NESTED:
        own = f"/dev/md{next(numbers)}"
        steps = [_create(mdadm, own, wish.level.value, nodes, wish.name, uuids[0], strip, assume_clean, wish.layout)]
    else:
        each = len(nodes) // spans
        own, *inner = [f"/dev/md{next(numbers)}" for _ in range(spans + 1)]
        assert strip is not None
        assert data is not None
        full = strip * (data // spans)
        steps = [
            _create(
                mdadm,
                one,
                NESTED[wish.level].value,
                nodes[at * each : (at + 1) * each],
                f"{wish.name[:12]}-{at}",
                uuids[1 + at],
                strip,
                assume_clean,
            )
            for at, one in enumerate(inner)
        ]
        steps.append(_create(mdadm, own, "raid0", inner, wish.name, uuids[0], full, assume_clean=False))
    return ArrayPlan(
        wish=wanted,
        maker="mdadm",
        steps=tuple(steps),
        size_bytes=capacity(wanted, data or len(nodes) / copies_of(wish.layout), lost_bytes=_LOST),
        data_drives=data,
        seconds=_CREATE_SECONDS * len(steps),
        initialising=_initialising(wanted, assume_clean),
        warnings=warnings,
        uuids=uuids[: 1 + (spans if wish.level in NESTED else 0)],
    )


def spelled(digits: str) -> str:
    """32 hex digits as mdadm spells a UUID."""
    return ":".join(digits[at : at + 8] for at in range(0, 32, 8))


def _create(
    mdadm: str,
    node: str,
    level: str,
    members: list[str],
    name: str,
    uuid: str,
    chunk: int | None,
    assume_clean: bool,
    layout: str | None = None,
) -> Write:
    """`--run` answers mdadm's question about what lies on the members: that is looked for, and asked about, before."""
    words = [
        mdadm,
        "--create",
        node,
        "--run",
        "--homehost=any",
        f"--name={name}",
        f"--uuid={uuid}",
        "--metadata=1.2",
        f"--level={level}",
        *((f"--layout={layout}",) if layout is not None else ()),
        f"--raid-devices={len(members)}",
        *((f"--chunk={chunk // 1024}K",) if chunk is not None and level in STRIPED else ()),
        *(("--bitmap=none",) if level != "raid0" else ()),
        *(("--assume-clean",) if assume_clean and level != "raid0" else ()),
    ]
    return Write(argv=(*words, *members))


def _initialising(wish: ArrayWish, assume_clean: bool) -> str:
    if wish.level is Level.RAID0:
        return "Nothing has to be initialised."
    if assume_clean:
        return (
            "Nothing is initialised: copies and parity are right only where whole stripes were written since. Write "
            "all of it once in order, then `check`; before that no data belong on it."
        )
    size = min((drive.size_bytes or 0 for drive in wish.drives), default=0)
    hours = size / SYNC_RATE / 3600
    degraded = wish.level in (Level.RAID5, Level.RAID50)
    how = "The last drive is rebuilt, so it is degraded until then" if degraded else "It is resynchronised"
    return f"{how}: {hours:.1f} h at 200 MB/s a drive. Until that ends reads and writes cost other operations."
