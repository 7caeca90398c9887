"""The animation in the repository: small, without scripts and links, and it shows the whole loop."""

from __future__ import annotations

import re
import socket
from html import unescape
from itertools import pairwise

from tests.screenshots.cast import LARGEST, LOOP, PAUSE_S, animated, downsampled
from tests.screenshots.drawing import BASE, Line, Run

SHOWN = ("First steps", "r1 done", "1 staged", "rdcache=ra", "verified", "r2 done", "rdcache=nora")
"""What is to be seen, one after the other."""


def text() -> str:
    return LOOP.read_text(encoding="utf-8")


def line(words: str) -> Line:
    return (Run(0, words, "#ffffff", BASE),)


def test_it_is_small_enough_for_a_page() -> None:
    assert LOOP.stat().st_size <= LARGEST


def test_it_moves_without_scripts_and_leads_nowhere() -> None:
    assert not re.search(r"<script|\bon\w+=|javascript:|<foreignObject|<image", text())
    assert set(re.findall(r"\w+://[^\"'<) ]*", text())) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r'href="(.)', text())) == {"#"}


def test_it_shows_the_loop_from_its_beginning_to_its_end() -> None:
    bodies = re.findall(r'<g id="(l\d+)">(.*)</g>', text())
    drawn = {name: unescape(re.sub(r"<[^>]+>", "", body)) for name, body in bodies}
    wanted = list(SHOWN)
    for frame in re.findall(r'<g class="f"[^>]*>(.*)</g>', text()):
        shown = "\n".join(drawn[name] for name in re.findall(r'href="#(l\d+)"', frame))
        while wanted and wanted[0].replace(" ", "") in shown.replace(" ", ""):
            wanted.pop(0)
    assert wanted == []


def test_nothing_of_the_machine_it_was_made_on_is_in_it() -> None:
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b|/home/|/root/", text())


def test_of_screens_that_follow_at_once_the_last_counts_and_long_waits_are_shortened() -> None:
    first, second, third = ((line(word),) for word in ("one", "two", "three"))
    found = downsampled([(10.0, first), (10.1, second), (99.0, third)])
    assert found == [(0.0, second), (PAUSE_S, third)]
    half_drawn = downsampled([(10.0, first), (20.0, second), (20.01, third)])
    assert [screen for _, screen in half_drawn] == [first, third]


def test_each_screen_is_visible_until_the_next_one_comes() -> None:
    made = animated([(0.0, (line("one"),)), (1.0, (line("two"),)), (2.0, (line("one"),))], "Three")
    shown = r"@keyframes k\d\{(?:0%\{visibility:hidden\})?([\d.]+)%\{visibility:visible\}(?:([\d.]+)%)?"
    spans = re.findall(shown, made)
    assert [last for _, last in spans][:-1] == [first for first, _ in spans][1:]
    assert all(float(before[0]) < float(after[0]) for before, after in pairwise(spans))
    assert made.count(">one<") == 1
