"""Every command of the screens, declared once. Bindings, footer, help, palette, `keys` and keymap derive from it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """One command."""

    id: str
    """`screen.action`: its name in a keymap."""
    keys: tuple[str, ...]
    """Default keys in Textual's notation."""
    action: str
    """Textual action of the screen or app."""
    label: str
    """Two words at most, for footer and palette."""
    help: str
    """A sentence."""
    screens: tuple[str, ...]
    """`devices`, `bench`, `runs`, `sweep`, `log`; `all` for every screen."""
    footer: int = 0
    """Rank in the footer, lowest first; 0 is not shown there."""
    panes: tuple[str, ...] = ()
    """Ids of the panes, or states (`bench-running`), whose footer shows it; () for the complete screen."""

    @property
    def shown_keys(self) -> str:
        """Keys as people write them. A command without keys is reached through the palette."""
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
    "exclamation_mark": "!",
    "asterisk": "*",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


NO_KEYMAP: Mapping[str, str] = MappingProxyType({})
"""A keymap without changes."""


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
    """Return a command. By default, its id gives its action and its screen: `devices.undo-all`, `app` for all."""
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
    _command(
        "app.hosts", "0", "Hosts", "Show the hosts that --hosts named: this machine is one more.", action="go('hosts')"
    ),
    _command(
        "app.devices", "1", "Devices", "Show controllers, arrays, drives and their settings.", action="go('devices')"
    ),
    _command("app.bench", "2", "Bench", "Choose a job, run it, watch it live.", action="go('bench')"),
    _command("app.runs", "3", "Runs", "List the runs and compare them.", action="go('runs')"),
    _command("app.sweep", "4", "Sweep", "Measure many set-ups under many workloads.", action="go('sweep')"),
    _command("app.log", "5", "Log", "Show the session as it was.", action="go('log')"),
    _command(
        "devices.review",
        "a",
        "Apply",
        "Review all staged changes: the exact commands, what they risk, how they are undone; then apply them.",
        3,
    ),
    _command(
        "devices.choose",
        "enter",
        "Open",
        "Go into the device; on a setting, open the list of legal values with a sentence on each.",
        1,
        "devices-pane detail-pane",
    ),
    _command(
        "devices.trouble",
        "exclamation_mark",
        "Findings",
        "Go to the next thing that wants a look; Enter stages what mends it.",
        5,
        "devices-pane",
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
    _command("devices.into", "right l", "Open", "Open the branch, or go into the device, or into its setting."),
    _command(
        "devices.back",
        "escape left h",
        "Back",
        "One step back: out of the device, out of the filter, out of the branch. It stages nothing.",
        6,
        "detail-pane facts-pane",
    ),
    _command(
        "devices.tab", "t", "Next tab", "Show the settings, the facts or the history of the device.", 10, "detail-pane"
    ),
    _command("devices.unstage", "backspace", "Unstage", "Take the staged value back.", 7, "detail-pane"),
    _command("devices.undo", "u", "Undo", "Take back the last change, after showing how.", 9),
    _command("devices.undo-all", "U", "Undo all", "Take back every change of this session, newest first."),
    _command(
        "devices.filter",
        "slash",
        "Filter",
        "Show only what matches as you type: any name, serial number, model, setting, fact.",
        4,
        "devices-pane",
    ),
    _command(
        "devices.unfold",
        "asterisk",
        "All drives",
        "Open everything, so that every drive is shown; again closes what is well.",
        11,
        "devices-pane",
    ),
    _command(
        "devices.wanted",
        "w",
        "Wanted",
        "Stage the value that the state file has; elsewhere, go to the next setting that differs from it.",
    ),
    _command("devices.next-match", "n", "Next match", "Go to the next match of the filter.", action="match(1)"),
    _command("devices.previous-match", "N", "Previous match", "Go to the match before.", action="match(-1)"),
    _command("devices.sort", "s", "Sort", "Choose what the list is sorted by; kept for next time.", 12, "devices-pane"),
    _command("devices.columns", "C", "Columns", "Choose the columns of the list; kept for next time."),
    _command("devices.rescan", "R", "Rescan", "Look for hardware again."),
    _command("devices.measure", "m", "Measure", "Take the selected device as the target of a run.", 8, "devices-pane"),
    _command(
        "devices.new-array",
        "A",
        "New array",
        "Tick drives that nothing uses and make an array of them; delete one that was made here.",
    ),
    _command(
        "devices.slowest",
        "S",
        "Slowest",
        "Read the members of the array, or the drives of the card, in turn, to see which is slower than its siblings.",
    ),
    _command(
        "devices.ab",
        "B",
        "A/B",
        "Measure the staged value against the one in force, in pairs of runs; then put the old one back.",
        40,
        "detail-pane bench-ended",
        screens="devices bench",
    ),
    _command(
        "devices.export",
        "E",
        "Export",
        "Write the settings of the device, of a card with all behind it, or of all that the filter finds, to a file "
        "that `raidbench apply` takes.",
        13,
    ),
    _command("bench.run", "r", "Run", "Start the job.", 16, "bench-idle bench-ended"),
    _command("bench.jobs.stop", "x", "Stop", "End the job; fio's summary is kept.", 15, "bench-running", action="stop"),
    _command("bench.profile", "p", "Profile", "Choose one of the built-in workloads.", 80, "bench-idle bench-ended"),
    _command("bench.edit", "e", "Edit", "Change every field of the job.", 81, "bench-idle bench-ended"),
    _command("bench.open", "o", "Open", "Take the job from a fio job file."),
    _command(
        "bench.target", "T", "Target", "Choose a scratch file, or one or several devices.", 82, "bench-idle bench-ended"
    ),
    _command("bench.advice", "i", "Advice", "Show all that makes the figures doubtful, and what to do.", 83),
    _command("bench.steady", "s", "Steady state", "Measure at once, or when the figures are steady."),
    _command(
        "bench.precondition",
        "P",
        "Precondition",
        "Write all of the target twice, then the job until it is steady; asks first.",
    ),
    _command(
        "bench.baseline",
        "b",
        "Baseline",
        "Show other runs against this one.",
        50,
        "runs-list runs-preview bench-ended",
        screens="bench runs",
    ),
    _command("bench.freeze", "space", "Freeze", "Hold the graphs still; measuring goes on.", 85, "bench-running"),
    _command("bench.zoom-in", "plus equals_sign", "Zoom in", "Show less time in the graphs.", action="zoom(1)"),
    _command("bench.zoom-out", "minus", "Zoom out", "Show more time in the graphs.", action="zoom(-1)"),
    _command(
        "bench.unit",
        "g",
        "IOPS or MiB/s",
        "Switch the upper graph between IOPS and MiB/s.",
        86,
        "bench-running bench-ended",
    ),
    _command(
        "bench.next-part",
        "right_square_bracket",
        "Section",
        "Show the graphs of the next section of the job, or of the next target.",
        action="part(1)",
    ),
    _command(
        "bench.previous-part",
        "left_square_bracket",
        "Previous",
        "Show the graphs of the previous section or target.",
        action="part(-1)",
    ),
    _command(
        "bench.heat",
        "v",
        "Heat map",
        "Latency as percentiles, or as a map of all I/Os: time across, latency up.",
        70,
        "bench-running bench-ended",
    ),
    _command(
        "bench.fit",
        "z",
        "Fit",
        "Show the time that was measured, or all that the job takes.",
        84,
        "bench-running bench-ended",
    ),
    _command("bench.range", "y", "Axis from 0", "Begin the upper graph at zero, or near its values."),
    _command("bench.scale", "l", "Log or linear", "Switch the latency scale."),
    _command("bench.compare", "c", "Compare", "Show the run beside the baseline or the one before.", 20, "bench-ended"),
    _command("bench.export", "E", "Export", "Write the session's report to a file.", 60, "bench-ended"),
    _command("runs.mark", "space", "Mark", "Mark the run for comparing.", 10, "runs-list"),
    _command("runs.compare", "c", "Compare", "Show the two marked runs side by side.", 20),
    _command(
        "runs.explore",
        "X",
        "Explore",
        "Show pictures of the marked runs, of an A/B, or of all sessions of a target.",
        51,
        screens="runs compare history",
    ),
    _command("sweep.explore", "X", "Explore", "Show pictures of the sweep.", 20, "sweep-over"),
    _command("explore.back", "escape h left", "Back", "Back to where it was opened.", 9),
    _command("explore.what", "enter", "Of what", "Choose runs, an A/B, a sweep, all sessions.", 1, action="choose"),
    _command("explore.next", "right_square_bracket", "Picture", "Next picture that has data.", 2, action="turn(1)"),
    _command("explore.previous", "left_square_bracket", "Previous", "The picture before.", action="turn(-1)"),
    *(
        _command(f"explore.{name}", key, name.capitalize(), help, action=f"kind('{name}')")
        for name, key, help in (
            ("percentiles", "p", "Latency by percentile, one curve over the other."),
            ("histogram", "i", "How many I/Os took how long; l shows the rarest."),
            ("box", "o", "How the runs of each set-up are spread."),
            ("scatter", "s", "IOPS against p99 of every run."),
            ("timeline", "t", "IOPS and latency over time."),
            ("curve", "v", "What a sweep found over its values."),
            ("history", "H", "The same in all sessions by date."),
        )
    ),
    _command("explore.figure", "g", "Figure", "Switch between IOPS, MiB/s and p99.", 3),
    _command("explore.log", "l", "Log", "Switch between ratios and even distances.", 4),
    _command("explore.fit", "z", "Fit", "Let axes begin at zero, or fit what is drawn.", 5),
    _command("explore.baseline", "b", "Baseline", "Put the baseline beneath, or take it away.", 6),
    _command("explore.earlier", "A", "All sessions", "Take the runs of all sessions.", 7),
    _command("explore.export", "E", "Export", "Write picture and figures as text to a file.", 8),
    _command("explore.before", "up", "Run before", "Go to the run before.", action="step(-1)"),
    _command("explore.after", "down", "Run after", "Go to the run after.", action="step(1)"),
    _command("compare.back", "escape h", "Back", "Back to where it was opened.", 1),
    _command("compare.switch", "g", "Over time", "Both over time, with IOPS or with MiB/s.", 2),
    _command(
        "compare.percentiles",
        "v",
        "Percentiles",
        "Switch between both runs over time and their latencies by percentile.",
        3,
    ),
    _command(
        "compare.more",
        "plus",
        "More pairs",
        "Measure the pairs that the plan of this A/B has left, after showing all that will be done.",
        5,
    ),
    _command(
        "runs.figures",
        "enter right l",
        "Open",
        "Open the graphs of the run again; f has every figure.",
        30,
        "runs-list",
    ),
    _command("runs.export", "E", "Export", "Write the session's report to a file.", 80, screens="runs compare"),
    _command("runs.earlier", "A", "Earlier runs", "Show or hide the runs of earlier sessions.", 65, "runs-list"),
    _command("runs.history", "H", "History", "Show how the same went in all sessions, with a chart.", 55),
    _command("history.back", "escape h", "Back", "Back to where it was opened.", 1),
    _command("history.open", "enter", "Open", "Open the graphs of the run under the cursor.", 2),
    _command("history.before", "left", "Run before", "Go to the run before.", 3, action="step(-1)"),
    _command("history.after", "right", "Run after", "Go to the run after.", 4, action="step(1)"),
    _command(
        "hosts.open",
        "enter right l",
        "Devices",
        "Show the devices of the host under the cursor and their settings, to be read only.",
        1,
        "hosts-pane",
    ),
    _command("hosts.ask", "r", "Ask again", "Ask every host anew.", 2),
    _command("hosts.mark", "space", "Mark", "Mark the host to measure on it, or unmark it.", 3),
    _command("hosts.all", "asterisk", "Mark all", "Mark all that answered, or none.", 5, action="mark_all"),
    _command(
        "hosts.measure",
        "b",
        "Measure",
        "Choose a workload and measure on all marked hosts at once; while that goes on, show it.",
        4,
    ),
    _command("joint.stop", "x", "Stop", "Tell all hosts to stop; what they did by then is kept.", 1),
    _command("joint.export", "E", "Export", "Write the session's report to a file.", 3),
    _command("joint.back", "escape h left", "Back", "Back to the hosts; what is measured goes on.", 2),
    _command(
        "host.into",
        "enter right l",
        "Open",
        "Open the branch, or go into the device; nothing can be set from here.",
        1,
        "devices-pane",
    ),
    _command("host.tab", "t", "Next tab", "Show the settings or the facts of the device.", 3),
    _command(
        "host.unfold",
        "asterisk",
        "All drives",
        "Open everything, so that every drive is shown; again closes what is well.",
        4,
        "devices-pane",
    ),
    _command("host.ask", "r", "Ask again", "Ask the host anew.", 5),
    _command(
        "host.back", "escape left h", "Back", "One step back: out of the device, out of the branch, to the hosts.", 2
    ),
    _command("array.tick", "space", "Tick", "Tick the drive to make an array of, or untick it.", 1),
    _command("array.level", "plus l", "Level", "The next level.", 2, action="level(1)"),
    _command("array.level-before", "minus L", "Level before", "The level before.", action="level(-1)"),
    _command("array.strip", "right_square_bracket", "Strip", "The next strip.", 3, action="strip(1)"),
    _command("array.strip-before", "left_square_bracket", "Strip before", "The strip before.", action="strip(-1)"),
    _command("array.spans", "s", "Spans", "The next number of spans that the drives leave.", action="spans(1)"),
    _command("array.spans-before", "S", "Spans before", "The number of spans before.", action="spans(-1)"),
    _command(
        "array.make",
        "a",
        "Make",
        "Show what makes the array, and make it once the ends of the drives' serial numbers are typed.",
        4,
    ),
    _command(
        "array.compare",
        "w",
        "Sweep",
        "Compare levels on the Sweep screen: arrays are made of the ticked drives one after the other, and deleted.",
        6,
    ),
    _command(
        "array.delete",
        "d",
        "Delete",
        "Delete the array under the cursor, if it was made here and nothing lies on it.",
        5,
    ),
    _command("array.back", "escape h left", "Back", "Back to the devices.", 7),
    _command("slowest.run", "r", "Read", "Read every member in turn, in five rounds.", 1),
    _command("slowest.stop", "x", "Stop", "End the reading.", 2),
    _command(
        "slowest.back",
        "escape h left",
        "Back",
        "Back to the devices; what is being read is read on, and S shows it again.",
        3,
    ),
    _command(
        "sweep.run",
        "r",
        "Run",
        "Start the sweep, after showing all that it does; it runs in a process of its own.",
        2,
        "sweep-left sweep-right",
    ),
    _command(
        "sweep.stop", "x", "Stop", "End the sweep; every setting is put back as it was first.", 1, "sweep-running"
    ),
    _command("sweep.tick", "space", "Tick", "Tick a value, or open an axis.", 3, "sweep-left"),
    _command("sweep.open-axis", "right l", "Open axis", "Show the values of an axis.", action="axis(True)"),
    _command("sweep.close-axis", "left", "Close axis", "Show only its name.", action="axis(False)"),
    _command("sweep.fold", "f", "Fold", "List only what was chosen for the sweep, or everything.", 11, "sweep-left"),
    _command("sweep.target", "T", "Target", "Choose what is measured.", 4, "sweep-left sweep-right"),
    _command("sweep.profile", "p", "Profile", "Choose the workload that the axes vary.", 6, "sweep-left sweep-right"),
    _command(
        "sweep.edit", "e", "Edit", "Change the fields of the job that the axes vary.", 10, "sweep-left sweep-right"
    ),
    _command(
        "sweep.open",
        "o",
        "Open plan",
        "Take a plan from a TOML file, or one that comes with raidbench.",
        5,
        "sweep-left sweep-right",
        action="open_plan",
    ),
    _command(
        "sweep.save",
        "s",
        "Save plan",
        "Write what is ticked as a plan that `raidbench sweep` takes.",
        12,
        "sweep-left sweep-right",
        action="save_plan",
    ),
    _command("sweep.new", "n", "New plan", "Leave an opened plan and tick one.", action="new_plan"),
    _command("sweep.view", "v", "Plan or sweep", "Switch between the plan and the sweep.", 8),
    _command("sweep.go-on", "c", "Go on", "Go on with a sweep that was stopped or cut short.", 7, "sweep-over"),
    _command("sweep.export", "E", "Export", "Write the report of the sweep's session to a file.", 9, "sweep-over"),
    _command("log.note", "w", "Note", "Write something down in the session.", 4),
    _command("log.search", "slash", "Search", "Find a word in everything that happened.", 2),
    _command(
        "log.filter",
        "f",
        "Show",
        "Show what happened, changes only, runs only, what was said, or everything with the commands that only read.",
        1,
        action="filter_events",
    ),
    _command("log.next", "n", "Next match", "Go to the next match.", 3, action="next_match(1)"),
    _command("log.previous", "N", "Previous match", "Go to the match before.", action="next_match(-1)"),
    _command("log.save", "E", "Export", "Write the session's report; the log itself is always on disk.", 5),
    _command(
        "app.back",
        "escape h",
        "Back",
        "One step back, out of what was opened; where one came from nowhere it says so.",
        screens="bench runs sweep log hosts",
    ),
    _command("app.keep-trial", "K", "Keep trial", "Let the values on trial stand."),
    _command(
        "app.take-back",
        "u",
        "Take back",
        "Bring the old values back that are on trial, now; on Devices, undo does it.",
        screens="bench runs sweep log compare history explore slowest array hosts host joint",
    ),
    _command(
        "app.copy",
        "Y",
        "Copy",
        "Copy the path, command or advice that was told last, or that of the problem under the cursor; a review copies "
        "its commands with c.",
    ),
    _command("app.help", "question_mark", "Keys", "Show the keys of this screen.", 98, action="keys"),
    _command("app.theme", "", "Theme", "Choose dark, light, or the colours of the terminal."),
    _command("app.palette", "ctrl+p", "Palette", "Find any command by name.", 97, action="command_palette"),
    _command(
        "app.suspend",
        "ctrl+z",
        "Suspend",
        "Go back to the shell for a while, `fg` comes back; not while a job runs or something is being set.",
    ),
    _command("app.quit", "q", "Quit", "Leave; asks if a job is running or settings are changed.", 99, action="leave"),
)
"""All commands, in the order of help and palette."""

SCREENS = {"devices": "Devices", "bench": "Bench", "runs": "Runs", "sweep": "Sweep", "log": "Log"}
"""Screens by name, in the order of their keys."""

HOSTS = "hosts"
"""Name of the screen of all hosts, which exists if hosts were named."""

SHEETS = {
    "compare": "Compare",
    "history": "History",
    "explore": "Explore",
    "slowest": "Slowest",
    "array": "New array",
    HOSTS: "Hosts",
    "joint": "Many hosts",
    "host": "Host",
}
"""Screens that are opened from another one, by name."""


INPUT_FIELD = "field"
"""Replaces the pane while an input field has the focus, because letters are typed into it."""

_FIELD_KEYS = (("enter", "Done"), ("esc", "Clear"))

_FOOTER_END = ("app.help", "app.quit")
"""Commands that every footer ends with."""


def commands_of(screen: str, *, shared: bool = True) -> tuple[CommandSpec, ...]:
    """Return the commands that work on a screen, those of the screen first."""
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


def footer_keys(screen: str, pane: str, width: int, keymap: Mapping[str, str] = NO_KEYMAP) -> list[tuple[str, str]]:
    """Return the keys and labels of the footer: the most important ones that fit, then help and quit.

    Each takes its text and three spaces. `keymap`: changed keys by command id.
    """

    def pair(command: CommandSpec) -> tuple[str, str]:
        return keymap.get(command.id, command.shown_keys.split()[0]), command.label

    commands = footer_of(screen, pane)
    last = [pair(command) for command in commands if command.id in _FOOTER_END]
    wanted = [pair(command) for command in commands if command.id not in _FOOTER_END]
    if pane == INPUT_FIELD:
        wanted, last = list(_FIELD_KEYS), []
    room = width - sum(_cells(key) for key in last)
    chosen: list[tuple[str, str]] = []
    for key in wanted:
        if _cells(key) <= room:
            chosen.append(key)
            room -= _cells(key)
    return [*chosen, *last]


def _cells(pair: tuple[str, str]) -> int:
    return len(pair[0]) + len(pair[1]) + 3


MOVING = (
    ("up down, k j", "Row by row; page up, page down, home (g) and end (G) go further."),
    ("enter, right, l", "Into what the row offers: open, choose, unfold."),
    (
        "esc, left, h",
        "One step back: out of a sheet, a dialog, a filter, a branch; nothing is changed by it.",
    ),
    ("tab", "To the next pane, the one whose frame is bright then; shift and tab to the one before."),
)
"""Keys that work in every list, and their effect."""
