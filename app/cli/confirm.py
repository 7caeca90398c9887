"""The review of a change and its confirmation, on the terminal or by options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from app.cli.output import Verbatim, ask, can_ask, say, say_lines
from app.cli.render import table_lines, with_sign
from app.core.presentation import change as view
from app.core.presentation.risk_text import ConfirmationLevel, confirmation_level, outcome_cell
from backends.change import Change, ChangeStep
from backends.device_label import DeviceLabel, confirm_token
from backends.errors import RaidbenchError, RefusedError
from backends.settings import Risk
from backends.text import clean, quote

if TYPE_CHECKING:
    from app.core.session.events import ChangeEnded
    from app.core.workbench import Workbench

# -- review of a change -----------------------------------------------------------------------------------------------


def review_lines(changes: Sequence[Change]) -> list[str]:
    """Return the review of planned changes as lines: a table, exact commands, side effects, risks, undo commands."""
    moved = [f"  {clean(sentence, 400)}" for sentence in view.side_effect_texts(changes)]
    risks = [f"  {clean(sentence, 400)}" for sentence in view.risk_texts(changes)]
    back = [step for change in reversed(changes) for step in change.undo]
    never = [f"{change.label} of {change.target}" for change in changes if not change.undo]
    nothing = f"Cannot be undone: {clean(', '.join(never), 400)}." if back else "This cannot be undone."
    return [
        *table_lines(view.planned_table(changes)),
        *dependent_lines(changes),
        "",
        "Commands:",
        *step_lines(step for change in changes for step in change.writes),
        *(["", "Side effects:", *moved] if moved else []),
        *(["", "Risks:", *risks] if risks else []),
        "",
        *(["To undo (raidbench undo):", *step_lines(back)] if back else []),
        *([nothing] if never else []),
    ]


def dependent_lines(changes: Iterable[Change]) -> list[str]:
    """Return sentences about the volumes and mounts that depend on the changed devices."""
    return [clean(sentence, 400) for sentence in view.dependents_texts(changes)]


def outcome_lines(change: Change, ended: ChangeEnded) -> list[str]:
    """Return the outcome of a change as lines: the setting's current value, and other settings that changed."""
    if not ended.was_set:  # The value was set already, or it did not last.
        text = "already " if ended.result == "verified" else ""
        now = clean(f"{text}{view.end_text(change, ended)}", 1000)
        return [f"{with_sign(outcome_cell(ended.result))}  {change.target} {change.key}: {now}"]
    text = clean(f"{view.old_text(change)} -> {view.end_text(change, ended)}", 1000)
    head = f"{with_sign(outcome_cell(ended.result))}  {ended.id}  {change.target} {change.key}"
    return [f"{head}: {text}", *moved_lines(change, ended)]


def report_not_done(changes: Iterable[Change]) -> None:
    """Report on standard error the changes of a set that were not made."""
    for change in changes:
        say(f"Not applied: {clean(view.subject_text(change), 200)} was not set to {clean(view.new_text(change), 200)}.")


def moved_lines(change: Change, ended: ChangeEnded) -> list[str]:
    """Return an indented line for each other setting that a change altered, to be shown below the change's outcome."""
    return [f"   {clean(sentence, 400)}" for sentence in view.moved_texts(ended, change.label)]


def step_lines(writes: Iterable[ChangeStep]) -> list[str]:
    """Return the commands of steps as a user would type them."""
    return [Verbatim(f"  {clean(line, 400)}") for line in view.command_lines(writes)]


def ending_json(bench: Workbench, error: RaidbenchError | None) -> dict[str, Any]:
    """Return, as JSON, the error that ended a set of changes early, if any, and the folder of the session."""
    fields = None if error is None else {"message": error.message, "hint": error.hint or None}
    return {"error": fields, "session": None if bench.folder is None else str(bench.folder)}


# -- confirmation, on the terminal or by options ----------------------------------------------------------------------


def confirm_harmless(action: str, *, yes: bool) -> None:
    """Ask for confirmation of a harmless action, such as "Apply"; return if the user confirms it. `yes`: do not ask.

    Raises RefusedError if the user declines or there is no terminal, EOFError if the input ends.
    """
    if yes:
        return
    if not can_ask():
        raise _no_terminal_error("--yes")
    if ask(f"{action}? [y/N]").lower() not in ("y", "yes"):
        raise _declined_error()


def require_confirmation(
    risk: Risk, labels: Sequence[DeviceLabel], *, yes: bool, typed: str | None, action: str
) -> str | None:
    """Ask for confirmation of an action, and return the confirmation token of the devices; "" without devices.

    A harmless action needs `y`, or --yes. A risky one needs `yes`, or --yes with --confirm TOKEN. One that destroys
    data needs the token, typed or given with --confirm TOKEN. `labels`: the labels of the devices. `typed`: the value
    of --confirm. `action`: the verb of the confirmation prompt ("Apply").

    Raises RefusedError if the user declines, `typed` is wrong or there is no terminal; EOFError if the input ends.
    """
    word = confirm_token(labels)
    if typed is not None and labels and typed != word:
        raise RefusedError(
            f"--confirm {clean(typed, 60)} is not the confirmation token. {_label_sentences(labels)}",
            hint=f"Nothing was done. To confirm, add {_confirm_option(word)}.",
        )
    match confirmation_level(risk):
        case ConfirmationLevel.HARMLESS:
            confirm_harmless(action, yes=yes)
        case ConfirmationLevel.RISKY if not (yes and typed is not None):
            _confirm_risky(labels, action, word)
        case ConfirmationLevel.DESTRUCTIVE if typed is None:
            _confirm_destructive(labels, action, word)
    return word


def _label_sentences(labels: Sequence[DeviceLabel]) -> str:
    return " ".join(sentence for label in labels for sentence in label.sentences)


def _confirm_option(word: str) -> str:
    return f"--confirm {quote(word)}"


def _confirm_risky(labels: Sequence[DeviceLabel], action: str, word: str) -> None:
    if not can_ask():
        raise _no_terminal_error(f"--yes {_confirm_option(word)}", labels)
    say_lines(sentence for label in labels for sentence in label.sentences)
    if ask(f"{action} despite the risk above? Type yes") != "yes":
        raise _declined_error()


def _confirm_destructive(labels: Sequence[DeviceLabel], action: str, word: str) -> None:
    if not can_ask():
        raise _no_terminal_error(_confirm_option(word), labels)
    say_lines(sentence for label in labels for sentence in label.sentences)
    if ask(f"{action}? This DESTROYS DATA. Type {word} to continue") != word:
        raise _declined_error()


def _no_terminal_error(options: str, labels: Sequence[DeviceLabel] = ()) -> RefusedError:
    return RefusedError(
        " ".join(
            filter(
                None,
                ("Nothing was done: confirmation is required, but there is no terminal.", _label_sentences(labels)),
            )
        ),
        hint=f"Add {options} to confirm without a terminal.",
    )


def _declined_error() -> RefusedError:
    say()
    return RefusedError("Nothing was done.")
