"""Plans for LVM settings: the exact commands, their undo, and the risk. No I/O."""

from __future__ import annotations

import re
from dataclasses import replace

from backends.change import Change, ChangeStep
from backends.change_steps import RequestedValue
from backends.errors import RefusedError
from backends.identity import Identity
from backends.settings import Risk, worst
from backends.sizes import size_words
from backends.text import clean
from backends.vendors.lvm.facts import CACHE
from backends.vendors.lvm.readings import MODES
from backends.vendors.lvm.settings import DEFAULT, OPTIONS, LvView

_VALUES = re.compile(
    r"--(?:cachemode (?:writethrough|writeback|passthrough)|cachepolicy (?:smq|mq|cleaner)"
    r"|cachesettings (?:[a-z_]{1,40}=(?:\d{1,12}|default)(?: [a-z_]{1,40}=\d{1,12}){0,15})?"
    r"|readahead (?:auto|none|\d{1,10})|writemostly /dev/[A-Za-z0-9+_./-]{1,250}:[yn]"
    r"|writebehind \d{1,5}|(?:min|max)recoveryrate \d{1,10}|stripesize \d{1,7}k)",
    re.ASCII,
)
"""Pattern of the options that a step may have. lvchange also accepts options that do not fit the kind of volume, with
other effects.
"""


_TUNABLES = "--cachesettings"
_NOT_AHEAD = ("--readahead", "none")


def change_of(view: LvView, request: RequestedValue, identity: Identity, lock: str) -> Change:
    """Return the change of one setting."""
    key, before = request.setting.key, request.now.now
    undo = steps(view, key, before, request.value) if before not in (None, "unknown") else ()
    change = request.change(steps(view, key, request.value, before), undo, identity, lock, _risk(request))
    return replace(change, risk_text=_text(view, request, change.risk))


def steps(view: LvView, key: str, value: str | None, before: str | None) -> tuple[ChangeStep, ...]:
    """Return the steps that set `key` to `value`, in order. `before`: the current value.

    `auto` can only raise the queue's current read-ahead, so the read-ahead is first set to `none` (tested). A
    writecache tunable gets its default only if all tunables are cleared (lvmcache(7)); the others are then set again.
    `--yes` confirms three prompts: clearing the tunables, write-back with a cache volume that cannot be repaired, and a
    reshape.
    """
    volume, word = view.volume, str(value)
    pair = _option_for(key, word)
    if key == "stripe_size":
        return (ChangeStep(argv=(view.lvconvert or "lvconvert", "--yes", *pair, volume.address)),)
    if (key, word) == ("lv_read_ahead", "auto") and before not in ("none", "auto"):
        return _lvchange(view, *_NOT_AHEAD), _lvchange(view, *pair)
    if volume.kind == CACHE or pair[0] != _TUNABLES or word != DEFAULT:
        sure = ("--yes",) if (key, word) == ("cache_mode", "write-back") else ()
        return (_lvchange(view, *sure, *pair),)
    rest = " ".join(f"{name}={text}" for name, text in volume.settings.items() if name != key)
    again = (_lvchange(view, _TUNABLES, rest),) if rest else ()
    return (_lvchange(view, "--yes", _TUNABLES, ""), *again)


def _option_for(key: str, value: str) -> tuple[str, str]:
    """Return the option of lvchange or lvconvert that sets `key`, and its argument for `value`."""
    if key == "stripe_size":
        return OPTIONS[key], f"{int(value) // 1024}k"
    if (option := OPTIONS.get(key.partition(".")[0])) is not None:
        return option, _word(key, value)
    return _TUNABLES, f"{key}={int(value == 'on') if key == 'cleaner' else value}"


def _lvchange(view: LvView, *options: str) -> ChangeStep:
    return ChangeStep(argv=(view.lvchange or "lvchange", *options, view.volume.address))


def _word(key: str, value: str) -> str:
    """Return LVM's word for raidbench's value of a setting."""
    if key == "cache_mode":
        return next((word for word, common in MODES.items() if common == value), value)
    if key == "lv_read_ahead" and value.isdigit():
        return str(int(value) * 2)  # lvchange expects sectors of 512 bytes
    if key.startswith("write_mostly."):
        return f"/dev/{key.partition('.')[2]}:{'y' if value == 'on' else 'n'}"
    return "0" if value == DEFAULT else value


def require_own_step(change: Change, view: LvView) -> None:
    """Raise RefusedError if a step does not change a setting of this volume. Steps may come from a journal."""
    for write in change.writes:
        parts = [word for word in write.argv[1:-1] if word != "--yes"]
        tool = view.lvconvert if parts[:1] == ["--stripesize"] else view.lvchange
        of_kind = parts[:1] != ["--cachemode"] or view.volume.kind == CACHE
        ours = write.argv[:1] == (tool,) and write.argv[-1:] == (view.volume.address,) and of_kind
        if not ours or not _VALUES.fullmatch(" ".join(parts)):
            raise RefusedError(
                f"Refusing to run {clean(write.shown(), 200)}: it does not change a setting of {change.target}."
            )


def _risk(request: RequestedValue) -> Risk:
    """Return the risk of the requested value. A number has the highest risk of all offered numbers."""
    if request.value.isdigit():
        return worst(choice.risk for choice in request.now.choices if choice.value.isdigit())
    return request.risk


def _text(view: LvView, request: RequestedValue, risk: Risk) -> str:
    """Return the warning about possible consequences of the requested value for this volume; "" if there are none."""
    if request.setting.key != "cache_mode":
        return request.setting.risk_text if risk is not Risk.NONE else ""
    if request.value == "write-back":
        on = f" The cache is on {view.cache_on}." if view.cache_on else ""
        return f"{request.setting.risk_text}{on}" if risk is not Risk.NONE else ""
    text = "Without its cache the volume is as slow as its slow device." if request.value == "passthrough" else ""
    dirty = view.volume.number("cache_dirty_blocks") or 0
    if request.now.now == "write-back" and dirty:
        size = size_words(dirty * (view.volume.number("chunk_size") or 0))
        text = f"{text} The cache has {size} of unwritten data, which is written to the slow device first.".strip()
    return text
