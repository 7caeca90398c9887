"""The loop as an animated picture: the real program on the simulated rack, its screens one after the other in an SVG.

python -m tests.screenshots.cast            writes screenshots/loop.svg; CSS alone moves it
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.screenshots.drawing import Line, drawn, framed, lines
from tests.screenshots.glyphs import HEIGHT
from tests.screenshots.stage import ShownTerminal, rack

SIZE = (120, 30)
LOOP = Path(__file__).parents[2] / "screenshots" / "loop.svg"
LARGEST = 500_000
"""Bytes that the file may have."""

PAUSE_S = 1.6
"""The longest time for which nothing moves."""

LAST_S = 3.0
"""How long the last screen stays before it begins again."""

QUICK_S = 0.7
"""Screens that follow each other faster are left out: the last of them counts, ..."""

SELDOM_S = 2.0
"""... and while they go on one in so long."""

DRAWN_S = 0.3
"""A screen that another one follows as fast is only a part of it, read before the rest had come."""

Frame = tuple[float, tuple[Line, ...]]
"""When it was there, and what."""


def play(shown: ShownTerminal) -> None:
    """Look, measure, change, measure again, compare, undo."""
    shown.find("ssd")
    shown.step("m", "Bench")
    shown.step("r", "r1 done")
    shown.step("1", "84016E")
    shown.step("\r", "Read-ahead")
    shown.step("j", "Read-ahead")
    shown.step("]", "1 staged")
    shown.step("a", "rdcache=ra", 1.5)
    shown.press("y", "rdcache=ra")
    shown.wait_for("verified")
    shown.step("2", "r1")
    shown.step("r", "r2 done")
    shown.step("c", "r2", 2)
    shown.keys("\x1b")
    shown.step("1", "84016E")
    shown.step("u", "rdcache=nora", 1.5)
    shown.press("y", "rdcache=nora")
    shown.wait_for("verified")
    shown.rest()


def downsampled(frames: Sequence[Frame]) -> list[Frame]:
    """Of screens that follow each other at once the last; long waits are shortened, and the first begins at 0."""
    found: list[Frame] = []
    at = before = 0.0
    for (when, screen), (after, _) in zip(frames, [*frames[1:], (float("inf"), ())], strict=True):
        passing = after - when < QUICK_S and (not found or when - before < SELDOM_S or after - when < DRAWN_S)
        if passing or (found and found[-1][1] == screen):
            continue
        at += min(when - before, PAUSE_S) if found else 0.0
        before = when
        found.append((at, screen))
    return found


def animated(frames: Sequence[Frame], title: str) -> str:
    """An SVG in which these screens follow each other for ever; each line that is shown is drawn once."""
    whole = frames[-1][0] + LAST_S
    known: dict[Line, str] = {}
    for _, screen in frames:
        for line in screen:
            known.setdefault(line, f"l{len(known)}")
    signs: dict[str, str] = {}
    kept = {name: text for line, name in known.items() if (text := drawn(line, signs))}
    style = [".f{visibility:hidden}#f0{visibility:visible}"]  # the first where nothing moves
    inside = ["<defs>", *(f'<g id="{name}">{form}</g>' for form, name in signs.items())]
    inside += [*(f'<g id="{name}">{text}</g>' for name, text in kept.items()), "</defs>"]
    ends = [at for at, _ in frames[1:]] + [whole]
    for number, ((begin, screen), end) in enumerate(zip(frames, ends, strict=True)):
        first, last = f"{100 * begin / whole:.2f}%", f"{100 * end / whole:.2f}%"
        before = "" if number == 0 else "0%{visibility:hidden}"
        after = "" if number == len(frames) - 1 else f"{last}{{visibility:hidden}}"
        style.append(f"@keyframes k{number}{{{before}{first}{{visibility:visible}}{after}}}")
        style.append(f"#f{number}{{animation:k{number} {whole:.1f}s step-end infinite}}")
        rows = (
            f'<use href="#{known[line]}" y="{y * HEIGHT:g}"/>' for y, line in enumerate(screen) if known[line] in kept
        )
        inside.append(f'<g class="f" id="f{number}">{"".join(rows)}</g>')
    return framed(*SIZE, title, inside, "".join(style))


def main() -> int:
    """Write it anew."""
    frames: list[Frame] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (Path(folder) / "state").mkdir()
        (Path(folder) / "state" / "config.toml").write_text("fps = 2\n")  # fewer screens of a run
        with rack(Path(folder), SIZE) as shown:
            shown.changed = lambda: frames.append((time.monotonic(), lines(shown.screen)))
            shown.changed()
            play(shown)
    made = animated(downsampled(frames), "raidbench: measure, change one setting, measure again, compare, undo")
    if len(made) > LARGEST:
        print(f"{len(made)} bytes are more than {LARGEST}: play less, or leave more out", file=sys.stderr)
        return 1
    LOOP.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
