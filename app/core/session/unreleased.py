"""Texts about open records that a build before the first release left in a journal. No I/O.

Their form is not read, so nothing acts on them. The texts contain the usual fields of a record, as far as it has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.errors import UnreleasedError
from backends.formats import build_text
from backends.text import clean

_LONGEST = 200


def changes_error(file: Path, records: Sequence[Mapping[str, Any]]) -> UnreleasedError:
    """Return the error about open changes and trials in a journal, with the old value of each.

    `records`: their first records, not empty.
    """
    trials = sum(record.get("until") is not None for record in records)
    counts = [f"{number} open {word}{'s' * (number != 1)}" for number, word in _counted(len(records) - trials, trials)]
    texts = "; ".join(map(_change_text, records))
    by_hand = "; ".join(filter(None, map(_old_value_text, records)))
    return UnreleasedError(
        f"{file} has {' and '.join(counts)} of {build_text(records[0].get('by'))}: {texts}.",
        hint=" ".join(
            filter(
                None,
                (
                    "Run `raidbench recover` of that build.",
                    f"Or set the old values yourself ({by_hand})." if by_hand else "Or check these settings yourself.",
                    "Then remove the file.",
                ),
            )
        ),
    )


def arrays_error(file: Path, records: Sequence[Mapping[str, Any]]) -> UnreleasedError:
    """Return the error about arrays whose creation or deletion has no recorded end. `records`: not empty."""
    texts = "; ".join(map(_array_text, records))
    return UnreleasedError(
        f"{file} has {len(records)} open {'entry' if len(records) == 1 else 'entries'}"
        f" of {build_text(records[0].get('by'))}: {texts}.",
        hint="Run `raidbench recover` of that build, or check the array with the controller's tool. Then remove the "
        "file.",
    )


def value_text(target: object, key: object, before: object, after: object) -> str:
    """Return one setting with its old and its new value: `KEY of TARGET, 128 before and 256 after`."""
    old = "unknown" if before is None else _word(before)
    return f"{_word(key)} of {_target_text(target)}, {old} before and {_word(after)} after"


def _counted(changes: int, trials: int) -> list[tuple[int, str]]:
    return [(number, word) for number, word in ((changes, "change"), (trials, "trial")) if number]


def _change_text(record: Mapping[str, Any]) -> str:
    if not record.get("target") or not record.get("key"):
        return f"{_word(record.get('id'))}, an unknown setting"
    text = value_text(record["target"], record["key"], record.get("before"), record.get("after"))
    return f"{text}{_device_text(record.get('identity'))}"


def _old_value_text(record: Mapping[str, Any]) -> str:
    if not record.get("target") or not record.get("key") or record.get("before") is None:
        return ""
    return f"{_word(record['key'])} of {_target_text(record['target'])}: {_word(record['before'])}"


def _array_text(record: Mapping[str, Any]) -> str:
    stage = {"making": "being created", "removing": "being deleted"}.get(str(record.get("stage")), "unknown state")
    array = record.get("array")
    level = f", {_word(array['level'])}" if isinstance(array, Mapping) and array.get("level") else ""
    return f"{_word(record.get('name'))}{level}, {stage}"


def _device_text(identity: object) -> str:
    """Return the identity of a device, because its name may have changed: ` (serial number S1)`; "" if unknown."""
    if not isinstance(identity, Mapping):
        return ""
    if identity.get("serial"):
        return f" (serial number {_word(identity['serial'])})"
    return f" (WWN {_word(identity['wwn'])})" if identity.get("wwn") else ""


def _target_text(target: object) -> str:
    if isinstance(target, Mapping):
        return f"{_word(target.get('backend'))}:{_word(target.get('address'))}"
    return _word(target)


def _word(value: object) -> str:
    return clean(str(value), _LONGEST)
