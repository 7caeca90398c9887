"""Runs storcli commands that read, with `nolog` if the build supports it. Errors quote the tool."""

from __future__ import annotations

from dataclasses import replace

from backends.errors import RaidbenchError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.subject import refused_text
from backends.tool_output import CUT, CompletenessCheck, failure_sentence, first_lines_text, manual_run_hint
from backends.vendors.megaraid.storcli import commands
from backends.vendors.megaraid.storcli.document import Reply, replies, reply_about
from backends.vendors.megaraid.storcli.fields import Data
from backends.vendors.megaraid.storcli.named import misnaming_reason

_UNFIT = ("un-supported command", "unsupported command", "syntax error", "unexpected token", "invalid command")
"""Phrases that a build prints if it does not understand an argument of the command."""


def retry_command(command: Command, done: Completed) -> Command | None:
    """Return the command without `nolog` if this build did not understand it, else None.

    A command that the tool did not understand has done nothing, so it is safe to run it again, even for changes.
    """
    if "nolog" not in command.argv:
        return None
    printed = (done.stdout + done.stderr).lower()
    if not any(phrase in printed for phrase in _UNFIT):  # cheap check, so that large output is not parsed twice
        return None
    answers = replies(done.stdout)
    text = " ".join(reply.description for reply in answers) if answers else first_lines_text(done.stdout + done.stderr)
    unfit = any(phrase in text.lower() for phrase in _UNFIT)
    return commands.without_nolog(command) if unfit and not any(reply.ok for reply in answers) else None


WHOLE = CompletenessCheck(
    tool="storcli, perccli, storcli2, perccli2",
    mark="a complete JSON document, or text that lists all drives and virtual drives that the controller counts",
    missing=lambda text: (
        "" if replies(text) or (text.strip() and "{" not in text) else "the JSON document is incomplete"
    ),
    hides="everything after the last table, if the build prints text for `J`",
    statuses=frozenset(),
)
"""How to detect truncated output. The exit status is the error code of the last object, so any is accepted."""


class UnreadableError(ToolFailedError):
    """The tool crashed or its output is unusable; a different command may work."""


class StorCliReader:
    """Runs one tool's commands that read, one at a time."""

    def __init__(self, host: Host, tool: str) -> None:
        self.version: str | None = None
        """Version that the tool reports; None before the first read."""
        self.warnings: tuple[str, ...] = ()
        """Errors that the tool reported in the last required reply, which is used nevertheless."""
        self.cut = ""
        """Message about the first truncated or refused output since `begin`; "" if there is none."""
        self._host = host
        self._tool = tool
        self._bare: set[tuple[str, ...]] = set()

    def begin(self) -> None:
        """Start a scan: forget earlier truncated output."""
        self.cut = ""

    def _note_truncation(self, *arguments: str) -> str:
        sentence = f"{self._tool} {' '.join(arguments)}: {CUT}."
        self.cut = self.cut or sentence
        return sentence

    async def run(self, command: Command) -> Completed:
        """Run a command that reads, without `nolog` if unsupported. Raises ToolMissingError, ToolTimeoutError."""
        verbs = command.argv[2:]
        if verbs in self._bare:
            return await self._host.run(commands.without_nolog(command))
        done = await self._host.run(command)
        without_nolog = retry_command(command, done)
        if without_nolog is None:
            return done
        once_more = await self._host.run(without_nolog)
        if retry_command(replace(without_nolog, argv=command.argv), once_more) is not None:
            return done  # the tool does not understand the command without `nolog` either, so keep `nolog`
        self._bare.add(verbs)
        return once_more

    async def replies(self, command: Command) -> tuple[Completed, tuple[Reply, ...]]:
        """Run a command that reads. Return its output and all replies; store the reported version."""
        done = await self.run(command)
        answers = replies(done.stdout)
        self.version = next((text for reply in answers if (text := reply.status.text("cli version"))), self.version)
        return done, answers

    def _require_named(self, command: Command, done: Completed, matches: tuple[Reply, ...], where: str) -> None:
        """Raise ToolFailedError if the replies are about another object than `where`, or contradict themselves."""
        if why := misnaming_reason(matches, where):
            sentence = refused_text(command, why)
            self.cut = self.cut or sentence
            raise ToolFailedError(sentence, hint=manual_run_hint(command), evidence=(done.stdout + done.stderr)[:4000])

    async def read_answer(self, card: int, *arguments: str) -> Reply | None:
        """Return the reply about a controller, or None if it is not understood.

        Raises UnreadableError for missing output and truncated JSON. Raises ToolFailedError for output that is too long
        or about another object, ToolTimeoutError if the tool does not finish in time.
        """
        command = commands.read(self._tool, *arguments)
        done, replies = await self.replies(command)
        if done.truncated:
            raise ToolFailedError(f"The output of {self._tool} for {' '.join(arguments)} is too long.")
        self._require_named(command, done, replies, arguments[0])
        reply = reply_about(replies, card)
        if reply is None and WHOLE.lost(done):
            self._note_truncation(*arguments)
            raise self.failure_error(command, done, None)
        return reply

    async def read_required(self, card: int, *arguments: str) -> Data:
        """Return the data of a required reply.

        Raises UnreadableError if there is none, ToolFailedError if it is about another object.
        """
        command = commands.read(self._tool, *arguments)
        done, replies = await self.replies(command)
        self._require_named(command, done, replies, arguments[0])
        reply = reply_about(replies, card)
        if done.truncated or reply is None or not reply.data:
            raise self.failure_error(command, done, reply)
        self.warnings = self._warnings(reply, *arguments)
        return reply.data

    async def read_optional(
        self, problems: list[str], card: int, *arguments: str, or_else: tuple[str, ...] = ()
    ) -> Data:
        """Return the data of a reply that may be missing. If it is, append a problem that quotes the tool.

        `or_else`: arguments of another command about the same object, to run if the first output is not understood.
        """
        try:
            reply = await self.read_answer(card, *arguments)
        except UnreadableError as error:
            problems.append(error.message)
            return await self.read_optional(problems, card, arguments[0], *or_else) if or_else else Data()
        except RaidbenchError as error:
            problems.append(error.message)
            return Data()
        if reply is None:
            problems.append(f"The output of {self._tool} for {' '.join(arguments)} cannot be parsed.")
            return await self.read_optional(problems, card, arguments[0], *or_else) if or_else else Data()
        problems += self._warnings(reply, *arguments)
        return reply.data

    async def read_refusable(self, problems: list[str], card: int, *arguments: str) -> Data:
        """Return the data of an optional reply. Truncated output adds a problem, but a refusal by the tool does not."""
        reply = await self.read_or_none(problems, card, *arguments)
        return Data() if reply is None else reply.data

    def _warnings(self, reply: Reply, *arguments: str) -> tuple[str, ...]:
        """Return messages about errors in a reply that is used nevertheless."""
        # One bad drive fails the whole command, so a failed reply may still have useful data.
        warnings = () if reply.ok else (self.refusal_text(reply, *arguments),)
        return warnings if reply.data.ends is not False else (*warnings, self._note_truncation(*arguments))

    def refusal_text(self, reply: Reply, *arguments: str) -> str:
        """Return a message with the tool's reason for a failure."""
        reason = reply.description or first_failure(reply) or "no reason given"
        return f"{self._tool} {' '.join(arguments)}: {reason.rstrip('.')}."

    async def read_or_none(self, problems: list[str], card: int, *arguments: str) -> Reply | None:
        """Return the reply about an optional object. If it is missing or truncated, add a problem and return None."""
        try:
            reply = await self.read_answer(card, *arguments)
        except RaidbenchError as error:
            problems.append(f"{' '.join(arguments)}: {error.message}")
            return None
        if reply is not None and reply.data.ends is False:
            problems.append(self._note_truncation(*arguments))
        return reply

    def failure_error(self, command: Command, done: Completed, reply: Reply | None) -> ToolFailedError:
        """Return the error for unusable output, which quotes the tool."""
        text = (
            (reply.description or first_failure(reply))
            if reply is not None
            else first_lines_text(done.stdout or done.stderr)
        )
        headless = reply is not None and (reply.ok or not text)  # a status without data
        unreadable = not done.truncated and (reply is None or headless)
        ended = f" (exit status {done.returncode})" if done.returncode else ""
        message = failure_sentence(self._tool, text, ended)
        if headless or (reply is None and '"Controllers"' in done.stdout):
            message = f"The output of {self._tool} is truncated{ended}."
        if done.truncated:
            message = f"{self._tool} printed endless output, which was truncated."
        kind = UnreadableError if unreadable else ToolFailedError
        return kind(
            message,
            hint=f"Run the command manually: {' '.join(command.argv)}",
            evidence=(done.stdout + done.stderr)[:4000],
        )


def first_failure(reply: Reply) -> str:
    """Return the drive and the error message of the first failed row, or "" if no row failed."""
    for row in reply.status.rows("detailed status"):
        if (row.text("status") or "").lower() not in ("success", ""):
            where = row.text("drive") or ""
            return " ".join(filter(None, (where, row.text("errmsg", "description") or "failed")))
    return ""
