"""Every command of the screens, declared once. Bindings, footer, help, palette, `keys` and keymap derive from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """One command of the screens."""

    id: str
    """Name of the command in a keymap: `screen.action`."""
    keys: tuple[str, ...]
    """Default keys in Textual's notation."""
    action: str
    """Textual action of the screen or app."""
    label: str
    """Name in the footer and in the palette, at most two words."""
    help: str
    """The effect of the command, as a sentence."""
    screens: tuple[str, ...]
    """Screens on which the command works: `devices`, `bench`, `runs`, `sweep`, `log`; `all` for every screen."""
    footer: int = 0
    """Rank in the footer, lowest first; with 0, the command is not shown there."""
    panes: tuple[str, ...] = ()
    """Ids of the panes, or states (`bench-running`), whose footer shows the command; () for all of them."""

    @property
    def shown_keys(self) -> str:
        """The keys as they are shown to the user. A command without keys can be run from the palette."""
        return " ".join(_KEY_NAMES.get(key, key) for key in self.keys or ("ctrl+p",))


_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "backspace": "bksp",
    "escape": "esc",
    "ctrl+z": "^z",
    "ctrl+p": "^p",
    "ctrl+s": "^s",
    "exclamation_mark": "!",
    "asterisk": "*",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


KeyLabel = tuple[str, str]
"""A key and its label, as the footer shows them."""

NO_KEYMAP: Mapping[str, str] = MappingProxyType({})
"""A keymap without changes: new keys, separated by commas, by command id."""


def _command(
    id: str,
    keys: str,
    label: str,
    help: str,
    footer: int = 0,
    panes: str = "",
    *,
    action: str = "",
    screens: str = "",
) -> CommandSpec:
    """Return a command. Defaults for the id `devices.undo-all`: action `undo_all`, screen `devices` (`app`: all)."""
    screen, _, name = id.partition(".")
    return CommandSpec(
        id=id,
        keys=tuple(keys.split()),
        action=action or name.replace("-", "_"),
        label=label,
        help=help,
        screens=tuple((screens or ("all" if screen == "app" else screen)).split()),
        footer=footer,
        panes=tuple(panes.split()),
    )


COMMANDS: tuple[CommandSpec, ...] = (
    _command("app.hosts", "0", "Hosts", "Show this host and the hosts of --hosts.", action="go('hosts')"),
    _command("app.devices", "1", "Devices", "Show devices and their settings.", action="go('devices')"),
    _command("app.bench", "2", "Bench", "Choose and run a job.", action="go('bench')"),
    _command("app.runs", "3", "Runs", "List and compare runs.", action="go('runs')"),
    _command("app.sweep", "4", "Sweep", "Measure combinations of settings and workloads.", action="go('sweep')"),
    _command("app.log", "5", "Log", "Show the events of the session.", action="go('log')"),
    _command(
        "app.findings",
        "exclamation_mark",
        "Findings",
        "List the findings of the check.",
        screens="bench runs sweep log compare history explore slowest observe array joint",
    ),
    _command("devices.findings", "exclamation_mark", "Findings", "List the findings of the check.", 5, "devices-pane"),
    _command("findings.open", "enter right l", "Open", "Stage the fix, or go to the device or its setting.", 1),
    _command("findings.filter", "slash", "Filter", "Filter by severity, device, finding or fix.", 2),
    _command("findings.back", "escape left h", "Back", "Leave the filter or the list.", 3),
    _command(
        "devices.review",
        "a",
        "Apply",
        "Review and apply the staged changes.",
        3,
    ),
    _command(
        "devices.choose",
        "enter",
        "Open",
        "Open the device, or list the legal values of the setting.",
        1,
        "devices-pane detail-pane",
    ),
    _command(
        "devices.next",
        "right_square_bracket space",
        "Next value",
        "Stage the next legal value.",
        2,
        "detail-pane",
        action="cycle(1)",
    ),
    _command(
        "devices.previous",
        "left_square_bracket",
        "Previous value",
        "Stage the previous legal value.",
        action="cycle(-1)",
    ),
    _command("devices.into", "right l", "Open", "Open the branch, device or setting."),
    _command(
        "devices.back",
        "escape left h",
        "Back",
        "Leave the device, filter or branch.",
        6,
        "detail-pane facts-pane",
    ),
    _command("devices.tab", "t", "Next tab", "Show settings, facts or history.", 10, "detail-pane"),
    _command("devices.unstage", "backspace", "Unstage", "Unstage the value of the setting.", 7, "detail-pane"),
    _command("devices.undo", "u", "Undo", "Undo the last change, after a review.", 9),
    _command("devices.undo-all", "U", "Undo all", "Undo all changes of this session, after a review."),
    _command(
        "devices.filter",
        "slash",
        "Filter",
        "Filter by name, serial number, model, setting or fact.",
        4,
        "devices-pane",
    ),
    _command(
        "devices.unfold",
        "asterisk",
        "All drives",
        "List all drives, or collapse the healthy ones.",
        12,
        "devices-pane",
    ),
    _command(
        "devices.wanted",
        "w",
        "State file",
        "Go to the next difference from the state file, or stage the file's value.",
    ),
    _command("devices.next-match", "n", "Next match", "Go to the next match.", action="match(1)"),
    _command("devices.previous-match", "N", "Previous match", "Go to the previous match.", action="match(-1)"),
    _command("devices.sort", "s", "Sort", "Choose the order of the list.", 13, "devices-pane"),
    _command(
        "devices.activity", "v", "Live I/O", "Switch between the settings and the present I/O.", 11, "devices-pane"
    ),
    _command("devices.columns", "C", "Columns", "Choose the columns of the list."),
    _command("devices.rescan", "R", "Rescan", "Scan the hardware again."),
    _command("devices.measure", "m", "Measure", "Measure the device.", 8, "devices-pane"),
    _command(
        "devices.new-array",
        "A",
        "New array",
        "Create an array, or delete one that raidbench created.",
    ),
    _command(
        "devices.slowest",
        "S",
        "Slowest",
        "Find the slowest member of an array, or drive of a controller.",
    ),
    _command(
        "devices.observe",
        "O",
        "Observe",
        "Show its I/O and who waits.",
    ),
    _command(
        "devices.ab",
        "B",
        "A/B",
        "Compare the staged and the current value in pairs of runs.",
        40,
        "detail-pane bench-ended",
        screens="devices bench",
    ),
    _command(
        "devices.export",
        "E",
        "Export",
        "Write the settings of the device, or of all matches, to a file.",
        14,
    ),
    _command("bench.run", "r", "Run", "Start the job.", 16, "bench-idle bench-ended"),
    _command(
        "bench.jobs.stop", "x", "Stop", "Stop the job; fio's summary is kept.", 15, "bench-running", action="stop"
    ),
    _command("bench.profile", "p", "Profile", "Choose a built-in profile.", 80, "bench-idle bench-ended"),
    _command("bench.edit", "e", "Edit", "Edit the job.", 81, "bench-idle bench-ended"),
    _command("bench.open", "o", "Open", "Load the job from a fio job file."),
    _command("bench.target", "T", "Target", "Choose a scratch file or devices.", 82, "bench-idle bench-ended"),
    _command(
        "bench.advice", "i", "Advice", "Show what makes the results doubtful, and the fix.", 83, screens="bench run"
    ),
    _command("bench.steady", "M", "Steady state", "Measure at once, or in the steady state."),
    _command(
        "bench.precondition",
        "P",
        "Precondition",
        "Overwrite the target twice and run the job until it is steady; asks first.",
    ),
    _command(
        "bench.baseline",
        "b",
        "Baseline",
        "Compare other runs with this one, or stop doing so.",
        50,
        "runs-list runs-preview bench-ended",
        screens="bench runs",
    ),
    _command("bench.freeze", "space", "Freeze", "Freeze the graphs; the measurement continues.", 85, "bench-running"),
    _command(
        "bench.zoom-in", "plus equals_sign", "Zoom in", "Show a shorter period.", action="zoom(1)", screens="bench run"
    ),
    _command("bench.zoom-out", "minus", "Zoom out", "Show a longer period.", action="zoom(-1)", screens="bench run"),
    _command(
        "bench.unit",
        "g",
        "IOPS or MiB/s",
        "Switch between IOPS and MiB/s.",
        86,
        "bench-running bench-ended run",
        screens="bench run",
    ),
    _command(
        "bench.next-part",
        "right_square_bracket",
        "Section",
        "Show the next section or target.",
        action="part(1)",
        screens="bench run",
    ),
    _command(
        "bench.previous-part",
        "left_square_bracket",
        "Previous",
        "Show the previous section or target.",
        action="part(-1)",
        screens="bench run",
    ),
    _command(
        "bench.heat",
        "v",
        "Heat map",
        "Show latency as percentiles or as a heat map.",
        70,
        "bench-running bench-ended run",
        screens="bench run",
    ),
    _command(
        "bench.fit",
        "z",
        "Fit",
        "Fit the graphs to the measured time or the length of the job.",
        84,
        "bench-running bench-ended run",
        screens="bench run",
    ),
    _command(
        "bench.range", "y", "Axis from 0", "Start the upper axis at zero, or near the values.", screens="bench run"
    ),
    _command(
        "bench.scale",
        "L",
        "Log or linear",
        "Switch the latency axis between logarithmic and linear.",
        screens="bench run",
    ),
    _command("bench.compare", "c", "Compare", "Compare with the baseline or the previous run.", 20, "bench-ended"),
    _command("bench.export", "E", "Export", "Write the session report to a file.", 60, "bench-ended"),
    _command("runs.mark", "space", "Mark", "Mark the run for a comparison.", 10, "runs-list"),
    _command("runs.compare", "c", "Compare", "Compare the two marked runs.", 20),
    _command(
        "runs.explore",
        "X",
        "Explore",
        "Show charts of the marked runs, an A/B or a target.",
        51,
        screens="runs compare history",
    ),
    _command("sweep.explore", "X", "Explore", "Show charts of the sweep.", 20, "sweep-over"),
    _command("explore.back", "escape h left", "Back", "Return to the previous screen.", 10),
    _command(
        "explore.what", "enter", "Data", "Choose the data: runs, an A/B, a sweep or all sessions.", 1, action="choose"
    ),
    _command(
        "explore.next", "right_square_bracket", "Next chart", "Show the next chart that has data.", 2, action="turn(1)"
    ),
    _command(
        "explore.previous",
        "left_square_bracket",
        "Previous",
        "Show the previous chart that has data.",
        action="turn(-1)",
    ),
    _command("explore.kinds", "v", "Charts", "Choose the chart from a list.", 3, action="choose_kind"),
    *(
        _command(f"explore.{name}", "H" if name == "history" else "", name.capitalize(), help, action=f"kind('{name}')")
        for name, help in (
            ("percentiles", "Show latency by percentile, one curve per run."),
            ("histogram", "Show the number of I/Os by latency."),
            ("box", "Show the spread of the runs of each setting."),
            ("scatter", "Show IOPS against p99 for every run."),
            ("timeline", "Show IOPS and latency over time."),
            ("curve", "Show the results of a sweep along an axis."),
            ("history", "Show the job in all sessions by date."),
        )
    ),
    _command("explore.figure", "g", "Metric", "Switch between IOPS, MiB/s and p99.", 4),
    _command("explore.log", "L", "Log or linear", "Switch between logarithmic and linear axes.", 5),
    _command("explore.fit", "z", "Fit", "Start the axes at zero, or fit them to the data.", 6),
    _command("explore.baseline", "b", "Baseline", "Show or hide the baseline.", 7),
    _command("explore.earlier", "asterisk", "All sessions", "Use the runs of all sessions.", 8),
    _command("explore.export", "E", "Export", "Write the chart and its values to a file.", 9),
    _command("explore.before", "up", "Previous run", "Go to the previous run.", action="step(-1)"),
    _command("explore.after", "down", "Next run", "Go to the next run.", action="step(1)"),
    _command("run.back", "escape h", "Back", "Return to the previous screen.", 1),
    _command("run.figures", "f", "All results", "Show every result of the run.", 2),
    _command("compare.back", "escape h", "Back", "Return to the previous screen.", 1),
    _command("compare.switch", "g", "Over time", "Show both runs over time, with IOPS or MiB/s.", 2),
    _command(
        "compare.percentiles",
        "v",
        "Percentiles",
        "Switch between time and latency percentiles.",
        3,
    ),
    _command(
        "compare.more",
        "plus",
        "More pairs",
        "Measure the remaining pairs of this A/B, after a review.",
        5,
    ),
    _command(
        "runs.figures",
        "enter right l",
        "Open",
        "Open the graphs of the run.",
        30,
        "runs-list",
    ),
    _command("runs.export", "E", "Export", "Write the session report to a file.", 80, screens="runs compare"),
    _command("runs.earlier", "asterisk", "Earlier runs", "Show or hide the runs of earlier sessions.", 65, "runs-list"),
    _command("runs.history", "H", "History", "Show the results of this job in all sessions.", 55),
    _command("history.back", "escape h", "Back", "Return to the previous screen.", 1),
    _command("history.open", "enter", "Open", "Open the graphs of the run under the cursor.", 2),
    _command("history.before", "left", "Previous run", "Go to the previous run.", 3, action="step(-1)"),
    _command("history.after", "right", "Next run", "Go to the next run.", 4, action="step(1)"),
    _command(
        "hosts.open",
        "enter right l",
        "Devices",
        "Show the devices and settings of the host, read-only.",
        1,
        "hosts-pane",
    ),
    _command("hosts.filter", "slash", "Filter", "Filter by name, state, kernel or version.", 2, "hosts-pane"),
    _command(
        "hosts.findings",
        "exclamation_mark",
        "Findings",
        "List the findings of all hosts, or of the host.",
        3,
        screens="hosts host",
    ),
    _command("hosts.mark", "space", "Mark", "Mark or unmark the host for a measurement.", 4),
    _command(
        "hosts.measure",
        "m",
        "Measure",
        "Measure on all marked hosts at the same time, or show the run.",
        5,
    ),
    _command("hosts.ask", "R", "Refresh", "Query every host again.", 6),
    _command(
        "hosts.all", "asterisk", "Mark all", "Mark all listed hosts that answered, or none.", 7, action="mark_all"
    ),
    _command(
        "host-findings.open",
        "enter right l",
        "Open",
        "List the findings of the host, or go to the device on it.",
        1,
    ),
    _command("host-findings.filter", "slash", "Filter", "Filter by host, severity, device, finding or fix.", 2),
    _command("host-findings.fold", "asterisk", "All hosts", "List the findings of every host, or of none.", 3),
    _command("host-findings.back", "escape left h", "Back", "Leave the filter, the host or the list.", 4),
    _command("joint.stop", "x", "Stop", "Stop all hosts; the results so far are kept.", 1),
    _command("joint.export", "E", "Export", "Write the session report to a file.", 3),
    _command("joint.back", "escape h left", "Back", "Return to the hosts; the measurement continues.", 2),
    _command(
        "host.into",
        "enter right l",
        "Open",
        "Open the branch or device, read-only.",
        1,
        "devices-pane",
    ),
    _command("host.tab", "t", "Next tab", "Show settings or facts.", 4),
    _command(
        "host.unfold",
        "asterisk",
        "All drives",
        "List all drives, or collapse the healthy ones.",
        5,
        "devices-pane",
    ),
    _command(
        "host.filter", "slash", "Filter", "Filter by name, serial number, model, setting or fact.", 6, "devices-pane"
    ),
    _command("host.ask", "R", "Refresh", "Query the host again.", 7),
    _command(
        "host.back",
        "escape left h",
        "Back",
        "Leave the device, branch or host.",
        2,
    ),
    _command("array.tick", "space", "Tick", "Select or deselect the drive for a new array.", 1),
    _command("array.level", "plus", "Level", "Choose the next RAID level.", 2, action="level(1)"),
    _command("array.level-before", "minus", "Previous level", "Choose the previous RAID level.", action="level(-1)"),
    _command("array.strip", "right_square_bracket", "Strip", "Choose the next strip size.", 3, action="strip(1)"),
    _command(
        "array.strip-before",
        "left_square_bracket",
        "Previous strip",
        "Choose the previous strip size.",
        action="strip(-1)",
    ),
    _command(
        "array.spans", "greater_than_sign", "Spans", "Choose the next possible number of spans.", action="spans(1)"
    ),
    _command(
        "array.spans-before",
        "less_than_sign",
        "Previous spans",
        "Choose the previous possible number of spans.",
        action="spans(-1)",
    ),
    _command(
        "array.make",
        "a",
        "Create",
        "Create the array, after a review and a confirmation.",
        4,
    ),
    _command(
        "array.compare",
        "c",
        "Compare",
        "Compare RAID levels in a sweep that creates and deletes the arrays.",
        6,
    ),
    _command(
        "array.delete",
        "d",
        "Delete",
        "Delete an unused array that raidbench created.",
        5,
    ),
    _command("array.back", "escape h left", "Back", "Return to the devices.", 7),
    _command("slowest.run", "r", "Read", "Read every member in turn, in five rounds.", 1),
    _command("slowest.stop", "x", "Stop", "Stop reading.", 2),
    _command(
        "slowest.back",
        "escape h left",
        "Back",
        "Return to the devices; reading continues.",
        3,
    ),
    _command("observe.back", "escape h left", "Back", "Return to the devices.", 1),
    _command(
        "sweep.run",
        "r",
        "Run",
        "Start the sweep, after a review, or continue an interrupted one.",
        2,
        "sweep-left sweep-right sweep-over",
    ),
    _command("sweep.stop", "x", "Stop", "Stop the sweep; all settings are restored.", 1, "sweep-running"),
    _command("sweep.tick", "space", "Tick", "Select or deselect a value, or open an axis.", 3, "sweep-left"),
    _command("sweep.open-axis", "right l", "Open axis", "Show the values of an axis.", action="axis(True)"),
    _command("sweep.close-axis", "left", "Close axis", "Hide the values of an axis.", action="axis(False)"),
    _command("sweep.fold", "asterisk", "All values", "List all values, or only the selected ones.", 11, "sweep-left"),
    _command("sweep.target", "T", "Target", "Choose the target.", 4, "sweep-left sweep-right"),
    _command(
        "sweep.profile",
        "p",
        "Profile",
        "Choose the base profile; the axes vary its fields.",
        6,
        "sweep-left sweep-right",
    ),
    _command("sweep.edit", "e", "Edit", "Edit the base job; the axes vary its fields.", 10, "sweep-left sweep-right"),
    _command(
        "sweep.open",
        "o",
        "Open plan",
        "Load a TOML file or a built-in plan.",
        5,
        "sweep-left sweep-right",
        action="open_plan",
    ),
    _command(
        "sweep.save",
        "ctrl+s",
        "Save plan",
        "Write the selected values to a plan file.",
        12,
        "sweep-left sweep-right",
        action="save_plan",
    ),
    _command("sweep.new", "A", "New plan", "Close the plan and start a new one.", action="new_plan"),
    _command("sweep.view", "v", "Plan or sweep", "Switch between the plan and the sweep.", 8),
    _command("sweep.export", "E", "Export", "Write the session report to a file.", 9, "sweep-over"),
    _command("log.note", "A", "New note", "Add a note to the session.", 4),
    _command("log.search", "slash", "Search", "Search the listed events for a text.", 2),
    _command(
        "log.filter",
        "f",
        "Show",
        "Choose the kinds of events to list.",
        1,
        action="filter_events",
    ),
    _command("log.next", "n", "Next match", "Go to the next match.", 3, action="next_match(1)"),
    _command("log.previous", "N", "Previous match", "Go to the previous match.", action="next_match(-1)"),
    _command("log.save", "E", "Export", "Write the session report to a file.", 5),
    _command(
        "app.back",
        "escape h",
        "Back",
        "Return to the previous screen.",
        screens="bench runs sweep log hosts",
    ),
    _command("app.keep-trial", "K", "Keep trial", "Keep the new values of a trial."),
    _command(
        "app.take-back",
        "u",
        "Revert trial",
        "Restore the old values of a trial (on Devices: Undo).",
        screens="bench runs sweep log compare history explore slowest observe array hosts host joint findings"
        " host-findings",
    ),
    _command(
        "app.copy",
        "Y",
        "Copy",
        "Copy the last path, command, advice or finding.",
    ),
    _command("app.help", "question_mark", "Keys", "Show the keys of this screen.", 98, action="keys"),
    _command("app.theme", "", "Theme", "Choose a dark or light theme, or the terminal's colours."),
    _command("app.palette", "ctrl+p", "Palette", "Find any command by name.", 97, action="command_palette"),
    _command(
        "app.suspend",
        "ctrl+z",
        "Suspend",
        "Return to the shell until `fg`; not during runs and changes.",
    ),
    _command("app.quit", "q", "Quit", "Quit; asks if a job runs or settings are changed.", 99, action="leave"),
)
"""All commands, in the order of help and palette."""

SCREENS = {"devices": "Devices", "bench": "Bench", "runs": "Runs", "sweep": "Sweep", "log": "Log"}
"""Titles of the main screens by name, in the order of their keys."""

HOSTS = "hosts"
"""Name of the screen of all hosts, which exists only with --hosts."""

SHEETS = {
    "run": "Run",
    "compare": "Compare",
    "history": "History",
    "explore": "Explore",
    "slowest": "Slowest",
    "observe": "Observe",
    "array": "New array",
    "findings": "Findings",
    HOSTS: "Hosts",
    "joint": "Many hosts",
    "host": "Host",
    "host-findings": "Findings of the hosts",
}
"""Titles of the screens that are opened from another screen, by name."""


_BY_ID: Mapping[str, CommandSpec] = MappingProxyType({command.id: command for command in COMMANDS})

_COMMAND_IN_TEXT = re.compile(r"<([a-z]+(?:\.[a-z-]+)+)>")


def shown_keys(command: CommandSpec, keymap: Mapping[str, str] = NO_KEYMAP) -> str:
    """Return all keys of a command as they are shown to the user, with a space between them."""
    changed = keymap.get(command.id)
    return command.shown_keys if changed is None else " ".join(_KEY_NAMES.get(key, key) for key in changed.split(","))


def shown_key(command: CommandSpec, keymap: Mapping[str, str] = NO_KEYMAP) -> str:
    """Return the first key of a command as it is shown to the user."""
    return shown_keys(command, keymap).split()[0]


def with_keys(text: str, keymap: Mapping[str, str] = NO_KEYMAP) -> str:
    """Return the text of a hint with keys in place of command ids, such as `<bench.run> starts the job`.

    Other words in angle brackets stay, because a notice may quote a tool.
    """

    def key(found: re.Match[str]) -> str:
        command = _BY_ID.get(found[1])
        return found[0] if command is None else shown_key(command, keymap)

    return _COMMAND_IN_TEXT.sub(key, text)


INPUT_FIELD = "field"
"""Pane name while an input field has the focus. Letter keys then type text, so the footer shows no commands."""

_FIELD_KEYS = (("enter", "Done"), ("esc", "Clear"))

_FOOTER_END = ("app.help", "app.quit")
"""Commands that every footer ends with. Room is reserved for them and for the way back."""


def commands_of(screen: str, *, shared: bool = True) -> tuple[CommandSpec, ...]:
    """Return the commands of a screen; if `shared`, also those of all screens after them."""
    commands = tuple(command for command in COMMANDS if screen in command.screens)
    return commands + (tuple(command for command in COMMANDS if "all" in command.screens) if shared else ())


def footer_of(screen: str, pane: str = "") -> tuple[CommandSpec, ...]:
    """Return the footer commands of a screen by rank, without those that are useless in the given pane."""
    usable = [
        command
        for command in commands_of(screen)
        if command.footer and (not pane or not command.panes or pane in command.panes)
    ]
    return tuple(sorted(usable, key=lambda command: command.footer))


def footer_keys(screen: str, pane: str, width: int, keymap: Mapping[str, str] = NO_KEYMAP) -> tuple[KeyLabel, ...]:
    """Return the keys and labels of the footer: the most important ones that fit, with the way back, help and quit.

    `keymap`: new keys by command id.
    """
    if pane == INPUT_FIELD:
        return _FIELD_KEYS
    commands = footer_of(screen, pane)
    pairs = [(shown_key(command, keymap), command.label) for command in commands]
    kept = {
        pair
        for pair, command in zip(pairs, commands, strict=True)
        if command.id in _FOOTER_END or "escape" in command.keys
    }
    return fitting_keys(pairs, width, kept)


def fitting_keys(pairs: Sequence[KeyLabel], width: int, kept: Collection[KeyLabel]) -> tuple[KeyLabel, ...]:
    """Return the keys and labels that fit into `width`, in their order; the first ones are the most important.

    A label is never cut. `kept`: pairs for which room is reserved. Each takes the width of its text and three spaces.
    """
    room = width - sum(map(_cells, kept))
    chosen = []
    for pair in pairs:
        if pair in kept:
            chosen.append(pair)
        elif _cells(pair) <= room:
            chosen.append(pair)
            room -= _cells(pair)
    return tuple(chosen)


def _cells(pair: KeyLabel) -> int:
    return len(pair[0]) + len(pair[1]) + 3


MOVING = (
    ("up down k j", "Row", "Move by one row; page up, page down, home (g) and end (G) move further."),
    ("enter right l", "Open", "Open the row, choose its value, or expand it."),
    (
        "esc left h",
        "Back",
        "One step back: leave a screen, dialog, filter or branch, or cancel what is being prepared. Changes nothing.",
    ),
    ("tab", "Next pane", "Go to the next pane; shift+tab: the previous one."),
)
"""Keys that work in every list, with their name and effect."""
