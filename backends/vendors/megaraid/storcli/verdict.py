"""Decides from the rows of the objects whether a change succeeded, never from the exit status. No I/O.

Version 7 exits with 0 even if a row reports failure, and version 8 even if objects are missing. Some rows that report
failure have a code that means success.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.subject import misnamed_reason
from backends.text import clean
from backends.tool_output import first_lines_text
from backends.vendors.megaraid.dialect import Answer
from backends.vendors.megaraid.storcli.document import Reply, replies
from backends.vendors.megaraid.storcli.fields import Fields, tables
from backends.vendors.megaraid.storcli.named import misnaming_reason
from backends.vendors.megaraid.storcli.topology import volume_path

PENDING = {89: "controller reset", 116: "reboot", 132: "reboot"}
"""Codes of changes that take effect only after this step (Broadcom's table as listed in pystorcli2; 89 is 0x59)."""

SENTENCES = {
    13: "there is not enough space",
    34: "the required hardware is missing",
    38: "a drive is not suitable",
    50: "the state of the device does not allow the change",
    59: "a foreign configuration is incomplete",
    84: (
        "the controller has unwritten data of a missing array (preserved cache). Restore the array or discard the "
        "data first"
    ),
    94: "the activation key is for another controller",
    106: "the controller is in safe mode",
    118: "the change is not possible in this configuration",
    151: "the controller does not support this policy",
    153: "the controller must be shut down first",
}
"""Reasons by the other codes, for rows without a message of their own."""

_GOOD = {"success", "succeeded", "ok"}


def judge(text: str, truncated: bool = False, where: str = "") -> Answer:
    """Return whether the command succeeded, by its output. `where`: the path in the command (`/c0/v1`); "" for any."""
    all_replies = replies(text)
    if truncated:
        return Answer(ok=False, message="The output was endless and was truncated.")
    if not all_replies:
        output = first_lines_text(text)
        return Answer(ok=False, message=f"The tool reports: {output}" if output else "The tool printed nothing.")
    if why := misnaming_reason(all_replies, where) or _other_volume(all_replies, where):
        return Answer(ok=False, message=f"The tool reported a different object: {why}.")
    pending = ""
    messages: list[str] = []
    for reply in all_replies:
        rows = list(_rows(reply))
        verdicts = [_row(row) for row in rows]
        bad = [verdict for verdict in verdicts if not verdict.ok]
        if bad:
            return bad[0] if bad[0].message else Answer(ok=False, message=_failure_text(reply))
        pending = pending or next((verdict.pending for verdict in verdicts if verdict.pending), "")
        if not reply.ok and not pending:
            return Answer(ok=False, message=_failure_text(reply))
        pending = pending or _pending_step(reply.description)
        messages += filter(None, [reply.description, *(verdict.message for verdict in verdicts)])
    return Answer(ok=True, message=clean(". ".join(dict.fromkeys(messages)), 300), pending=pending)


def _other_volume(all_replies: Sequence[Reply], where: str) -> str:
    """Return why result rows are not about the virtual drive of a path, as a clause; "" if they are."""
    asked = volume_path(where)
    if asked is None:
        return ""
    numbers = (row.whole("vd") for reply in all_replies for row in reply.status.rows("detailed status"))
    named = [f"virtual drive {number}" for number in numbers if number is not None]
    return misnamed_reason(f"virtual drive {asked}", named, once=False, required=False)


def _rows(reply: Reply) -> Iterator[Fields]:
    """Yield the rows of `Detailed Status`, and the result rows that version 8 prints in the data (`VD Information`)."""
    yield from reply.status.rows("detailed status")
    for heading, row in tables(reply.data, "status"):
        if heading == "Detailed Status" or "errcd" in row:
            yield row


def _row(row: Fields) -> Answer:
    word = (row.text("status") or "").lower()
    code = row.whole("errcd")
    text = row.text("errmsg", "msg", "description") or ""
    if code in PENDING:
        return Answer(ok=True, message=text, pending=PENDING[code])
    if word in _GOOD and not code:
        return Answer(ok=True, message="", pending=_pending_step(text))
    reason = text or SENTENCES.get(code or 0, "")
    number = f" (code {code})" if code else ""
    return Answer(ok=False, message=f"{reason}{number}".strip() if reason or number else "")


def _pending_step(text: str) -> str:
    """Return `reboot` or `controller reset` if the tool's message says that the change needs it, else ""."""
    plain = text.lower()
    if "controller reset" in plain and "requir" in plain:
        return "controller reset"
    if ("reboot" in plain or "restart" in plain) and ("requir" in plain or "take effect" in plain or "please" in plain):
        return "reboot"
    return ""


def _failure_text(reply: Reply) -> str:
    return reply.description or "The tool reports a failure without a reason"
