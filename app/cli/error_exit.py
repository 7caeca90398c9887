"""Turns every error of a command into an exit status and a message. The terminal never shows a traceback."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import click

from app.cli.async_runner import InterruptedByUserError
from app.cli.exit_status import DONE, FAILED, INTERRUPTED, REFUSED, USAGE
from app.cli.options import current
from app.cli.output import BrokenPipeOutputError, document_count, forget_stdout, print_json, report_error, say
from app.core.session.paths import private_folder
from backends.errors import AnotherDeviceError, InvalidValueError, NotFoundError, RaidbenchError, RefusedError
from backends.text import clean

_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Error numbers of a failed write to standard output that is redirected to a file."""


def exit_status(error: RaidbenchError) -> int:
    """Return the exit status for an error: 3 if an action was refused, 2 for wrong usage, 1 for all others."""
    match error:
        case RefusedError() | AnotherDeviceError():
            return REFUSED
        case InvalidValueError() | NotFoundError():
            return USAGE
        case _:
            return FAILED


def run_guarded(command: Callable[[], object], *, as_json: bool = False) -> int:
    """Run a command and return its exit status. Report every exception; raise none.

    `as_json`: also print the error as a JSON document, unless the command has already printed one.
    """
    printed_before = document_count()

    def report_json(status: int, message: str, hint: str | None = None, evidence: str | None = None) -> None:
        if as_json and document_count() == printed_before:
            with contextlib.suppress(RaidbenchError):  # The error was reported on standard error already.
                details = {"hint": hint or None, "evidence": evidence or None}
                print_json(error={"status": status, "message": message, **details})

    try:
        try:
            return _run(command, report_json)
        except (KeyboardInterrupt, InterruptedByUserError):
            say("Interrupted.")
            report_json(INTERRUPTED, "Interrupted.")
            return INTERRUPTED
    except (BrokenPipeError, BrokenPipeOutputError):
        forget_stdout()
        return DONE


def _run(command: Callable[[], object], report_json: Callable[..., None]) -> int:
    try:
        result = command()
        if sys.stdout is not None:
            sys.stdout.flush()
        return result if isinstance(result, int) else DONE
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as wrong:
        _report_usage(wrong)
        report_json(wrong.exit_code, clean(wrong.format_message(), 2000))
        return wrong.exit_code
    except RaidbenchError as error:
        report_error(error)
        report_json(exit_status(error), error.message, error.hint, error.evidence)
        return exit_status(error)
    except EOFError:
        say("Nothing was done: the question was not answered.")
        report_json(REFUSED, "Nothing was done: the question was not answered.")
        return REFUSED
    except (BrokenPipeError, BrokenPipeOutputError, KeyboardInterrupt, InterruptedByUserError):
        raise
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            text = f"{clean(str(error.filename), 80)}: {error.strerror}."
            say(f"raidbench: {text}")
            report_json(USAGE, text)
            return USAGE
        if error.filename is not None or error.errno not in _OUTPUT:
            report_json(FAILED, _report_crash(error))
        else:  # click wrote the help itself: `output` would have raised StorageError.
            say(f"raidbench: The output cannot be written: {error.strerror}.")
            forget_stdout()
        return FAILED
    except Exception as error:  # A defect of raidbench: report it briefly, and save the traceback for a bug report.
        report_json(FAILED, _report_crash(error))
        return FAILED


def _report_usage(wrong: click.ClickException) -> None:
    context = wrong.ctx if isinstance(wrong, click.UsageError) else None
    if context is not None:
        say(context.get_usage())
    say(f"raidbench: {clean(wrong.format_message(), 2000)}")
    if context is not None:
        say(f"See `{context.command_path} --help`.")


def _report_crash(error: Exception) -> str:
    """Report an unexpected exception as a defect of raidbench, and write a traceback file; return the message."""
    details = "".join(traceback.format_exception(error))
    where = _write_crash_file(details)
    sentence = f"Internal error: {type(error).__name__}: {clean(str(error), 300)}."
    say(f"raidbench: {sentence}")
    if where is not None:
        say(f"The details are in {where}. Please attach this file to a bug report.")
    else:
        for row in details.splitlines()[-6:]:
            say(f"  {clean(row, 200)}")
    return sentence


def _write_crash_file(details: str) -> Path | None:
    """Write a traceback to the state folder and return its path; None if that fails."""
    with contextlib.suppress(Exception):
        from backends.output_file import new_file

        folder = private_folder(current().paths.state / "crashes")
        file = folder / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{os.getpid()}.txt"
        with new_file(file, force=False, mode=0o600) as handle:
            handle.write(f"{' '.join(sys.argv)}\n\n{details}".encode(errors="replace"))
        return file
    return None
