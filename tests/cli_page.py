"""The command reference docs/cli*.md, written from the click commands by `python -m tests.cli_page`."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from app.cli.command import option_records
from app.cli.command_index import COMMANDS
from app.cli.main import cli
from app.core.fio.fields import GROUPS
from app.doors import HelpGroup
from tests.catalogue.commands import command_lines

FOLDER = Path(__file__).parents[1] / "docs"
ENTRY = "cli.md"
JOB_OPTIONS = "cli-job-options.md"

SHARED_BY = 2
"""An option that this many commands have with the same text is described once, in cli.md."""

WRITTEN = "<!-- Written by `python -m tests.cli_page`. -->\n"

HEAD = f"""\
# Command reference

This page lists all commands of raidbench and the options that several commands have.
`raidbench COMMAND --help` shows the same in the terminal.
Related pages: [exit statuses](exit-status.md), [JSON output](json.md), [root and the helper](root.md).

{WRITTEN}
## Run a command

```
raidbench [OPTIONS] [COMMAND] [ARGUMENTS]
```

Without a command, the workbench opens.

- **TARGET** is an address that `raidbench devices` lists (`block:sda`, `megaraid:/c0/v1` or only `/c0/v1`), a kernel
  name (`sda`), a device node or a link to one.
- **SIZE** is a number with a unit, such as `256k`.
- If a command, option, target or value does not exist, raidbench suggests the most similar one.

"""

GLOBAL = """\
## Global options

Write them before the command, like `--demo` and the other options of [simulated hosts](simulation.md#options).

"""

JOB = f"""\
# Options for jobs

`bench`, `ab` and `curve` accept the fields of a fio job as options. [Jobs](jobs.md) explains how to define a job.

{WRITTEN}
"""

COMPLETION = """\
## Complete commands with Tab

```
eval "$(_RAIDBENCH_COMPLETE=bash_source raidbench)"
```

Use `zsh_source` or `fish_source` for these shells. The packages install the completion. Tab completes commands,
addresses, settings and their values, profiles, plans, runs, sessions and baselines. It starts no tool and needs no
root: it uses sysfs and the last scan since the boot.

"""

TITLES = {
    HelpGroup.LOOK: "Commands that show devices and findings",
    HelpGroup.CHANGE: "Commands that change settings",
    HelpGroup.MEASURE: "Commands that measure",
    HelpGroup.COMPARE: "Commands that compare results",
    HelpGroup.ARRAYS: "Commands for arrays",
    HelpGroup.HOSTS: "Commands for many hosts",
    HelpGroup.REPORTS: "Commands for reports and monitoring",
    HelpGroup.MAINTENANCE: "Commands for maintenance",
}

Record = tuple[str, str]
"""The names of an option with its metavar, and its text."""


JSON: Record = ("--json", "Print JSON.")
"""The option of nearly every command, which only the entry mentions."""


def pages() -> dict[str, str]:
    """Return the text of each page by its file name: the entry, the groups and the options for jobs."""
    commands = {words: _command(words) for words in command_lines() if words}
    shared = _shared_records(commands.values())
    job, common = _split(shared)
    with_json = {words for words, command in commands.items() if JSON in _records(command)}
    without_json = " and ".join(
        f"`{' '.join(words)}`"
        for words, command in commands.items()
        if words not in with_json and not isinstance(command, click.Group)
    )
    index = ""
    texts = {JOB_OPTIONS: f"{JOB}{_table(job)}"}
    for group in HelpGroup:
        names = [words for words in commands if COMMANDS[words[0]].group is group]
        index += f"## {group}\n\n| command | purpose |\n| --- | --- |\n"
        index += "".join(f"| {link(words)} | {_cell(_help(commands[words])[0])} |\n" for words in names) + "\n"
        sections = "".join(_section(words, commands[words], shared) for words in names)
        texts[_file(group)] = f"# {TITLES[group]}\n\nSee also [all commands]({ENTRY}).\n\n{WRITTEN}\n{sections}"
    texts[ENTRY] = (
        f"{HEAD}{index}{GLOBAL}{_table(record for record in _records(cli) if not _name(record).startswith('--demo'))}\n"
        f"## Common options\n\nAll commands accept `--json`, except {without_json}. "
        f"Each command names the other options that it accepts.\n\n{_table(common)}\n"
        f"{COMPLETION}"
    )
    return {name: text.rstrip("\n") + "\n" for name, text in texts.items()}


def link(words: Sequence[str]) -> str:
    """Return a link to the section of a command."""
    return f"[{' '.join(words)}]({_file(COMMANDS[words[0]].group)}#{'-'.join(words)})"


def _file(group: HelpGroup) -> str:
    return f"cli-{group.lower().replace(' ', '-')}.md"


def _command(words: Sequence[str]) -> click.Command:
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(_context(command), word)
        assert found is not None
        command = found
    return command


def _context(command: click.Command) -> click.Context:
    """Return a context with the names of the help option, because click keeps the help option of the first context."""
    names = cli.context_settings["help_option_names"]
    return click.Context(command, max_content_width=1000, help_option_names=names)


def _records(command: click.Command) -> list[Record]:
    """Return the visible options of a command except `--help`."""
    return [record for param, record in option_records(command, _context(command)) if "--help" not in param.opts]


def _shared_records(commands: Iterable[click.Command]) -> set[Record]:
    counts = Counter(record for command in commands for record in _records(command))
    return {record for record, count in counts.items() if count >= SHARED_BY}


def _split(shared: Iterable[Record]) -> tuple[list[Record], list[Record]]:
    """Return the shared records of job fields in the order of the fields, and the others by name."""
    names = [f"--{key.replace('_', '-')}" for keys in GROUPS.values() for key in keys]
    job = sorted((record for record in shared if _name(record) in names), key=lambda record: names.index(_name(record)))
    return job, sorted(set(shared) - set(job), key=_name)


def _section(words: Sequence[str], command: click.Command, shared: set[Record]) -> str:
    """Return the section of a command: summary, usage, description, examples and options."""
    parts = [f"## {' '.join(words)}", *_help(command)]
    examples = getattr(command, "examples", ())
    if (usage := _usage(words, command)) not in examples:
        parts.append(f"```\n{usage}\n```")
    if examples:
        parts.append("```sh\n" + "\n".join(examples) + "\n```")
    records = _records(command)
    own = [record for record in records if record not in shared]
    if own:
        parts.append(_table(own).rstrip("\n"))
    parts += _references(records, shared)
    return "\n\n".join(parts) + "\n\n"


def _help(command: click.Command) -> list[str]:
    """Return the paragraphs of the description, the summary first."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return [" ".join(paragraph.removeprefix("\b\n").split()) for paragraph in paragraphs]


def _usage(words: Sequence[str], command: click.Command) -> str:
    pieces = (piece for piece in command.collect_usage_pieces(_context(command)) if piece != "[OPTIONS]")
    return " ".join(("raidbench", *words, *pieces))


def _references(records: Sequence[Record], shared: set[Record]) -> Iterator[str]:
    """Yield a line with the options of a command that other pages describe."""
    job, common = _split(shared & set(records) - {JSON})
    all_of_them, _ = _split(shared)
    texts = []
    if len(job) > len(all_of_them) // 2:
        missing = [record for record in all_of_them if record not in job]
        but = f" except {_names(missing)}" if missing else ""
        texts.append(f"[Job options]({JOB_OPTIONS}): all{but}.")
    elif job:
        texts.append(f"[Job options]({JOB_OPTIONS}): {_names(job)}.")
    if common:
        texts.append(f"[Common options]({ENTRY}#common-options): {_names(common)}.")
    if texts:
        yield " ".join(texts)


def _names(records: Iterable[Record]) -> str:
    return " ".join(f"`{_name(record)}`" for record in records)


def _name(record: Record) -> str:
    """Return the long name of an option: `--output` of `-o, --output FILE`."""
    return next(word for word in record[0].replace(",", " ").split() if word.startswith("--"))


def _table(records: Iterable[Record]) -> str:
    rows = [f"| `{_cell(names)}` | {_cell(text)} |\n" for names, text in records]
    return f"| option | description |\n| --- | --- |\n{''.join(rows)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
