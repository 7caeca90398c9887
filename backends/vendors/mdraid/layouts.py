"""Layouts of md arrays: mdadm's names by the kernel's numbers. No I/O.

Sources: include/uapi/linux/raid/md_p.h, drivers/md/raid5.h (ALGORITHM_*), drivers/md/raid10.h (near, far and offset
copies), mdadm's maps.c for the names.
"""

from __future__ import annotations

from backends.raid import ARRANGEMENTS, LAYOUT

ROTATING = {
    0: "left-asymmetric",
    1: "right-asymmetric",
    2: "left-symmetric",
    3: "right-symmetric",
    4: "parity-first",
    5: "parity-last",
}
"""Layouts of RAID 5 and 6, which place the parity in each stripe."""

SIX = {
    8: "ddf-zero-restart",
    9: "ddf-N-restart",
    10: "ddf-N-continue",
    16: "left-asymmetric-6",
    17: "right-asymmetric-6",
    18: "left-symmetric-6",
    19: "right-symmetric-6",
    20: "parity-first-6",
}
"""Layouts that only RAID 6 has: those of DDF, and those of a RAID 5 that got a disk for the second parity (`-6`)."""

SENTENCES = {
    "left-symmetric": "Parity rotates left, and data starts after it. Sequential reads use every "
    "member. This is the default of mdadm.",
    "left-asymmetric": "Parity rotates left, and data starts at the first member.",
    "right-symmetric": "Parity rotates right, and data starts after it.",
    "right-asymmetric": "Parity rotates right, and data starts at the first member.",
    "parity-first": "All parity is on the first member.",
    "parity-last": "All parity is on the last member, as in RAID 4.",
}
"""Help text of each rotating layout (md(4), mdadm(8) --layout)."""

_OFFSET = 1 << 16


def layout_word(level: str, code: int) -> str | None:
    """Return mdadm's name of a layout, such as `left-symmetric` or `n2`; `unknown` for an unknown code.

    None for a level without layouts.
    """
    match level:
        case "raid5":
            return ROTATING.get(code, "unknown")
        case "raid6":
            return (ROTATING | SIX).get(code, "unknown")
        case "raid10":
            near, far = code & 0xFF, code >> 8 & 0xFF
            if code < 0 or not near or not far:
                return "unknown"
            if far == 1:
                return f"n{near}"
            word = f"{'o' if code & _OFFSET else 'f'}{far}"
            return word if near == 1 else f"n{near}{word}"
        case _:
            return None


def layout_label(word: str) -> str:
    """Return the layout as `mdadm --detail` prints it, such as `near=2`. `word`: the name from `layout_word`."""
    match = LAYOUT.fullmatch(word)
    return f"{ARRANGEMENTS[match[1]]}={match[2]}" if match else word


def layout_help(word: str) -> str:
    """Return the help text of a layout."""
    match = LAYOUT.fullmatch(word)
    if match is None:
        return SENTENCES.get(word, "")
    return {
        "n": "Copies are at the same offset of adjacent members.",
        "f": (
            "Copies are in the far half of another member. Sequential reads are as fast as RAID 0, writes need more "
            "seeks."
        ),
        "o": (
            "Copies are in the next stripe, shifted by one member. Reads are almost as fast as with far copies, writes "
            "need fewer seeks."
        ),
    }[match[1]]
