"""Is fio there, new enough, and do its engines work?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.fio.job import Engine, Job, Pattern
from app.core.fio.job_values import SyncMode
from app.core.fio.option_table import SHIPPED
from app.core.fio.preflight import option_table, preflight
from backends.errors import RefusedError, ToolFailedError, ToolMissingError
from tests.core.fio.documents import direction, document, printed
from tests.core.fio.hosts import ScriptedHost

ENGINES = "Available IO engines:\n\tpsync\n\tio_uring\n\tlibaio\n"
GOOD = printed(document(10, read=direction({99840: 16}, runtime_ms=10))).decode()


def refused(code: int, engine: str) -> tuple[str, int]:
    return f"fio: pid=2, err={code}/file:engines/{engine}.c:998, func=io_queue_init, error=x\n{GOOD}", 1


def host(version: str = "fio-3.33\n", **answers: tuple[str, int]) -> ScriptedHost:
    named = {f"--ioengine={engine}": answer for engine, answer in answers.items()}
    everything = {"--version": (version, 0), "--enghelp": (ENGINES, 0), **named, "--name=probe": (GOOD, 0)}
    return ScriptedHost(answers=everything)


async def test_everything_works() -> None:
    found = await preflight(host())
    assert (found.version, found.refused) == ("fio-3.33", {})
    assert found.engines == {"psync", "io_uring", "libaio"}


async def test_it_is_asked_once_per_host() -> None:
    machine = host()
    await preflight(machine)
    asked = len(machine.commands)
    await preflight(machine)
    assert len(machine.commands) == asked


@pytest.mark.parametrize(
    ("engine", "tried"),
    [(Engine.PSYNC, []), (Engine.LIBAIO, ["libaio"]), (Engine.IO_URING, ["io_uring", "libaio"])],
)
async def test_only_what_a_job_may_be_run_with_is_tried(engine: Engine, tried: list[str]) -> None:
    machine = host(io_uring=refused(1, "io_uring"))
    await preflight(machine, Job(ioengine=engine))
    words = [word for command in machine.commands for word in command.argv if word.startswith("--ioengine=")]
    assert words == [f"--ioengine={name}" for name in tried]


async def test_what_was_tried_for_one_job_is_known_for_the_next() -> None:
    machine = host(libaio=refused(38, "libaio"))
    await preflight(machine, Job(ioengine=Engine.LIBAIO))
    asked = len(machine.commands)
    found = await preflight(machine, Job(ioengine=Engine.LIBAIO))
    assert (len(machine.commands), found.substitute(Job(ioengine=Engine.LIBAIO))[0].ioengine) == (asked, Engine.PSYNC)


async def test_a_forbidden_io_uring_gives_way_to_libaio() -> None:
    found = await preflight(host(io_uring=refused(1, "io_uring")))
    job, (note,) = found.substitute(Job(ioengine=Engine.IO_URING, iodepth=8))
    assert job.ioengine is Engine.LIBAIO
    assert "not permitted" in note


async def test_without_asynchronous_engines_queue_depth_means_nothing() -> None:
    found = await preflight(host(io_uring=refused(38, "io_uring"), libaio=refused(38, "libaio")))
    job, (note,) = found.substitute(Job(ioengine=Engine.IO_URING, iodepth=8))
    assert job.ioengine is Engine.PSYNC
    assert "queue depth 8 has no effect" in note


async def test_an_engine_that_works_stays() -> None:
    found = await preflight(host())
    job = Job(ioengine=Engine.LIBAIO)
    assert found.substitute(job) == (job, ())


async def test_a_fio_without_the_engine_says_so() -> None:
    found = await preflight(host())
    assert "no engine posixaio" in found.substitute(Job(ioengine=Engine.POSIXAIO))[1][0]


HELP = {
    "--cmdhelp=all": ("rw                      : IO direction\n  bs                    : Block size unit\n", 0),
    "--enghelp=io_uring": ("hipri                   : Use polled IO completions\n", 0),
}


async def test_the_installed_fio_says_which_options_it_knows() -> None:
    machine = host(version="fio-3.99\n")
    machine.answers = {**HELP, **machine.answers}
    table = await option_table(machine)
    assert (table.version, table.installed) == ("fio-3.99", True)
    assert [table.lacks(name) for name in ("rw", "readwrite", "blocksize", "hipri", "iodepth")] == [False] * 4 + [True]


@pytest.mark.parametrize("answers", [{}, {"--cmdhelp=all": ("Usage: fio\n", 0)}])
async def test_a_fio_that_lists_no_options_is_taken_for_one_that_knows_all(answers: dict[str, tuple[str, int]]) -> None:
    machine = host(version="fio-3.98\n")
    machine.answers = {**answers, **machine.answers}
    assert await option_table(machine) is SHIPPED


@pytest.mark.parametrize("version", ["fio-3.17\n", "fio-2.21\n", "fio-2.1.10\n"])
async def test_an_old_fio_is_refused_with_the_reason(version: str) -> None:
    with pytest.raises(ToolMissingError) as caught:
        await preflight(host(version))
    assert "needs fio 3.18" in caught.value.message
    assert "a static fio" in (caught.value.hint or "")


@pytest.mark.parametrize("version", ["fio-3.18\n", "fio-3.42-135-gf5344\n", "fio-4.0\n"])
async def test_newer_ones_are_taken(version: str) -> None:
    assert (await preflight(host(version))).version == version.strip()


async def test_another_program_of_that_name_is_told() -> None:
    with pytest.raises(ToolFailedError):
        await preflight(host("Flexible Image Optimizer 1\n"))


@pytest.mark.parametrize(
    ("answer", "refused_there"),
    [
        ("sync: Use O_SYNC for buffered writes\n", True),
        ("sync: Use synchronous write IO\nvalid values: none\n: 0\n: sync\n: 1\n: dsync\n", False),
        ("", False),
    ],
    ids=["only O_SYNC", "both", "silent"],
)
async def test_synchronous_data_writes_need_a_fio_that_knows_them(answer: str, refused_there: bool) -> None:
    machine = ScriptedHost(answers={**host().answers, "--cmdhelp=sync": (answer, 0)})
    job = Job(rw=Pattern.WRITE, sync=SyncMode.DSYNC, ioengine=Engine.PSYNC)
    if refused_there:
        with pytest.raises(ToolMissingError, match="does not support sync=dsync"):
            await preflight(machine, job)
    else:
        assert (await preflight(machine, job)).version == "fio-3.33"
    asked = [command.argv for command in machine.commands if "--cmdhelp=sync" in command.argv]
    await preflight(machine, replace(job, sync=SyncMode.SYNC))
    assert [command.argv for command in machine.commands if "--cmdhelp=sync" in command.argv] == asked != []


@pytest.mark.parametrize("option", ["sqthread_poll", "fixedbufs", "hipri"])
async def test_options_of_io_uring_are_not_measured_with_another_engine(option: str) -> None:
    found = await preflight(host(io_uring=refused(1, "io_uring")))
    job = Job.from_fields({"ioengine": "io_uring", option: "yes"})
    with pytest.raises(RefusedError, match=option):
        found.substitute(job)
