"""What could be neither put back nor recorded is told all the same."""

from __future__ import annotations

from collections.abc import Sequence

from backends.errors import StorageError


def with_unrestored(error: StorageError, left: Sequence[str]) -> StorageError:
    """The error of a session that takes nothing any more, with what is not back as it was, a sentence each."""
    if not left:
        return error
    return StorageError(
        " ".join((error.message, *left)),
        hint=" ".join(filter(None, (error.hint, "Then `raidbench recover` puts it back."))),
        evidence=error.evidence,
    )
