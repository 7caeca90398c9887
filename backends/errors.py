"""One family of errors: a sentence for the person, what to do next, and the evidence apart."""

from __future__ import annotations


class RaidbenchError(Exception):
    """Something a person has to be told about.

    `str(error)` is the sentence. `hint` says what to do next ("" when nothing helps). `evidence` is raw text
    (a tool's stderr, a path) for the log and for whoever looks closer; it is not cleaned for the terminal.
    """

    def __init__(self, message: str, *, hint: str = "", evidence: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.evidence = evidence


class ToolMissingError(RaidbenchError):
    """A program that is needed is not installed or may not be executed."""


class ToolFailedError(RaidbenchError):
    """A program or the kernel refused or failed; `evidence` holds its own words."""


class ToolTimeoutError(ToolFailedError):
    """A program gave no answer in the time allowed for a read.

    `devices`: kernel names of the disks that it waits for; none where that is not known.
    """

    def __init__(self, message: str, *, hint: str = "", evidence: str = "", devices: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint, evidence=evidence)
        self.devices = devices


class NotFoundError(RaidbenchError):
    """No such target, setting, session, run or file."""


class UnknownSettingError(NotFoundError):
    """A target that is there has no setting of that key, as far as this version knows."""


class InvalidValueError(RaidbenchError):
    """A value that the setting, the job or the file format does not allow."""


class BlockedError(RaidbenchError):
    """A setting that cannot be changed here and now; the message says why."""


class RefusedError(RaidbenchError):
    """A guard said no: in use, not blank and not confirmed, read-only mode. Exit status 3."""


class HeldError(RefusedError):
    """Somebody else is at it now; later it may be possible."""


class NewerError(RefusedError):
    """A newer program wrote it, in a way that this one would misread; it says which one reads it."""


class DeviceGoneError(RaidbenchError):
    """The device vanished, or another one now has its name."""


class AnotherDeviceError(DeviceGoneError):
    """Under the name that was given there is another device now. Exit status 3."""


class StorageError(RaidbenchError):
    """The session folder or the journal cannot be written (full, read-only, no rights)."""
