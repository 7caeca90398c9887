"""Errors of raidbench: a sentence for the user, the next step, and evidence for the log."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class RaidbenchError(Exception):
    """Base of all errors that are reported to the user.

    `str(error)` is the sentence. `hint` is the next step for the user ("" if nothing helps). `evidence` is raw text (a
    tool's stderr, a path) for the log and for closer inspection; it is not cleaned for the terminal.
    """

    def __init__(self, message: str, *, hint: str = "", evidence: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.evidence = evidence

    @property
    def full_text(self) -> str:
        """Return the sentence and the next step."""
        return " ".join(filter(None, (self.message, self.hint)))


class ToolMissingError(RaidbenchError):
    """A required program is not installed or may not be executed."""


class ToolFailedError(RaidbenchError):
    """A program or the kernel refused or failed; `evidence` contains its own message."""


class ToolTimeoutError(ToolFailedError):
    """A program that only reads did not finish in the allowed time.

    `devices`: kernel names of the disks for which it waits; () if unknown.
    """

    def __init__(self, message: str, *, hint: str = "", evidence: str = "", devices: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint, evidence=evidence)
        self.devices = devices


class NotFoundError(RaidbenchError):
    """A target, setting, session, run or file does not exist."""


class UnknownSettingError(NotFoundError):
    """The target exists, but this version of raidbench has no setting with that key for it."""


class InvalidValueError(RaidbenchError):
    """A value is not allowed by the setting, the job or the file format."""


class BlockedError(RaidbenchError):
    """A setting cannot be changed here and now; the message says why."""


class RefusedError(RaidbenchError):
    """raidbench refuses the action: device in use, content not confirmed, read-only mode. Exit status 3."""


class HeldError(RefusedError):
    """Another process has the lock. The action may succeed later."""


class NewerError(RefusedError):
    """A newer version of raidbench wrote data that this one would misread. The message names that version."""


class UnreleasedError(RefusedError):
    """A build before the first release wrote data that this program cannot read. The message names the file."""


class DeviceGoneError(RaidbenchError):
    """The device vanished, or another one has its name now."""


class AnotherDeviceError(DeviceGoneError):
    """The name now belongs to a different device than the expected one. Exit status 3."""


class StorageError(RaidbenchError):
    """The session folder or the journal cannot be written (full, read-only, no permission)."""


@contextmanager
def storage_errors(failure: str, *, hint: str = "", consequence: str = "") -> Iterator[None]:
    """Convert an OSError inside the block to a StorageError with the message `failure: reason. consequence`."""
    try:
        yield
    except OSError as error:
        message = f"{failure}: {error.strerror or error}. {consequence}".rstrip()
        raise StorageError(message, hint=hint, evidence=str(error)) from error


async def result_or_error(work: Awaitable[T]) -> T | RaidbenchError:
    """Return the result of `work`, or the RaidbenchError that it raised. Other exceptions are not caught."""
    try:
        return await work
    except RaidbenchError as error:
        return error
