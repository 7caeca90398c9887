"""The commands by name: their list needs no import, a command only its own."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "devices": ("app.cli.devices", "Everything found: controllers, arrays, drives."),
    "show": ("app.cli.devices", "Facts and settings of one target, and what may be changed."),
    "check": ("app.cli.check", "What of the set-up costs speed or safety, without any load."),
    "array": ("app.cli.array", "The arrays, the drives that one can be made of, and what makes one."),
    "set": ("app.cli.change", "Change settings, after showing the exact commands."),
    "undo": ("app.cli.undo", "Take back changes of the session."),
    "keep": ("app.cli.trial", "Keep what is on trial."),
    "persist": ("app.cli.persist", "Keep settings after a reboot."),
    "bench": ("app.cli.bench", "Measure a device, an array or a scratch file with fio."),
    "precondition": ("app.cli.precondition", "Write a device in full, twice, before it is measured."),
    "ab": ("app.cli.ab", "Measure one setting against another value, in pairs, and put it back."),
    "sweep": ("app.cli.sweep", "Measure many set-ups under many workloads, and put everything back."),
    "curve": ("app.cli.curve", "Measure throughput against latency, and find the knee."),
    "attach": ("app.cli.attach", "Show a sweep that runs in the background, or stop it."),
    "profiles": ("app.cli.profiles", "The workloads by name."),
    "runs": ("app.cli.runs", "The runs of the session."),
    "compare": ("app.cli.runs", "Two runs, their repeats or an experiment side by side, and what they show."),
    "metrics": ("app.cli.metrics", "Settings, states and findings as figures for a monitoring."),
    "history": ("app.cli.history", "The runs of all sessions, and where their level changed."),
    "plot": ("app.cli.plot", "A picture of runs, an A/B, a sweep or all sessions of a target."),
    "baseline": ("app.cli.baseline", "Save runs under a name, and measure the same again after an update."),
    "log": ("app.cli.log", "The session as it was."),
    "report": ("app.cli.report", "The session as a document."),
    "archive": ("app.cli.archive", "The session as one file, for another machine."),
    "recover": ("app.cli.recover", "Restore what a crash left."),
    "doctor": ("app.cli.doctor", "What works here, what is missing, what to do."),
    "capture": ("app.cli.capture", "Record this machine for a test or a bug report."),
    "keys": ("app.cli.keys", "The keys of the workbench."),
    "version": ("app.cli.about", "The version; with --json also Python, form and file formats."),
    "help": ("app.cli.about", "What a command does, and its options."),
    "glossary": ("app.cli.glossary", "The words that are used here, and what they mean."),
}
"""Module and one line of help by command: help needs no import, a command only its own."""
