"""Did a setting take? Judged by what MegaCli says of the very object, never by its exit status. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.host import Command, Completed
from backends.text import clean
from backends.values import dataclass
from backends.vendors.megaraid.dialect import Answer
from backends.vendors.megaraid.megacli.codes import DONE, MEANINGS, PENDING

_CODE = re.compile(r"^[ \t]*Exit Code: ?0x([0-9a-f]{1,8})[ \t]*$", re.ASCII | re.IGNORECASE | re.MULTILINE)
_BAD = re.compile(
    r"\b(?:fail(?:s|ed|ure)?|errors?|invalid|illegal|denied|deprecated|unsupported|cannot|unable|unknown|usage"
    r"|not (?:supported|allowed|found|exist|permitted|possible|valid|have|present|available))\b",
    re.ASCII | re.IGNORECASE,
)
_CRASHED = re.compile(r"\bsegmentation fault\b|\bcore dumped\b|^(?:Aborted|Bus error)\b", re.IGNORECASE | re.MULTILINE)
_LONGEST = 200_000
"""Characters of an answer that are looked at: half from the beginning, half from the end."""

_NOTICES = (
    "get bbu status failed",
    "will not come into effect immediately",
    "failed while adding the configuration to os",
)
"""Lines that say nothing about the object, whatever they say failed. Write-back without a battery is set and waits
for one, in two lines before the object's own; the operating system was not told of a configuration that was changed."""

_RESTART = re.compile(r"\b(?:restart|reboot|power cycle)\b", re.ASCII | re.IGNORECASE)
_RESET = re.compile(r"\bcontroller reset\b", re.ASCII | re.IGNORECASE)
_DELETED = re.compile(r"\bDeleted Virtual Drive-([0-9]{1,6})\(target id-([0-9]{1,6})\)", re.ASCII | re.IGNORECASE)
_CREATED = re.compile(r"\bAdapter ([0-9]{1,6}): Created VD ([0-9]{1,6})\b", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Expected:
    """What a good answer holds."""

    row: re.Pattern[str]
    """The object's own line."""
    certain: bool
    """Whether its words are known from recordings; if not, exit code 0x00 without a bad word does as well."""


def judge(command: Command, done: Completed) -> Answer:
    """The verdict on a command that changes something.

    `ok` when a line of the answer says success for this very card and virtual drive, none says failure, and the
    `Exit Code`, if there is one, is 0x00 or one that asks for a reboot or a reset. The program's exit status is
    looked at only when it was killed.
    """
    text = _masked(_shortened(f"{done.stdout}\n{done.stderr}").replace("\r", ""), command.secret)
    code = exit_code(text)
    rows = [row for line in text.split("\n") if (row := clean(line, 400)) and not _CODE.match(row)]
    bad = [row for row in rows if _BAD.search(row) and not _notice(row)]
    if _CRASHED.search(text) or done.returncode < 0:
        return Answer(ok=False, message=_sentence("MegaCli crashed and may have changed something or nothing", rows))
    if not rows and code is None:
        return Answer(ok=False, message="MegaCli gave no answer, so whether it did it is not known.")
    if code in PENDING:
        return Answer(ok=True, message=_joined(rows), pending=_pending(text) or PENDING[code])
    if code not in (None, DONE):
        why = MEANINGS.get(code or 0, "a code without a known meaning")
        return Answer(ok=False, message=_sentence(f"MegaCli refused it with code 0x{code:02x}, {why}", bad or rows))
    if bad:
        return Answer(ok=False, message=_sentence("MegaCli refused it", bad))
    expected = _expected(command.argv)
    own = [row for row in rows if expected.row.search(row)]
    if not own and (expected.certain or code is None):
        return Answer(ok=False, message=_sentence("MegaCli did not say that it did it", rows))
    return Answer(ok=True, message=_joined(own + [row for row in rows if _notice(row)] or rows), pending=_pending(text))


def exit_code(text: str) -> int | None:
    """The last `Exit Code: 0xNN`; None if it is missing, as it sometimes is."""
    found = _CODE.findall(text)
    return int(found[-1], 16) if found else None


def deleted(text: str) -> int | None:
    """Target id of the virtual drive that is said to be deleted."""
    match = _DELETED.search(text)
    return int(match[2]) if match else None


def created(text: str) -> int | None:
    """Number of the virtual drive that is said to be created."""
    match = _CREATED.search(text)
    return int(match[2]) if match else None


def number(argv: Sequence[str], option: str) -> int | None:
    """The number in `-L1` or `-a0`; None without it."""
    for word in argv:
        if word.startswith(option) and word[len(option) :].isascii() and word[len(option) :].isdigit():
            return int(word[len(option) :])
    return None


def _expected(argv: Sequence[str]) -> _Expected:
    """The line that each command answers with for its card and virtual drive."""
    card, volume = number(argv, "-a"), number(argv, "-L")
    on_card = rf"\bAdapter:? ?#?{card}\b" if card is not None else r"\bAdapter\b"
    on_volume = rf"{on_card}.{{0,80}}\bVD ?#?{volume}\b.{{0,120}}\bsuccess"
    verb = argv[1].lower() if len(argv) > 1 else ""
    match verb:
        case "-ldsetprop":
            return _row(on_volume, certain="-Name" not in argv)
        case "-cfglddel":
            return _row(rf"{on_card}.{{0,20}}\bDeleted Virtual Drive-[0-9]+\(target id-{volume}\)", certain=True)
        case "-cfgldadd" | "-cfgspanadd":
            return _row(rf"{on_card}.{{0,20}}\bCreated VD [0-9]+", certain=True)
        case "-adpsetprop":
            return _row(rf"{on_card}.{{0,80}}\bsuccess", certain=False)
        case "-adppr" | "-adpccsched":
            return _row(rf"{on_card}.{{0,80}}\bset to\b", certain=False)
        case "-elf":
            return _row(r"\bsuccessfully\b", certain=False)
        case _:
            return _row(r"\b(?:success|enabled|disabled)", certain=False)


def _row(pattern: str, *, certain: bool) -> _Expected:
    return _Expected(re.compile(pattern, re.ASCII | re.IGNORECASE), certain)


def _notice(row: str) -> bool:
    return any(words in row.lower() for words in _NOTICES)


def _pending(text: str) -> str:
    if _RESTART.search(text):
        return "reboot"
    return "controller reset" if _RESET.search(text) else ""


def _shortened(text: str) -> str:
    """Answers to settings are a few lines; what floods is cut in the middle."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"


def _masked(text: str, secret: Sequence[str]) -> str:
    for word in secret:
        if word:
            text = text.replace(word, "***")
    return text


def _joined(rows: Sequence[str]) -> str:
    return clean(" ".join(rows), 400)


def _sentence(beginning: str, rows: Sequence[str]) -> str:
    words = _joined(rows).rstrip(".")
    return f"{beginning}: {words}." if words else f"{beginning}."
