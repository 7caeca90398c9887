"""What a change would do, and the question about it: on the terminal, or by options where nobody can be asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from app.cli.output import ask, can_ask, say
from app.cli.render import marked, table_lines
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

# -- what a change would do, shown before it is asked about -----------------------------------------------------------


def review(changes: Sequence[Change]) -> list[str]:
    """The table, the exact commands, what else moves, the risks in words, the way back."""
    moved = [f"  {clean(sentence, 400)}" for sentence in view.side_effect_texts(changes)]
    risks = [f"  {clean(sentence, 400)}" for sentence in view.risk_texts(changes)]
    back = [step for change in reversed(changes) for step in change.undo]
    never = [f"{change.label} of {change.target}" for change in changes if not change.undo]
    nothing = f"Nothing takes back {clean(', '.join(never), 400)}." if back else "Nothing takes it back."
    return [
        *table_lines(view.planned_table(changes)),
        *above_lines(changes),
        "",
        "What is run:",
        *steps(step for change in changes for step in change.writes),
        *(["", "What else it may change:", *moved] if moved else []),
        *(["", "What it risks:", *risks] if risks else []),
        "",
        *(["What takes it back (raidbench undo):", *steps(back)] if back else []),
        *([nothing] if never else []),
    ]


def above_lines(changes: Iterable[Change]) -> list[str]:
    """What stands on what is changed."""
    return [clean(sentence, 400) for sentence in view.dependents_texts(changes)]


def outcome_lines(change: Change, ended: ChangeEnded) -> list[str]:
    """Return what came of a step of a set: how its value is now, and what else has moved."""
    if not ended.was_set:  # it had nothing to do, or its value was lost since
        output = "already " if ended.result == "verified" else ""
        now = clean(f"{output}{view.end_text(change, ended)}", 1000)
        return [f"{marked(outcome_cell(ended.result))}  {change.target} {change.key}: {now}"]
    output = clean(f"{view.old_text(change)} -> {view.end_text(change, ended)}", 1000)
    head = f"{marked(outcome_cell(ended.result))}  {ended.id}  {change.target} {change.key}"
    return [f"{head}: {output}", *moved_lines(change, ended)]


def tell_not_done(changes: Iterable[Change]) -> None:
    """Say which changes of a set were not made."""
    for change in changes:
        say(f"Not done: {clean(view.subject_text(change), 200)} is not set to {clean(view.new_text(change), 200)}.")


def moved_lines(change: Change, ended: ChangeEnded) -> list[str]:
    """Return a line for each other setting that a change has moved, below the line of its outcome."""
    return [f"   {clean(sentence, 400)}" for sentence in view.moved_texts(ended, change.key)]


def steps(writes: Iterable[ChangeStep]) -> list[str]:
    """The lines a person would type."""
    return [f"  {clean(line, 400)}" for line in view.command_lines(writes)]


def ending_json(bench: Workbench, trouble: RaidbenchError | None) -> dict[str, Any]:
    """Return what ended a set of changes before its end, and the session that has it."""
    error = None if trouble is None else {"message": trouble.message, "hint": trouble.hint or None}
    return {"error": error, "session": None if bench.folder is None else str(bench.folder)}


# -- asking before anything is changed: on the terminal, or by options where there is nobody to ask -------------------


def confirm_harmless(what: str, *, yes: bool) -> None:
    """Return if a harmless thing ("Apply") may be done. Raises RefusedError, EOFError when the answer never comes."""
    if yes:
        return
    if not can_ask():
        raise _nobody("--yes")
    if ask(f"{what}? [y/N]").lower() not in ("y", "yes"):
        raise _declined()


def confirmed(risk: Risk, plates: Sequence[DeviceLabel], *, yes: bool, typed: str | None, what: str) -> str | None:
    """Return if it may be done, with the word that meant it.

    Harmless: `y`, or --yes. Dangerous: `yes`, or --yes with --confirm WORD. Destroys data: the word, typed or given
    with --confirm. `plates`: the devices in question; `typed` is what --confirm says, `what` the thing asked for
    ("Apply"). Raises RefusedError saying what to add; EOFError when the answer never comes.
    """
    word = confirm_token(plates)
    if typed is not None and plates and typed != word:
        raise RefusedError(
            f"--confirm says {clean(typed, 60)}, but {_sentences(plates)}",
            hint=f"Nothing was done. Mean it with {_option(word)}.",
        )
    match confirmation_level(risk):
        case ConfirmationLevel.HARMLESS:
            confirm_harmless(what, yes=yes)
        case ConfirmationLevel.RISKY:
            _dangerous(plates, what, yes=yes, named=typed is not None)
        case ConfirmationLevel.DESTRUCTIVE:
            _destroying(plates, what, named=typed is not None)
    return word


def _sentences(plates: Sequence[DeviceLabel]) -> str:
    return " ".join(plate.sentence for plate in plates)


def _option(word: str) -> str:
    return f"--confirm {quote(word)}"


def _dangerous(plates: Sequence[DeviceLabel], what: str, *, yes: bool, named: bool) -> None:
    if yes and named:
        return
    if not can_ask():
        raise _nobody(f"--yes {_option(confirm_token(plates))}", plates)
    _show(plates)
    if ask(f"{what}, with the risk above? Type yes") != "yes":
        raise _declined()


def _destroying(plates: Sequence[DeviceLabel], what: str, *, named: bool) -> None:
    if named:
        return
    if not can_ask():
        raise _nobody(_option(confirm_token(plates)), plates)
    _show(plates)
    word = confirm_token(plates)
    if ask(f"{what}, and lose what is there? Type {word}") != word:
        raise _declined()


def _show(plates: Sequence[DeviceLabel]) -> None:
    for plate in plates:
        say(plate.sentence)


def _nobody(options: str, plates: Sequence[DeviceLabel] = ()) -> RefusedError:
    return RefusedError(
        " ".join(filter(None, ("Nothing was done: there is no terminal to confirm it on.", _sentences(plates)))),
        hint=f"Add {options} to do it without being asked.",
    )


def _declined() -> RefusedError:
    say()
    return RefusedError("Nothing was done.")
