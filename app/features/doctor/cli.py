"""`doctor`: what works here, what is missing, what to do."""

from __future__ import annotations

from app.cli.async_runner import run
from app.cli.command import command
from app.cli.exit_status import DONE, FOUND
from app.cli.options import current, over_hosts
from app.cli.output import lines, paint, print_json, say, text_wanted
from app.cli.session_context import workbench
from app.cli.shared_options import json_option
from app.features.doctor.engine import READS_IN_USE, DoctorItem, DoctorStatus, examine
from backends.host import Host
from backends.text import clean
from backends.version import program_version


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
            {"grade": item.grade.value, "what": item.what, "detail": item.detail, "advice": item.advice or None}
            for item in doctor_items
        ]
        print_json(findings=listed, program=program_version())
        if not text_wanted():
            return status
    colours = {DoctorStatus.OK: "green", DoctorStatus.WARN: "yellow", DoctorStatus.MISSING: "red"}
    wide = max(len(finding.what) for finding in doctor_items)

    def item_lines(finding: DoctorItem) -> list[str]:
        mark = paint(f"{finding.grade.value:<7}", colours[finding.grade])
        advice = [" " * (11 + wide) + finding.advice] if finding.advice else []
        return [f"{mark}  {finding.what:<{wide}}  {finding.detail}", *advice]

    lines(row for finding in doctor_items for row in item_lines(finding))
    say("All that is needed is there." if status == DONE else "Something that is needed is missing.")
    return status


def _reads_in_use(host: Host) -> DoctorItem:
    """Whether arrays that are mounted, or in use otherwise, can be measured by reading."""
    from app.core.session.paths import ROOTS_CONFIG
    from app.privsep.device_claims import lends_in_use

    grade = DoctorStatus.OK
    if host.is_root and host.root_side is None:
        detail = "fio reads arrays that are mounted, as root"
    elif host.root_side is None:
        grade, detail = DoctorStatus.WARN, "no array can be read, mounted or not: that takes root"
    elif lends_in_use(ROOTS_CONFIG):
        detail = f"fio reads arrays that are mounted: lend_in_use in {ROOTS_CONFIG}"
    else:
        detail = f"the helper itself reads arrays that are mounted; fio may with lend_in_use = true in {ROOTS_CONFIG}"
    return DoctorItem(grade=grade, what=READS_IN_USE, detail=detail)


def _configuration() -> DoctorItem:
    """The configuration file, which was read: no command begins with one that cannot be used."""
    path = current().config or current().paths.config
    shown = clean(str(path), 300)
    there = "" if path.exists() else " does not exist; the defaults are used"
    return DoctorItem(grade=DoctorStatus.OK, what="config", detail=shown + there)
