"""The `doctor` command, which reports what works, what is missing, and how to fix it."""

from __future__ import annotations

from app.cli.async_runner import run
from app.cli.command import command
from app.cli.exit_status import DONE, FOUND
from app.cli.options import current, over_hosts
from app.cli.output import is_text_wanted, lines, paint, print_json, say, terminal_width
from app.cli.session_context import workbench
from app.cli.shared_options import json_option
from app.features.doctor.engine import READS_IN_USE, DoctorItem, DoctorStatus, examine
from backends.host import Host
from backends.text import clean
from backends.version import program_version
from widgets.text_utils.text import wrap_words


@command("doctor", "raidbench doctor")
@json_option
@over_hosts()
def doctor_command(as_json: bool) -> int:
    """Check that raidbench has what it needs on this machine.

    The exit status is 5 if something required is missing.
    """
    with workbench(quiet=True) as bench:
        doctor_items = run(lambda _: examine(bench.host, bench.paths, bench.hardware.machine.backends))
    doctor_items = (*doctor_items, _reads_in_use(bench.host), _configuration())
    status = FOUND if any(finding.grade is DoctorStatus.MISSING for finding in doctor_items) else DONE
    if as_json:
        listed = [
            {"grade": item.grade.value, "what": item.name, "detail": item.detail, "advice": item.advice or None}
            for item in doctor_items
        ]
        print_json(findings=listed, program=program_version())
        if not is_text_wanted():
            return status
    colours = {DoctorStatus.OK: "green", DoctorStatus.WARN: "yellow", DoctorStatus.MISSING: "red"}
    wide, width = max(len(finding.name) for finding in doctor_items), terminal_width()

    def item_lines(finding: DoctorItem) -> list[str]:
        mark = paint(f"{finding.grade.value:<7}", colours[finding.grade])
        rows = wrap_words(finding.detail, width, f"{mark}  {finding.name:<{wide}}  ")
        return rows + (wrap_words(finding.advice, width, " " * (11 + wide)) if finding.advice else [])

    lines(row for finding in doctor_items for row in item_lines(finding))
    say("All prerequisites are met." if status == DONE else "Prerequisites are missing.")
    return status


def _reads_in_use(host: Host) -> DoctorItem:
    """Return the item that says whether read-only jobs can measure arrays in use, such as mounted ones."""
    from app.core.session.paths import ROOTS_CONFIG
    from app.privsep.device_claims import may_lend_in_use

    grade = DoctorStatus.OK
    if host.is_root and host.root_side is None:
        detail = "fio can read mounted arrays (as root)"
    elif host.root_side is None:
        grade, detail = DoctorStatus.WARN, "arrays cannot be read: reading raw devices needs root"
    elif may_lend_in_use(ROOTS_CONFIG):
        detail = f"fio can read mounted arrays (lend_in_use in {ROOTS_CONFIG})"
    else:
        detail = (
            f"the root helper can read mounted arrays; to allow it for fio, set lend_in_use = true in {ROOTS_CONFIG}"
        )
    return DoctorItem(grade=grade, name=READS_IN_USE, detail=detail)


def _configuration() -> DoctorItem:
    """Return the item about the configuration file. The file is valid: with an invalid one, no command would start."""
    path = current().config or current().paths.config
    shown = clean(str(path), 300)
    note = "" if path.exists() else " does not exist; the defaults are used"
    return DoctorItem(grade=DoctorStatus.OK, name="config", detail=shown + note)
