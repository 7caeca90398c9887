"""Decides from MegaCli's text and codes whether a change succeeded, never from its exit status. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.host import Command, Completed
from backends.text import clean
from backends.vendors.megaraid.dialect import Answer

# The numbers of `Exit Code: 0xNN` are the firmware's command status, so storcli's ErrCd uses the same ones. Up to 0x39
# the meanings follow the MegaRAID firmware interface (Linux, drivers/scsi/megaraid/megaraid_sas.h, enum MFI_STAT).
# Above that they follow Broadcom's table of storcli error codes. The exit status of the process is ignored: it is often
# the low byte of this code, and after -adpCount the number of controllers.

DONE = 0x00
"""Exit code that means success."""

PENDING = {0x59: "controller reset", 0x74: "reboot", 0x84: "reboot"}
"""Exit codes that report success, each with the step after which the change takes effect."""

MEANINGS = {
    0x01: "the firmware does not know the command",
    0x02: "the firmware does not know the operation",
    0x03: "a parameter is invalid",
    0x04: "the configuration changed meanwhile",
    0x05: "the operation cannot be aborted",
    0x0B: "the change conflicts with the current configuration",
    0x0C: "the drive or virtual drive does not exist",
    0x0D: "a drive is too small",
    0x17: "a consistency check of the virtual drive is running",
    0x18: "the virtual drive is being initialised",
    0x1A: "the controller has reached its maximum number of virtual drives",
    0x1B: "the virtual drive is not optimal",
    0x1C: "the virtual drive is being rebuilt",
    0x1D: "the virtual drive is being reconstructed",
    0x1E: "the RAID level does not allow the change",
    0x20: "the controller has too little memory for the change",
    0x21: "the controller has a hardware error",
    0x22: "the required hardware (battery, alarm) is missing",
    0x23: "the object was not found",
    0x24: "the drive is not in that enclosure",
    0x25: "a drive is being cleared",
    0x26: "a drive has the wrong type or state for the change (JBOD, foreign, in use)",
    0x27: "patrol read is disabled",
    0x2D: "a drive reported an error",
    0x2E: "the data of a drive could not be read",
    0x32: "the state of the drive or virtual drive does not allow the change",
    0x33: "the virtual drive is offline",
    0x3B: "a foreign configuration is incomplete",
    0x54: "the controller has unwritten data of an offline or missing virtual drive (preserved cache)",
    0x5E: "the drives' security key does not match",
    0x6A: "the controller is in safe mode",
    0x76: "the change is not possible now",
    0x97: "the controller does not support the policy",
    0x99: "the controller must be shut down first",
}
"""Meanings of the other exit codes, as clauses."""


_CODE = re.compile(r"^[ \t]*Exit Code: ?0x([0-9a-f]{1,8})[ \t]*$", re.ASCII | re.IGNORECASE | re.MULTILINE)
_BAD = re.compile(
    r"\b(?:fail(?:s|ed|ure)?|errors?|invalid|illegal|denied|deprecated|unsupported|cannot|unable|unknown|usage"
    r"|not (?:supported|allowed|found|exist|permitted|possible|valid|have|present|available))\b",
    re.ASCII | re.IGNORECASE,
)
_NAMES = re.compile(r"\bpredictive fail(?:ure)? poll|\bon smart errors?\b", re.ASCII | re.IGNORECASE)
"""Property names that contain a word such as `fail` but do not report a failure."""

_CRASHED = re.compile(r"\bsegmentation fault\b|\bcore dumped\b|^(?:Aborted|Bus error)\b", re.IGNORECASE | re.MULTILINE)
_LONGEST = 200_000
"""Maximum characters of output to parse: half from its start and half from its end."""

_NOTICES = (
    "get bbu status failed",
    "will not come into effect immediately",
    "failed while adding the configuration to os",
)
"""Lines that look like failures but do not report one. The first two precede the line about the object if write-back
was set and waits for a battery. The third means that the operating system was not informed of the change."""

_RESTART = re.compile(r"\b(?:restart|reboot|power cycle)\b", re.ASCII | re.IGNORECASE)
_RESET = re.compile(r"\bcontroller reset\b", re.ASCII | re.IGNORECASE)
_DELETED = re.compile(r"\bDeleted Virtual Drive-([0-9]{1,6})\(target id-([0-9]{1,6})\)", re.ASCII | re.IGNORECASE)
_CREATED = re.compile(r"\bAdapter ([0-9]{1,6}): Created VD ([0-9]{1,6})\b", re.ASCII | re.IGNORECASE)


def judge(command: Command, done: Completed) -> Answer:
    """Return whether a change succeeded.

    It succeeded if a line reports success for this controller and virtual drive, no line reports failure, and the `Exit
    Code`, if there is one, is 0x00 or asks for a reboot or a reset. The exit status of the program counts only if it
    was killed.
    """
    text = _mask(_shorten(f"{done.stdout}\n{done.stderr}").replace("\r", ""), command.secret)
    code = exit_code(text)
    rows = [row for line in text.split("\n") if (row := clean(line, 400)) and not _CODE.match(row)]
    bad = [row for row in rows if _BAD.search(_NAMES.sub("", row)) and not _is_notice(row)]
    if _CRASHED.search(text) or done.returncode < 0:
        return Answer(ok=False, message=_sentence("MegaCli crashed, and the change may or may not have happened", rows))
    if not rows and code is None:
        return Answer(ok=False, message="MegaCli printed nothing, so the change may or may not have happened.")
    if code in PENDING:
        return Answer(ok=True, message=_join(rows), pending=_pending(text) or PENDING[code])
    return _judge_failure(code, bad, rows) or _judge_own_line(command.argv, code, rows, text)


def _judge_failure(code: int | None, bad: Sequence[str], rows: Sequence[str]) -> Answer | None:
    """Return the failure that the exit code or a word such as `failed` reports, or None."""
    if code not in (None, DONE):
        why = MEANINGS.get(code, "a code without a known meaning")
        return Answer(
            ok=False, message=_sentence(f"MegaCli refused the change with code 0x{code:02x}, {why}", bad or rows)
        )
    return Answer(ok=False, message=_sentence("MegaCli refused the change", bad)) if bad else None


def _judge_own_line(argv: Sequence[str], code: int | None, rows: Sequence[str], text: str) -> Answer:
    """Return whether the change succeeded by the line about the object itself, which has to report success."""
    pattern, certain = _expected_line(argv)
    own_rows = [row for row in rows if re.search(pattern, row, re.ASCII | re.IGNORECASE)]
    if not own_rows and (certain or code is None):
        return Answer(ok=False, message=_sentence("MegaCli did not confirm the change", rows))
    quoted_rows = [*own_rows, *(row for row in rows if _is_notice(row))] or rows
    return Answer(ok=True, message=_join(quoted_rows), pending=_pending(text))


def exit_code(text: str) -> int | None:
    """Return the number in the last `Exit Code: 0xNN`, or None if the tool printed none, as some builds do."""
    codes = _CODE.findall(text)
    return int(codes[-1], 16) if codes else None


def deleted_target_id(text: str) -> int | None:
    """Return the target id of the virtual drive that was deleted, or None."""
    match = _DELETED.search(text)
    return int(match[2]) if match else None


def created_number(text: str) -> int | None:
    """Return the number of the virtual drive that was created, or None."""
    match = _CREATED.search(text)
    return int(match[2]) if match else None


def number(argv: Sequence[str], option: str) -> int | None:
    """Return the number in `-L1` or `-a0`, or None without that option."""
    for word in argv:
        if word.startswith(option) and word[len(option) :].isascii() and word[len(option) :].isdigit():
            return int(word[len(option) :])
    return None


def _expected_line(argv: Sequence[str]) -> tuple[str, bool]:
    """Return the pattern of the line that confirms a command, and whether its wording is known from recordings.

    If it is not known, exit code 0x00 without a word such as `failed` also counts as success.
    """
    card, volume = number(argv, "-a"), number(argv, "-L")
    on_card = rf"\bAdapter:? ?#?{card}\b" if card is not None else r"\bAdapter\b"
    created_number = (rf"{on_card}.{{0,20}}\bCreated VD [0-9]+", True)
    scheduled = (rf"{on_card}.{{0,80}}\bset to\b", False)
    expected = {
        "-ldsetprop": (rf"{on_card}.{{0,80}}\bVD ?#?{volume}\b.{{0,120}}\bsuccess", "-Name" not in argv),
        "-cfglddel": (rf"{on_card}.{{0,20}}\bDeleted Virtual Drive-[0-9]+\(target id-{volume}\)", True),
        "-cfgldadd": created_number,
        "-cfgspanadd": created_number,
        "-adpsetprop": (rf"{on_card}.{{0,80}}\bsuccess", False),
        "-adppr": scheduled,
        "-adpccsched": scheduled,
        "-adpautorbld": (rf"{on_card}.{{0,80}}\b(?:enabled|disabled|success)", False),
        "-elf": (r"\bsuccessfully\b", False),
    }
    verb = argv[1].lower() if len(argv) > 1 else ""
    return expected.get(verb, (r"\b(?:success|enabled|disabled)", False))


def _is_notice(row: str) -> bool:
    return any(text in row.lower() for text in _NOTICES)


def _pending(text: str) -> str:
    if _RESTART.search(text):
        return "reboot"
    return "controller reset" if _RESET.search(text) else ""


def _shorten(text: str) -> str:
    """Return the text, without its middle if it is too long. The output of a change normally has only a few lines."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"


def _mask(text: str, secret: Sequence[str]) -> str:
    for word in secret:
        if word:
            text = text.replace(word, "***")
    return text


def _join(rows: Sequence[str]) -> str:
    return clean(" ".join(rows), 400)


def _sentence(beginning: str, rows: Sequence[str]) -> str:
    text = _join(rows).rstrip(".")
    return f"{beginning}: {text}." if text else f"{beginning}."
