"""What the kernel tells of the devices below while a job runs: when, in which words, and how seldom it is asked."""

from __future__ import annotations

import pytest

from app.core.benchmark.background_events import BackgroundEventWatch, event_text, with_background_events
from app.core.session.results import Phase, RunEvent, RunResult, RunStatus, Sample
from tests.backends.fakes import FakeHost

ACTION, CACHE = "/sys/block/md0/md/sync_action", "/sys/block/md0/queue/write_cache"


class Course:
    """A run of 10 s of ramp on md0, a second at a time."""

    def __init__(self, action: str = "idle", cache: str = "write back") -> None:
        self.host = FakeHost({ACTION: action, CACHE: cache})
        self.seconds = 0.0
        self.watch = BackgroundEventWatch(self.host, ("md0",), ramp=10.0, clock=lambda: self.seconds)

    async def see(self, at: float, phase: Phase = Phase.MEASURING, **texts: str) -> list[str]:
        """What is told of an interval that ends at this second of its phase, the files reading so by then."""
        self.host.files |= {ACTION if name == "action" else CACHE: text for name, text in texts.items()}
        self.seconds += 1.0
        return [event_text(one) for one in await self.watch.poll(Sample(at=at, seconds=1.0, phase=phase))]


@pytest.fixture
async def course() -> Course:
    made = Course()
    await made.watch.open()
    return made


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("resync", "A resync of md0 started at 0:15"),
        ("recover", "A recovery of md0 started at 0:15"),
        ("check", "A check of md0 started at 0:15"),
        ("reshape", "A reshape of md0 started at 0:15"),
    ],
)
async def test_work_that_begins_is_told_at_its_second_of_the_run(course: Course, action: str, words: str) -> None:
    assert await course.see(5.0, action=action) == [words]


async def test_work_that_ends_is_told(course: Course) -> None:
    await course.see(5.0, action="check")
    assert await course.see(30.0, action="idle") == ["A check of md0 ended at 0:40"]


async def test_one_work_that_follows_another_is_both(course: Course) -> None:
    await course.see(5.0, action="check")
    assert await course.see(6.0, action="repair") == ["A check of md0 ended at 0:16", "A repair of md0 started at 0:16"]


async def test_work_that_waits_to_go_on_has_not_begun(course: Course) -> None:
    assert await course.see(5.0, action="frozen") == []


async def test_a_write_cache_that_falls_back_is_told(course: Course) -> None:
    said = await course.see(5.0, cache="write through")
    assert said == ["The write cache of md0 changed from write back to write through at 0:15"]


async def test_what_went_on_before_did_not_begin_in_the_run() -> None:
    course = Course(action="resync")
    await course.watch.open()
    assert await course.see(1.0) == []


async def test_what_was_told_is_not_told_again(course: Course) -> None:
    await course.see(5.0, action="check")
    assert await course.see(6.0) == []


async def test_the_ramp_has_its_own_seconds(course: Course) -> None:
    assert await course.see(4.0, Phase.RAMP, action="check") == ["A check of md0 started at 0:04"]


async def test_waiting_for_a_steady_state_counts_in(course: Course) -> None:
    await course.see(20.0, Phase.SETTLING)
    assert await course.see(5.0, action="check") == ["A check of md0 started at 0:35"]


async def test_while_fio_is_silent_time_goes_on(course: Course) -> None:
    await course.see(5.0)
    course.host.files[ACTION] = "check"
    course.seconds += 3.0
    assert [event_text(one) for one in await course.watch.poll()] == ["A check of md0 started at 0:18"]


async def test_the_kernel_is_asked_once_a_second_however_many_intervals_there_are(course: Course) -> None:
    await course.see(5.0)
    course.host.files[ACTION] = "check"
    course.seconds += 0.25
    assert await course.watch.poll(Sample(at=5.25, seconds=0.25, phase=Phase.MEASURING)) == ()


async def test_what_happened_after_the_last_interval_is_there_at_the_end(course: Course) -> None:
    course.host.files[ACTION] = "check"
    assert [one.kind for one in await course.watch.end()] == ["check"]


async def test_a_device_that_has_neither_file_is_not_asked_again() -> None:
    course = Course()
    course.host.files.clear()
    await course.watch.open()
    assert await course.see(5.0, action="check") == []


def test_the_figures_have_it_in_the_same_words() -> None:
    event = RunEvent(at=15.0, device="md0", kind="check", after="going on")
    figures = with_background_events(RunResult(status=RunStatus.OK, warnings=("before",)), (event,))
    assert (figures.happened, figures.warnings) == ((event,), ("before", "A check of md0 started at 0:15"))
