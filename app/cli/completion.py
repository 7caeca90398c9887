"""Shell completion. Devices and settings come from sysfs and from the cached scan of this boot; no tool is run.

The shell waits for this program at every Tab. So click and the modules of commands are imported only to list options.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from app.cli.command_index import COMMANDS
from app.doors import action
from backends.simulator.profiles import HOSTS, STATES

if TYPE_CHECKING:
    from app.core.session.paths import Paths

SHELLS = ("bash", "zsh", "fish")


class CompletionItem(NamedTuple):
    """A word that completion offers."""

    value: str
    help: str = ""
    kind: str = "plain"
    """`plain`: a complete word. `part`: the user continues the word, so the shell adds no space.

    `file` and `dir`: the shell completes files or folders.
    """


class CommandLine(NamedTuple):
    """A command line up to the cursor, split into parts."""

    simulated_host: str
    """Name of the simulated host (--demo); "" for this machine."""
    recorded: str
    """Folder of the recorded machine (--machine); "" for none. Only the names of its sessions can be completed."""
    command: str
    rest: tuple[str, ...]
    """The words after the command, without the last one, which is still being typed."""
    last: str
    """The word that is being typed, up to the cursor."""


Offer = Callable[[CommandLine], Iterable[CompletionItem]]


def main(wanted: str) -> int:
    """Print the completion script of the shell `wanted`, or completions of the typed word. Return the exit status."""
    shell, _, request = wanted.partition("_")
    if shell not in SHELLS:
        return 1
    if request == "source":
        from app.cli.completion_scripts import script
        from app.cli.output import forget_stdout

        try:
            print(script(shell), flush=True)
        except OSError as error:
            print(f"raidbench: The output cannot be written: {error.strerror}.", file=sys.stderr)
            forget_stdout()
            return 1
        return 0
    with contextlib.suppress(OSError):  # The shell has ended, or the disk is full.
        _answer(shell)
    return 0


def _answer(shell: str) -> None:
    argv = _typed_words()
    prefix_length = _bash_prefix_length(argv[-1]) if shell == "bash" else 0
    for value, help, kind in complete_line(argv):
        text = value[prefix_length:] if kind in ("plain", "part") else value
        print(f"{kind}\t{text}\t{' '.join(help.split())}".rstrip("\t"))
    sys.stdout.flush()


def complete_line(argv: list[str]) -> Iterable[CompletionItem]:
    """Return the completions of the last word of `argv`."""
    *before, last = argv
    at = _command_at(before)
    line = _line(before, at, last)
    front = at == len(before)
    values = _front_values if front else _option_values
    if last.startswith("-") and "=" not in last:
        return _options(line)
    name, equals, value = last.partition("=")
    if equals and name.startswith("--"):
        return [item._replace(value=f"{name}={item.value}") for item in values(name, line._replace(last=value)) or ()]
    option = next(iter(before[-1:] if front else line.rest[-1:]), "")
    if option.startswith("--") and "=" not in option and option != "--demo":
        items = values(option, line)
        if items is not None:
            return items
    if front:
        return _matching([*(_simulated_hosts(line) if option == "--demo" else ()), *_commands()], last)
    return _matching(POSITIONAL.get(line.command, _no_items)(line), last)


def _typed_words() -> list[str]:
    """Return the words of the command line after the program name. The last one is still being typed."""
    if (listed := os.environ.get("_RAIDBENCH_WORDS")) is not None:
        return listed.split("\n")[1:] or [""]
    line = os.environ.get("_RAIDBENCH_LINE", "")
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    argv: list[str] = []
    try:
        argv.extend(lexer)
    except ValueError:  # No closing quote yet: the text after the opening one is the last word.
        argv.append(lexer.token)
    else:
        if line[-1:].isspace():
            argv.append("")
    return argv[1:] or [""]


def _bash_prefix_length(word: str) -> int:
    """Return the length of the part of `word` that bash keeps: up to the last `:` or `=` at which it splits words."""
    kept = [at for at, sign in enumerate(word) if sign in ":=" and sign in os.environ.get("_RAIDBENCH_BREAKS", "")]
    return kept[-1] + 1 if kept else 0


def _command_at(before: list[str]) -> int:
    """Return the index of the command in the typed words; the number of words if no command was typed yet."""
    at = 0
    while at < len(before) and before[at].startswith("-"):
        word = before[at]
        follows = before[at + 1] if at + 1 < len(before) else None
        at += 2 if word in FRONT or (word == "--demo" and follows in HOSTS) else 1
    return min(at, len(before))


def _line(before: list[str], at: int, last: str) -> CommandLine:
    simulated_host = recorded = ""
    for word, follows in pairwise([*before[:at], ""]):
        option, equals, value = word.partition("=")
        if option == "--demo":
            simulated_host = value if equals else follows if follows in HOSTS else next(iter(HOSTS))
        elif option == "--machine":
            recorded = value or follows
    return CommandLine(simulated_host, recorded, before[at] if at < len(before) else "", tuple(before[at + 1 :]), last)


# -- values of global options, and command names ----------------------------------------------------------------------


def _simulated_hosts(_: CommandLine) -> Iterator[CompletionItem]:
    return (CompletionItem(simulated_host, "a simulated host") for simulated_host in HOSTS)


def _states(_: CommandLine) -> Iterator[CompletionItem]:
    return (CompletionItem(state, help) for state, help in STATES.items())


def _themes(_: CommandLine) -> Iterator[CompletionItem]:
    from app.core.themes import THEMES

    return map(CompletionItem, THEMES)


def _commands(_: CommandLine | None = None) -> Iterator[CompletionItem]:
    return (CompletionItem(name, command.help) for name, command in COMMANDS.items())


# -- devices ----------------------------------------------------------------------------------------------------------


def _cached_scan(line: CommandLine) -> Mapping[str, Any]:
    from app.core.session.completion_cache import completion_cache_path, load_completion_cache

    return {} if line.recorded else load_completion_cache(completion_cache_path(_paths(line).state))


def _paths(line: CommandLine) -> Paths:
    from app.core.session.paths import Paths

    if not line.recorded:
        return Paths.of(line.simulated_host)
    from backends.system.recorded import apart_of

    return Paths.of(apart_of(Path(line.recorded)))


def _disks(line: CommandLine) -> list[str]:
    """Return the kernel names of this machine's disks from sysfs."""
    if line.simulated_host or line.recorded:
        return []
    try:
        names = sorted(os.listdir("/sys/block"))
    except OSError:
        return []
    return [name for name in names if _sysfs(f"/sys/block/{name}/size") not in ("", "0")]


def _sysfs(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _targets(line: CommandLine) -> Iterator[CompletionItem]:
    """Yield the addresses that `devices` lists. Once a character is typed, also yield the other accepted names."""
    devices = _cached_scan(line).get("things", {})
    disks = _disks(line)
    nodes = {entry.get("device") for entry in devices.values()}
    for address, item in devices.items():
        if not item.get("twin") or line.last:
            yield CompletionItem(address, item.get("words", ""))
    for name in disks:
        if f"/dev/{name}" not in nodes:
            yield CompletionItem(f"block:{name}", "a block device")
    if not line.last:
        return
    names = {entry["device"]: entry.get("words", "") for entry in devices.values() if entry.get("device")}
    names |= {f"/dev/{name}": "" for name in disks if f"/dev/{name}" not in names}
    for device, help in names.items():
        yield CompletionItem(device.rpartition("/")[2], help)
        yield CompletionItem(device, help)
    for item in devices.values():
        if not item.get("twin") and item.get("name"):
            yield CompletionItem(item["name"], item.get("words", ""))
    for address, item in devices.items():
        within = address.partition(":")[2]
        if within.startswith("/"):
            yield CompletionItem(within, item.get("words", ""))


def _bench_targets(line: CommandLine) -> Iterator[CompletionItem]:
    """Yield the targets that can be measured: addresses and files."""
    if line.last.startswith((".", "~")) or (line.last.startswith("/") and not line.last.startswith(("/dev/", "/c"))):
        yield CompletionItem(line.last, kind="file")
        return
    yield from _targets(line)


def _target_then(keys: Offer) -> Offer:
    """Return a function that yields targets until one was typed, and then the completions of `keys`."""

    def offer(line: CommandLine) -> Iterable[CompletionItem]:
        return keys(line) if _target_of(line) is not None else _targets(line)

    return offer


def _target_of(line: CommandLine) -> str | None:
    """Return the first typed word that is the name or address of a target; None if there is none."""
    addresses = {item.value for item in _targets(line._replace(last="/"))}
    return next((word for word in line.rest if word in addresses), None)


def _settings(line: CommandLine) -> Iterator[CompletionItem]:
    """Yield `KEY=` for each setting of the target. Once the key is typed, yield its legal values."""
    target = _target_of(line)
    if target is None:
        return
    settings = _settings_of(line, target)
    key, equals, _ = line.last.partition("=")
    if not equals:
        named = {word.partition("=")[0] for word in line.rest if "=" in word}
        for name, item in settings.items():
            if name not in named:
                now = "" if item.get("now") is None else f", now {item['now']}"
                yield CompletionItem(f"{name}=", f"{item.get('label', '')}{now}", "part")
        return
    for value in settings.get(key, {}).get("values", ()):
        yield CompletionItem(f"{key}={value}", "now" if value == settings[key].get("now") else "")


def _settings_of(line: CommandLine, target: str) -> dict[str, Any]:
    """Return the settings of a target by key: those in the cache, and those of its kernel disk from sysfs."""
    scan = _cached_scan(line)
    devices, settings_of = scan.get("things", {}), scan.get("settings", {})
    node = target if target.startswith("/dev/") else f"/dev/{target}"
    matching = {
        address
        for address, item in devices.items()
        if target in (address, address.partition(":")[2], None if item.get("twin") else item.get("name"))
    }
    nodes = {devices[address].get("device") for address in matching} | {node}
    names = matching | {address for address, item in devices.items() if item.get("device") in nodes - {None}}
    settings: dict[str, Any] = {}
    for address in sorted(names, key=lambda name: (name not in matching, name)):
        settings |= {key: item for key, item in settings_of.get(address, {}).items() if key not in settings}
    nodes |= {f"/dev/{target.removeprefix('block:')}"}
    for name in (name for name in _disks(line) if f"/dev/{name}" in nodes):
        settings |= _queue(name)
    return settings


def _queue(name: str) -> dict[str, Any]:
    """Return the queue settings of a disk and their present values from sysfs."""
    from backends.vendors.block.settings import settings_of
    from backends.vendors.block.values import reading

    folder = f"/sys/block/{name}/queue"
    try:
        files = set(os.listdir(folder))
    except OSError:
        return {}
    settings = {}
    for setting in settings_of(name):
        if setting.key in files:
            value = reading(setting.key, {setting.key: _sysfs(f"{folder}/{setting.key}")}, None, 4)
            settings[setting.key] = {
                "label": setting.label,
                "now": value.now,
                "values": [choice.value for choice in value.choices],
            }
    return settings


# -- names from the state folder and from features --------------------------------------------------------------------


def _profiles(_: CommandLine) -> Iterator[CompletionItem]:
    from app.core.fio.profile_names import TITLES

    return (CompletionItem(name, title) for name, title in TITLES.items())


def _plans(line: CommandLine) -> Iterator[CompletionItem]:
    shipped = action("sweep.shipped")
    yield from (CompletionItem(name) for name in (() if shipped is None else shipped()))
    if line.last.startswith((".", "/", "~")):
        yield CompletionItem(line.last, kind="file")


def _baselines(line: CommandLine) -> Iterator[CompletionItem]:
    return (CompletionItem(file.stem) for file in sorted((_paths(line).state / "baselines").glob("[!.]*.json")))


def _sessions(line: CommandLine) -> Iterator[CompletionItem]:
    from app.core.session.folders import session_folders

    return (CompletionItem(folder.name) for folder in session_folders(_paths(line)))


def _sessions_and_folders(line: CommandLine) -> Iterable[CompletionItem]:
    return [*_sessions(line), *_folders(line)]


def _runs(line: CommandLine) -> Iterator[CompletionItem]:
    """Yield the names of the runs of the last session. If `SESSION/` was typed, yield those of that session."""
    session, slash, _ = line.last.rpartition("/")
    names = [session] if slash else [item.value for item in _sessions(line)][:1]
    for name in names:
        runs = [file.name for file in (_paths(line).sessions / name / "runs").glob("r*[0-9]")]
        for run_id in sorted(runs, key=lambda run_id: (len(run_id), run_id)):
            yield CompletionItem(f"{name}/{run_id}" if slash else run_id)
    if not slash:
        yield from (CompletionItem(f"{item.value}/", "a session", "part") for item in _sessions(line) if line.last)


def _plot_subjects(line: CommandLine) -> Iterator[CompletionItem]:
    yield from _runs(line)
    yield from _targets(line)


def _baseline(line: CommandLine) -> Iterable[CompletionItem]:
    match line.rest:
        case ():
            return [CompletionItem("save"), CompletionItem("list"), CompletionItem("check"), CompletionItem("remove")]
        case ("check" | "remove",):
            return _baselines(line)
        case ("save", _, *_):
            return _runs(line)
        case _:
            return ()


def _array(line: CommandLine) -> Iterable[CompletionItem]:
    match line.rest:
        case ():
            return [CompletionItem("list"), CompletionItem("create"), CompletionItem("delete")]
        case ("create",):
            from backends.array_planning import LEVELS

            return [CompletionItem(level.value) for level in LEVELS]
        case ("create", _, *_):
            return _targets(line)
        case _:
            return ()


def _roles(line: CommandLine) -> Iterator[CompletionItem]:
    """Yield the addresses of targets. If `ROLE=` was typed, put it before each address."""
    role, equals, address = line.last.partition("=")
    for item in _targets(line._replace(last=address if equals else line.last)):
        yield item._replace(value=f"{role}={item.value}") if equals else item


def _first_word_only(offer: Offer) -> Offer:
    """Return a function that yields the completions of `offer` for the first argument only."""
    return lambda line: () if any(not word.startswith("-") for word in line.rest) else offer(line)


def _no_items(_: CommandLine) -> Iterable[CompletionItem]:
    return ()


def _files(line: CommandLine) -> Iterable[CompletionItem]:
    return [CompletionItem(line.last, kind="file")]


def _folders(line: CommandLine) -> Iterable[CompletionItem]:
    return [CompletionItem(line.last, kind="dir")]


POSITIONAL: Mapping[str, Offer] = {
    "show": _first_word_only(_targets),
    "check": _first_word_only(_targets),
    "array": _array,
    "export": _targets,
    "slowest": _first_word_only(_targets),
    "observe": _first_word_only(_targets),
    "apply": _first_word_only(_files),
    "watch": _first_word_only(_files),
    "set": _target_then(_settings),
    "ab": _target_then(_settings),
    "persist": _target_then(_settings),
    "bench": _bench_targets,
    "precondition": _bench_targets,
    "curve": _bench_targets,
    "history": _first_word_only(_targets),
    "sweep": _first_word_only(_plans),
    "attach": _first_word_only(_sessions),
    "log": _first_word_only(_sessions),
    "report": _first_word_only(_sessions),
    "archive": _first_word_only(_sessions),
    "compare": _runs,
    "plot": _plot_subjects,
    "baseline": _baseline,
    "capture": _folders,
    "help": _first_word_only(_commands),
}
"""Functions that yield completions for the arguments of a command, by the command's name."""

FRONT: Mapping[str, Offer] = {
    "--demo-speed": _no_items,
    "--demo-state": _states,
    "--machine": _folders,
    "--session": _sessions_and_folders,
    "--config": _files,
    "--theme": _themes,
    "--hosts": _no_items,
    "--host-timeout": _no_items,
    "--host-program": _no_items,
}
"""Functions that yield values of global options, by option. `--demo` is missing, because its value is optional."""

VALUES: Mapping[str, Offer] = {
    "--profile": _profiles,
    "--on": _bench_targets,
    "--target": _roles,
    "--resume": _sessions,
    "--jobfile": _files,
    "--output": _files,
}
"""Functions that yield values of command options, by option. Fixed choices are missing, because click has them."""


def _front_values(option: str, line: CommandLine) -> Iterable[CompletionItem] | None:
    """Return the completions for the value of a global option; None if the option has no value."""
    offer = _simulated_hosts if option == "--demo" else FRONT.get(option)
    return None if offer is None else _matching(offer(line), line.last)


def _option_values(option: str, line: CommandLine) -> Iterable[CompletionItem] | None:
    """Return the completions for the value of a command's option; None if the option has no value."""
    if (offer := VALUES.get(option)) is not None:
        return _matching(offer(line), line.last)
    import click

    for param in _params(line):
        if option in param.opts:
            if getattr(param, "is_flag", False):
                return None
            legal = param.type.choices if isinstance(param.type, click.Choice) else ()
            return _matching((CompletionItem(str(value)) for value in legal), line.last)
    return None


def _options(line: CommandLine) -> Iterable[CompletionItem]:
    """Return the options of the typed command, whose module is imported; without a command, the global options."""
    options = (
        CompletionItem(name, str(getattr(param, "help", None) or ""))
        for param in _params(line)
        if not getattr(param, "hidden", False)
        for name in param.opts
        if name.startswith("--")
    )
    return _matching([*options, CompletionItem("--help", "Show this message and exit.")], line.last)


def _params(line: CommandLine) -> Iterator[Any]:
    import click

    from app.cli.main import cli

    context = click.Context(cli, info_name="raidbench")
    command: click.Command | None = cli
    if line.command:
        command = cli.get_command(context, line.command)
    if isinstance(command, click.Group) and line.command and line.rest:
        command = command.get_command(context, line.rest[0]) or command
    return (param for param in command.params if isinstance(param, click.Option)) if command is not None else iter(())


def _matching(items: Iterable[CompletionItem], last: str) -> list[CompletionItem]:
    """Return the items that begin with the typed text, without duplicates."""
    offered = {item.value: item for item in items if item.kind in ("file", "dir") or item.value.startswith(last)}
    return list(offered.values())
