"""Every command of the screens, declared once: bindings, footer, help, palette, `keys` and keymap derive from it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """One command."""

    id: str
    """`screen.action`: what a keymap names."""
    keys: tuple[str, ...]
    """Default keys in Textual's words."""
    action: str
    """Textual action of the screen or app."""
    label: str
    """Two words at most: footer and palette."""
    help: str
    """A sentence."""
    screens: tuple[str, ...]
    """`devices`, `bench`, `runs`, `sweep`, `log`; `all` for everywhere."""
    footer: int = 0
    """Rank in the footer, what has the lowest is named first; 0 is not shown there."""
    panes: tuple[str, ...] = ()
    """Ids of the panes whose footer names it, or what goes on there (`bench-running`); () for all of the screen."""

    @property
    def shown_keys(self) -> str:
        """Keys as people write them; what has none is done in the palette."""
        return " ".join(_SHOWN.get(key, key) for key in self.keys or ("ctrl+p",))


_SHOWN = {
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
"""Nobody gave other keys."""


def _command(
    id: str, keys: str, action: str, label: str, help: str, screens: str = "all", footer: int = 0, panes: str = ""
) -> CommandSpec:
    return CommandSpec(
        id=id,
        keys=tuple(keys.split()),
        action=action,
        label=label,
        help=help,
        screens=tuple(screens.split()),
        footer=footer,
        panes=tuple(panes.split()),
    )


COMMANDS: tuple[CommandSpec, ...] = (
    _command("app.hosts", "0", "go('hosts')", "Hosts", "Show the hosts that --hosts named: this machine is one more."),
    _command("app.devices", "1", "go('devices')", "Devices", "Show controllers, arrays, drives and their settings."),
    _command("app.bench", "2", "go('bench')", "Bench", "Choose a job, run it, watch it live."),
    _command("app.runs", "3", "go('runs')", "Runs", "List the runs and compare them."),
    _command("app.sweep", "4", "go('sweep')", "Sweep", "Measure many set-ups under many workloads."),
    _command("app.log", "5", "go('log')", "Log", "Show the session as it was."),
    _command(
        "devices.review",
        "a",
        "review",
        "Apply",
        "Review all staged changes: the exact commands, what they risk, how they are undone; then apply them.",
        "devices",
        3,
    ),
    _command(
        "devices.choose",
        "enter",
        "choose",
        "Open",
        "Go into the device; on a setting, open the list of legal values with a sentence on each.",
        "devices",
        1,
        "devices-pane detail-pane",
    ),
    _command(
        "devices.trouble",
        "exclamation_mark",
        "trouble",
        "Findings",
        "Go to the next thing that wants a look; Enter stages what mends it.",
        "devices",
        5,
        "devices-pane",
    ),
    _command(
        "devices.next",
        "right_square_bracket space",
        "cycle(1)",
        "Next value",
        "Stage the next legal value.",
        "devices",
        2,
        "detail-pane",
    ),
    _command(
        "devices.previous",
        "left_square_bracket",
        "cycle(-1)",
        "Previous value",
        "Stage the previous legal value.",
        "devices",
    ),
    _command(
        "devices.into",
        "right l",
        "into",
        "Open",
        "Open the branch, or go into the device, or into its setting.",
        "devices",
    ),
    _command(
        "devices.back",
        "escape left h",
        "back",
        "Back",
        "One step back: out of the device, out of the filter, out of the branch. It stages nothing.",
        "devices",
        6,
        "detail-pane facts-pane",
    ),
    _command(
        "devices.tab",
        "t",
        "tab",
        "Next tab",
        "Show the settings, the facts or the history of the device.",
        "devices",
        10,
        "detail-pane",
    ),
    _command(
        "devices.unstage", "backspace", "unstage", "Unstage", "Take the staged value back.", "devices", 7, "detail-pane"
    ),
    _command("devices.undo", "u", "undo", "Undo", "Take back the last change, after showing how.", "devices", 9),
    _command(
        "devices.undo-all",
        "U",
        "undo_all",
        "Undo all",
        "Take back every change of this session, newest first.",
        "devices",
    ),
    _command(
        "devices.filter",
        "slash",
        "filter",
        "Filter",
        "Show only what matches as you type: any name, serial number, model, setting, fact.",
        "devices",
        4,
        "devices-pane",
    ),
    _command(
        "devices.unfold",
        "asterisk",
        "unfold",
        "All drives",
        "Open everything, so that every drive is shown; again closes what is well.",
        "devices",
        11,
        "devices-pane",
    ),
    _command(
        "devices.wanted",
        "w",
        "wanted",
        "Wanted",
        "Stage the value that the state file has; elsewhere, go to the next setting that differs from it.",
        "devices",
    ),
    _command("devices.next-match", "n", "match(1)", "Next match", "Go to the next match of the filter.", "devices"),
    _command("devices.previous-match", "N", "match(-1)", "Previous match", "Go to the match before.", "devices"),
    _command(
        "devices.sort",
        "s",
        "sort",
        "Sort",
        "Choose what the list is sorted by; kept for next time.",
        "devices",
        12,
        "devices-pane",
    ),
    _command(
        "devices.columns", "C", "columns", "Columns", "Choose the columns of the list; kept for next time.", "devices"
    ),
    _command("devices.rescan", "R", "rescan", "Rescan", "Look for hardware again.", "devices"),
    _command(
        "devices.measure",
        "m",
        "measure",
        "Measure",
        "Take the selected device as the target of a run.",
        "devices",
        8,
        "devices-pane",
    ),
    _command(
        "devices.new-array",
        "A",
        "new_array",
        "New array",
        "Tick drives that nothing uses and make an array of them; delete one that was made here.",
        "devices",
    ),
    _command(
        "devices.slowest",
        "S",
        "slowest",
        "Slowest",
        "Read the members of the array, or the drives of the card, in turn, to see which is slower than its siblings.",
        "devices",
    ),
    _command(
        "devices.ab",
        "B",
        "ab",
        "A/B",
        "Measure the staged value against the one in force, in pairs of runs; then put the old one back.",
        "devices bench",
        40,
        "detail-pane bench-ended",
    ),
    _command(
        "devices.export",
        "E",
        "export",
        "Export",
        "Write the settings of the device, of a card with all behind it, or of all that the filter finds, to a file "
        "that `raidbench apply` takes.",
        "devices",
        13,
    ),
    _command("bench.run", "r", "run", "Run", "Start the job.", "bench", 16, "bench-idle bench-ended"),
    _command(
        "bench.jobs.stop", "x", "stop", "Stop", "End the job; fio's summary is kept.", "bench", 15, "bench-running"
    ),
    _command(
        "bench.profile",
        "p",
        "profile",
        "Profile",
        "Choose one of the built-in workloads.",
        "bench",
        80,
        "bench-idle bench-ended",
    ),
    _command(
        "bench.edit", "e", "edit", "Edit", "Change every field of the job.", "bench", 81, "bench-idle bench-ended"
    ),
    _command("bench.open", "o", "open", "Open", "Take the job from a fio job file.", "bench"),
    _command(
        "bench.target",
        "T",
        "target",
        "Target",
        "Choose a scratch file, or one or several devices.",
        "bench",
        82,
        "bench-idle bench-ended",
    ),
    _command(
        "bench.advice",
        "i",
        "advice",
        "Advice",
        "Show all that makes the figures doubtful, and what to do.",
        "bench",
        83,
    ),
    _command(
        "bench.steady", "s", "steady", "Steady state", "Measure at once, or when the figures are steady.", "bench"
    ),
    _command(
        "bench.precondition",
        "P",
        "precondition",
        "Precondition",
        "Write all of the target twice, then the job until it is steady; asks first.",
        "bench",
    ),
    _command(
        "bench.baseline",
        "b",
        "baseline",
        "Baseline",
        "Show other runs against this one.",
        "bench runs",
        50,
        "runs-list runs-preview bench-ended",
    ),
    _command(
        "bench.freeze",
        "space",
        "freeze",
        "Freeze",
        "Hold the graphs still; measuring goes on.",
        "bench",
        85,
        "bench-running",
    ),
    _command("bench.zoom-in", "plus equals_sign", "zoom(1)", "Zoom in", "Show less time in the graphs.", "bench"),
    _command("bench.zoom-out", "minus", "zoom(-1)", "Zoom out", "Show more time in the graphs.", "bench"),
    _command(
        "bench.unit",
        "g",
        "unit",
        "IOPS or MiB/s",
        "Switch the upper graph between IOPS and MiB/s.",
        "bench",
        86,
        "bench-running bench-ended",
    ),
    _command(
        "bench.next-part",
        "right_square_bracket",
        "part(1)",
        "Section",
        "Show the graphs of the next section of the job, or of the next target.",
        "bench",
    ),
    _command(
        "bench.previous-part",
        "left_square_bracket",
        "part(-1)",
        "Previous",
        "Show the graphs of the previous section or target.",
        "bench",
    ),
    _command(
        "bench.heat",
        "v",
        "heat",
        "Heat map",
        "Latency as percentiles, or as a map of all I/Os: time across, latency up.",
        "bench",
        70,
        "bench-running bench-ended",
    ),
    _command(
        "bench.fit",
        "z",
        "fit",
        "Fit",
        "Show the time that was measured, or all that the job takes.",
        "bench",
        84,
        "bench-running bench-ended",
    ),
    _command(
        "bench.range",
        "y",
        "range",
        "Axis from 0",
        "Begin the upper graph at zero, or near its values.",
        "bench",
    ),
    _command("bench.scale", "l", "scale", "Log or linear", "Switch the latency scale.", "bench"),
    _command(
        "bench.compare",
        "c",
        "compare",
        "Compare",
        "Show the run beside the baseline or the one before.",
        "bench",
        20,
        "bench-ended",
    ),
    _command(
        "bench.export", "E", "export", "Export", "Write the session's report to a file.", "bench", 60, "bench-ended"
    ),
    _command("runs.mark", "space", "mark", "Mark", "Mark the run for comparing.", "runs", 10, "runs-list"),
    _command("runs.compare", "c", "compare", "Compare", "Show the two marked runs side by side.", "runs", 20),
    _command(
        "runs.explore",
        "X",
        "explore",
        "Explore",
        "Show pictures of the marked runs, of an A/B, or of all sessions of a target.",
        "runs compare history",
        51,
    ),
    _command("sweep.explore", "X", "explore", "Explore", "Show pictures of the sweep.", "sweep", 20, "sweep-over"),
    _command("explore.back", "escape h left", "back", "Back", "Back to where it was opened.", "explore", 9),
    _command("explore.what", "enter", "choose", "Of what", "Choose runs, an A/B, a sweep, all sessions.", "explore", 1),
    _command("explore.next", "right_square_bracket", "turn(1)", "Picture", "Next picture that has data.", "explore", 2),
    _command("explore.previous", "left_square_bracket", "turn(-1)", "Previous", "The picture before.", "explore"),
    *(
        _command(f"explore.{name}", key, f"kind('{name}')", name.capitalize(), help, "explore")
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
    _command("explore.figure", "g", "figure", "Figure", "Switch between IOPS, MiB/s and p99.", "explore", 3),
    _command("explore.log", "l", "log", "Log", "Switch between ratios and even distances.", "explore", 4),
    _command("explore.fit", "z", "fit", "Fit", "Let axes begin at zero, or fit what is drawn.", "explore", 5),
    _command(
        "explore.baseline", "b", "baseline", "Baseline", "Put the baseline beneath, or take it away.", "explore", 6
    ),
    _command("explore.earlier", "A", "earlier", "All sessions", "Take the runs of all sessions.", "explore", 7),
    _command("explore.export", "E", "export", "Export", "Write picture and figures as text to a file.", "explore", 8),
    _command("explore.before", "up", "step(-1)", "Run before", "Go to the run before.", "explore"),
    _command("explore.after", "down", "step(1)", "Run after", "Go to the run after.", "explore"),
    _command("compare.back", "escape h", "back", "Back", "Back to where it was opened.", "compare", 1),
    _command("compare.switch", "g", "switch", "Over time", "Both over time, with IOPS or with MiB/s.", "compare", 2),
    _command(
        "compare.percentiles",
        "v",
        "percentiles",
        "Percentiles",
        "Switch between both runs over time and their latencies by percentile.",
        "compare",
        3,
    ),
    _command(
        "compare.more",
        "plus",
        "more",
        "More pairs",
        "Measure the pairs that the plan of this A/B has left, after showing all that will be done.",
        "compare",
        5,
    ),
    _command(
        "runs.figures",
        "enter right l",
        "figures",
        "Open",
        "Open the graphs of the run again; f has every figure.",
        "runs",
        30,
        "runs-list",
    ),
    _command("runs.export", "E", "export", "Export", "Write the session's report to a file.", "runs compare", 80),
    _command(
        "runs.earlier",
        "A",
        "earlier",
        "Earlier runs",
        "Show or hide the runs of earlier sessions.",
        "runs",
        65,
        "runs-list",
    ),
    _command(
        "runs.history", "H", "history", "History", "Show how the same went in all sessions, with a chart.", "runs", 55
    ),
    _command("history.back", "escape h", "back", "Back", "Back to where it was opened.", "history", 1),
    _command("history.open", "enter", "open", "Open", "Open the graphs of the run under the cursor.", "history", 2),
    _command("history.before", "left", "step(-1)", "Run before", "Go to the run before.", "history", 3),
    _command("history.after", "right", "step(1)", "Run after", "Go to the run after.", "history", 4),
    _command(
        "hosts.open",
        "enter right l",
        "open",
        "Devices",
        "Show the devices of the host under the cursor and their settings, to be read only.",
        "hosts",
        1,
        "hosts-pane",
    ),
    _command("hosts.ask", "r", "ask", "Ask again", "Ask every host anew.", "hosts", 2),
    _command("hosts.mark", "space", "mark", "Mark", "Mark the host to measure on it, or unmark it.", "hosts", 3),
    _command("hosts.all", "asterisk", "mark_all", "Mark all", "Mark all that answered, or none.", "hosts", 5),
    _command(
        "hosts.measure",
        "b",
        "measure",
        "Measure",
        "Choose a workload and measure on all marked hosts at once; while that goes on, show it.",
        "hosts",
        4,
    ),
    _command("joint.stop", "x", "stop", "Stop", "Tell all hosts to stop; what they did by then is kept.", "joint", 1),
    _command("joint.export", "E", "export", "Export", "Write the session's report to a file.", "joint", 3),
    _command("joint.back", "escape h left", "back", "Back", "Back to the hosts; what is measured goes on.", "joint", 2),
    _command(
        "host.into",
        "enter right l",
        "into",
        "Open",
        "Open the branch, or go into the device; nothing can be set from here.",
        "host",
        1,
        "devices-pane",
    ),
    _command("host.tab", "t", "tab", "Next tab", "Show the settings or the facts of the device.", "host", 3),
    _command(
        "host.unfold",
        "asterisk",
        "unfold",
        "All drives",
        "Open everything, so that every drive is shown; again closes what is well.",
        "host",
        4,
        "devices-pane",
    ),
    _command("host.ask", "r", "ask", "Ask again", "Ask the host anew.", "host", 5),
    _command(
        "host.back",
        "escape left h",
        "back",
        "Back",
        "One step back: out of the device, out of the branch, to the hosts.",
        "host",
        2,
    ),
    _command("array.tick", "space", "tick", "Tick", "Tick the drive to make an array of, or untick it.", "array", 1),
    _command("array.level", "plus l", "level(1)", "Level", "The next level.", "array", 2),
    _command("array.level-before", "minus L", "level(-1)", "Level before", "The level before.", "array"),
    _command("array.strip", "right_square_bracket", "strip(1)", "Strip", "The next strip.", "array", 3),
    _command("array.strip-before", "left_square_bracket", "strip(-1)", "Strip before", "The strip before.", "array"),
    _command("array.spans", "s", "spans(1)", "Spans", "The next number of spans that the drives leave.", "array"),
    _command("array.spans-before", "S", "spans(-1)", "Spans before", "The number of spans before.", "array"),
    _command(
        "array.make",
        "a",
        "make",
        "Make",
        "Show what makes the array, and make it once the ends of the drives' serial numbers are typed.",
        "array",
        4,
    ),
    _command(
        "array.compare",
        "w",
        "compare",
        "Sweep",
        "Compare levels on the Sweep screen: arrays are made of the ticked drives one after the other, and deleted.",
        "array",
        6,
    ),
    _command(
        "array.delete",
        "d",
        "delete",
        "Delete",
        "Delete the array under the cursor, if it was made here and nothing lies on it.",
        "array",
        5,
    ),
    _command("array.back", "escape h left", "back", "Back", "Back to the devices.", "array", 7),
    _command("slowest.run", "r", "run", "Read", "Read every member in turn, in five rounds.", "slowest", 1),
    _command("slowest.stop", "x", "stop", "Stop", "End the reading.", "slowest", 2),
    _command(
        "slowest.back",
        "escape h left",
        "back",
        "Back",
        "Back to the devices; what is being read is read on, and S shows it again.",
        "slowest",
        3,
    ),
    _command(
        "sweep.run",
        "r",
        "run",
        "Run",
        "Start the sweep, after showing all that it does; it runs in a process of its own.",
        "sweep",
        2,
        "sweep-left sweep-right",
    ),
    _command(
        "sweep.stop",
        "x",
        "stop",
        "Stop",
        "End the sweep; every setting is put back as it was first.",
        "sweep",
        1,
        "sweep-running",
    ),
    _command("sweep.tick", "space", "tick", "Tick", "Tick a value, or open an axis.", "sweep", 3, "sweep-left"),
    _command("sweep.open-axis", "right l", "axis(True)", "Open axis", "Show the values of an axis.", "sweep"),
    _command("sweep.close-axis", "left", "axis(False)", "Close axis", "Show only its name.", "sweep"),
    _command(
        "sweep.fold",
        "f",
        "fold",
        "Fold",
        "List only what was chosen for the sweep, or everything.",
        "sweep",
        11,
        "sweep-left",
    ),
    _command("sweep.target", "T", "target", "Target", "Choose what is measured.", "sweep", 4, "sweep-left sweep-right"),
    _command(
        "sweep.profile",
        "p",
        "profile",
        "Profile",
        "Choose the workload that the axes vary.",
        "sweep",
        6,
        "sweep-left sweep-right",
    ),
    _command(
        "sweep.edit",
        "e",
        "edit",
        "Edit",
        "Change the fields of the job that the axes vary.",
        "sweep",
        10,
        "sweep-left sweep-right",
    ),
    _command(
        "sweep.open",
        "o",
        "open_plan",
        "Open plan",
        "Take a plan from a TOML file, or one that comes with raidbench.",
        "sweep",
        5,
        "sweep-left sweep-right",
    ),
    _command(
        "sweep.save",
        "s",
        "save_plan",
        "Save plan",
        "Write what is ticked as a plan that `raidbench sweep` takes.",
        "sweep",
        12,
        "sweep-left sweep-right",
    ),
    _command("sweep.new", "n", "new_plan", "New plan", "Leave an opened plan and tick one.", "sweep"),
    _command("sweep.view", "v", "view", "Plan or sweep", "Switch between the plan and the sweep.", "sweep", 8),
    _command(
        "sweep.go-on",
        "c",
        "go_on",
        "Go on",
        "Go on with a sweep that was stopped or cut short.",
        "sweep",
        7,
        "sweep-over",
    ),
    _command(
        "sweep.export",
        "E",
        "export",
        "Export",
        "Write the report of the sweep's session to a file.",
        "sweep",
        9,
        "sweep-over",
    ),
    _command("log.note", "w", "note", "Note", "Write something down in the session.", "log", 4),
    _command("log.search", "slash", "search", "Search", "Find a word in everything that happened.", "log", 2),
    _command(
        "log.filter",
        "f",
        "filter_events",
        "Show",
        "Show what happened, changes only, runs only, what was said, or everything with the commands that only read.",
        "log",
        1,
    ),
    _command("log.next", "n", "next_match(1)", "Next match", "Go to the next match.", "log", 3),
    _command("log.previous", "N", "next_match(-1)", "Previous match", "Go to the match before.", "log"),
    _command(
        "log.save", "E", "save", "Export", "Write the session's report; the log itself is always on disk.", "log", 5
    ),
    _command(
        "app.back",
        "escape h",
        "back",
        "Back",
        "One step back, out of what was opened; where one came from nowhere it says so.",
        "bench runs sweep log hosts",
    ),
    _command("app.keep-trial", "K", "keep_trial", "Keep trial", "Let the values on trial stand."),
    _command(
        "app.take-back",
        "u",
        "take_back",
        "Take back",
        "Bring the old values back that are on trial, now; on Devices, undo does it.",
        "bench runs sweep log compare history explore slowest array hosts host joint",
    ),
    _command(
        "app.copy",
        "Y",
        "copy",
        "Copy",
        "Copy the path, command or advice that was told last, or that of the problem under the cursor; a review copies "
        "its commands with c.",
    ),
    _command("app.help", "question_mark", "keys", "Keys", "Show the keys of this screen.", footer=98),
    _command("app.theme", "", "theme", "Theme", "Choose dark, light, or the colours of the terminal."),
    _command("app.palette", "ctrl+p", "command_palette", "Palette", "Find any command by name.", footer=97),
    _command(
        "app.suspend",
        "ctrl+z",
        "suspend",
        "Suspend",
        "Go back to the shell for a while, `fg` comes back; not while a job runs or something is being set.",
    ),
    _command("app.quit", "q", "leave", "Quit", "Leave; asks if a job is running or settings are changed.", footer=99),
)
"""In the order of help and palette."""

SCREENS = {"devices": "Devices", "bench": "Bench", "runs": "Runs", "sweep": "Sweep", "log": "Log"}
"""Screens by name, in the order of their keys."""

HOSTS = "hosts"
"""The screen above those: of all hosts, where some were named."""

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


TYPED_INTO = "field"
"""Stands for the pane while a field has the keys: letters are letters there."""

_FIELD_KEYS = (("enter", "Done"), ("esc", "Clear"))

_ALWAYS = ("app.help", "app.quit")
"""Commands that every footer ends with."""


def commands_of(screen: str, *, shared: bool = True) -> tuple[CommandSpec, ...]:
    """The commands that work on a screen, its own first."""
    own = tuple(command for command in COMMANDS if screen in command.screens)
    return own + (tuple(command for command in COMMANDS if "all" in command.screens) if shared else ())


def footer_of(screen: str, pane: str = "") -> tuple[CommandSpec, ...]:
    """The most useful commands of a screen, in their order; with the id of a pane those that are of use there."""
    here = [
        command
        for command in commands_of(screen)
        if command.footer and (not pane or not command.panes or pane in command.panes)
    ]
    return tuple(sorted(here, key=lambda command: command.footer))


def footer_keys(screen: str, pane: str, width: int, keymap: Mapping[str, str] = NO_KEYMAP) -> list[tuple[str, str]]:
    """Keys and labels of the footer of a pane, whole ones only: the most important that have room, then help and the
    way out. Each takes its text and three blanks. `keymap`: keys that somebody gave to commands, by id.
    """

    def pair(command: CommandSpec) -> tuple[str, str]:
        return keymap.get(command.id, command.shown_keys.split()[0]), command.label

    commands = footer_of(screen, pane)
    last = [pair(each) for each in commands if each.id in _ALWAYS]
    wanted = [pair(each) for each in commands if each.id not in _ALWAYS]
    if pane == TYPED_INTO:
        wanted, last = list(_FIELD_KEYS), []
    room = width - sum(_cells(each) for each in last)
    chosen: list[tuple[str, str]] = []
    for each in wanted:
        if _cells(each) <= room:
            chosen.append(each)
            room -= _cells(each)
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
"""Keys that work in every list, and what they do."""


def page() -> str:
    """docs/keys.md."""
    lines = [
        "# The keys",
        "",
        "`?` shows those of a screen, `raidbench keys` all with the names that `[keymap]` takes.",
    ]
    lines += ["", "## Moving", "", "| key | what it does |", "| --- | --- |"]
    lines += [f"| {_cell(keys)} | {help} |" for keys, help in MOVING]
    everywhere = tuple(command for command in COMMANDS if "all" in command.screens)
    own = {title: commands_of(name, shared=False) for name, title in (SCREENS | SHEETS).items()}
    for title, commands in {"On every screen": everywhere, **own}.items():
        lines += ["", f"## {title}", "", "| key | command | what it does |", "| --- | --- | --- |"]
        lines += [f"| {_cell(command.shown_keys)} | {command.label} | {command.help} |" for command in commands]
    return "\n".join(lines) + "\n"


def _cell(keys: str) -> str:
    return " ".join(f"`{key}`" for key in keys.replace(",", " ").split())
