"""Names of the background tasks of an array. No I/O."""

from __future__ import annotations

TASKS = {
    "patrol-read": "patrol read",
    "consistency-check": "a consistency check",
    "initialisation": "an initialisation",
    "rebuild": "a rebuild",
    "resync": "a resync",
    "recovery": "a recovery",
    "check": "a check",
    "repair": "a repair",
    "reshape": "a reshape",
    "migration": "a migration",
    "flush": "a flush of the cache",
    "merge": "the merge of a snapshot",
    "removal": "the removal of a device",
    "trim": "a trim",
    "checkpoint-discard": "the deletion of a checkpoint",
}
"""Names of background tasks for use in a sentence, by their kind."""
