"""The job that the options of `bench` describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from app.cli.async_runner import run
from app.cli.options import current
from app.cli.output import say
from app.cli.session_context import host_of
from app.core.config import Config
from app.core.fio.fields import FIELDS
from app.core.fio.job import InvalidJobError, Job, with_replaced_fields
from app.core.fio.profiles import profile as profile_named
from app.core.fio.sections import change_sections
from backends.errors import InvalidValueError, NotFoundError
from backends.input_file import MEBIBYTE, read_input
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.fio.jobfile import ImportedJob
    from app.core.fio.option_table import OptionTable


class RequestedJob(NamedTuple):
    """The job that the user requested."""

    job: Job
    profile: str | None
    """The name of the profile; None if the job is not a profile."""
    runtime_named: bool
    """Whether the user set the run time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """The options that are common to all commands that measure a job."""

    profile: str | None = None
    jobfile: Path | None = None
    section: str | None = None
    """The only section of the job file to run; None runs all sections."""
    texts: Mapping[str, str]
    """The values of the job fields that the user gave as options, by key, as typed."""


_PROFILE = click.option("--profile", metavar="NAME", help="Profile to run. `raidbench profiles` lists them.")
_JOBFILE = click.option(
    "--jobfile", type=click.Path(path_type=Path), metavar="FILE", help="fio job file to run. Its target is ignored."
)


def job_options(section_help: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds --profile and an option for each job field.

    The command gets their values as the parameter `job`, a JobOptions. `section_help`: help text of --section; None for
    a command without --jobfile and --section.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(**options: Any) -> Any:
            fields = {name: options.pop(name) for name in tuple(options) if name.startswith("job_")}
            texts = {name.removeprefix("job_"): text for name, text in fields.items() if text is not None}
            named = {name: options.pop(name) for name in ("profile", "jobfile", "section") if name in options}
            return command(job=JobOptions(texts=texts, **named), **options)

        decorated: Callable[..., Any] = gathered
        for field in reversed(FIELDS):
            metavar = "|".join(field.choices) or field.metavar
            name = f"--{field.key.replace('_', '-')}"
            decorated = click.option(name, f"job_{field.key}", metavar=metavar, help=field.help)(decorated)
        if section_help is not None:
            decorated = _JOBFILE(click.option("--section", metavar="NAME", help=section_help)(decorated))
        return _PROFILE(decorated)

    return decorate


def job_of(options: JobOptions, config: Config, *, alone: str = "") -> RequestedJob:
    """Return the job that the options describe, with defaults from the configuration.

    `alone`: subject and verb of the error message if only one section may run; "" if several may run. Raises
    NotFoundError or InvalidValueError for a wrong value, UsageError for options that exclude each other.
    """
    profile, jobfile, section, texts = options.profile, options.jobfile, options.section, options.texts
    if profile is not None and jobfile is not None:
        raise click.UsageError("--profile cannot be combined with --jobfile.")
    if section is not None and jobfile is None:
        raise click.UsageError("--section needs --jobfile.")
    if jobfile is not None:
        imported = _import_section(jobfile, section, alone)
        job, _ = change_sections(imported.job, lambda section_job: (_with_options(section_job, texts), ()))
        return RequestedJob(job, None, imported.names_runtime or "runtime" in texts)
    named = profile_named(profile or config.profile)
    job = _with_options(named.job, texts)
    # Compare strings: a job with fields of both could be invalid, because one without run time may have no ramp.
    texts_of_job, profile_texts = job.texts(), named.job.texts()
    same = all(texts_of_job[key] == profile_texts[key] for key in profile_texts if key not in _RUN_FIELDS)
    return RequestedJob(job, named.name if same else None, "runtime" in texts)


_RUN_FIELDS = ("runtime", "ramp", "size")
"""Fields in which a run may differ from its profile and still keep the profile's name: run time, ramp, and size."""


def _with_options(base: Job, texts: Mapping[str, str]) -> Job:
    """Return `base` with the fields in `texts` replaced. A single block size replaces a mix of block sizes."""
    try:
        return Job.from_fields(with_replaced_fields(texts, base), base)
    except InvalidJobError as error:
        complaints = (f"--{key.replace('_', '-')}: {sentence}" for key, sentence in error.fields.items())
        raise InvalidValueError("; ".join(complaints)) from None


def _table_for(content: bytes) -> OptionTable:
    """Return the table of fio's options.

    The installed fio is asked for its options only if the job file (`content`) has some that not every fio supports.
    """
    from app.core.fio.jobfile import depends_on_fio
    from app.core.fio.option_table import SHIPPED

    if not depends_on_fio(content):
        return SHIPPED
    from app.core.fio.preflight import option_table

    host = host_of(current(), dry=True)
    return run(lambda _: option_table(host))


def _import_section(file: Path, section: str | None, alone: str) -> ImportedJob:
    from app.core.fio.jobfile import import_jobfile

    shown = clean(str(file), 200)
    try:
        content = read_input(file, MEBIBYTE)
    except FileNotFoundError:
        raise NotFoundError(f"The job file {shown} does not exist.", hint="Check the path after --jobfile.") from None
    except OSError as error:
        raise InvalidValueError(f"The job file {shown} cannot be read: {error.strerror}.") from error
    imported = import_jobfile(content, _table_for(content))
    if alone and section is None and len(imported.jobs) > 1:
        raise InvalidValueError(
            f"{alone}, but the job file has {len(imported.jobs)} sections: {', '.join(imported.names)}.",
            hint="Select a section with --section NAME. It runs without the others.",
        )
    job = imported.combined_job if section is None else imported.section(section)
    for note in job.notes:
        say(f"Note: {clean(note, 600)}")
    return job
