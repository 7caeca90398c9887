"""`profiles`: list the job profiles by name."""

from __future__ import annotations

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.output import lines, print_json
from app.cli.render import listing
from app.cli.shared_options import json_option
from app.core.fio.job import JobTarget, TargetKind
from app.core.fio.profiles import PROFILES
from app.core.fio.render import render


@command("profiles", "raidbench profiles")
@json_option
def profiles_command(as_json: bool) -> int:
    """List the profiles for `raidbench bench --profile`."""
    if as_json:
        listed = [
            {
                "name": profile.name,
                "title": profile.title,
                "help": profile.help,
                "job": {key: text for key, text in profile.job.texts().items() if text},
                "fio": _fio_options(profile.name),
                "writes": profile.job.writes,
            }
            for profile in PROFILES.values()
        ]
        print_json(profiles=listed)
        return DONE
    rows = [(profile.name, profile.title, profile.job.describe()) for profile in PROFILES.values()]
    lines(listing(("Name", "Workload", "Job"), rows))
    return DONE


def _fio_options(name: str) -> dict[str, str]:
    """Return the options in a profile's fio job file by name, without `filename`, which names the target."""
    job = PROFILES[name].job
    anywhere = JobTarget(path="/target", name="the target", kind=TargetKind.BLOCK, size=1 << 40)
    text = render(job, [anywhere], jobfile="job.fio").text
    pairs = [line.partition("=") for line in text.splitlines() if "=" in line]
    return {key: value for key, _, value in pairs if key != "filename"}
