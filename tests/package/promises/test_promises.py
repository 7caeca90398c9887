"""The promises of raidbench in each form that is shipped: one column of docs/dev/packaging.md for each form."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import sshd
from tests.backends.loops import Loop, loop, needs_loops
from tests.journeys.terminal import terminal
from tests.package.promises import journey, table
from tests.package.promises.forms import FORMS, InstalledForm, NotBuiltError, installed
from tests.packages import PLACES, needs
from tests.trial import try_trial
from tools.package.tree import VERSION

pytestmark = [pytest.mark.package, pytest.mark.root, pytest.mark.slow]
RecordProperty = Callable[[str, object], None]

JOB = "--profile randread-4k --size 16M --runtime 1 --ramp 0"
COMPLETE = """
    {load}
    COMP_LINE='raidbench dev'; COMP_POINT=13; _raidbench_completion {command}; echo "${{COMPREPLY[@]}}"
"""
"""A line of bash, in which tab is typed."""


@pytest.fixture(scope="module", params=FORMS, ids=lambda form: form.title.split(",")[0])
def form(request: pytest.FixtureRequest) -> Iterator[InstalledForm]:
    """A form that is installed."""
    try:
        with installed(request.param) as made:
            yield made
    except NotBuiltError as error:
        pytest.skip(str(error))


@pytest.fixture
def disk(form: InstalledForm) -> Iterator[Loop]:
    """A disk of our own."""
    with loop(form.work / "disk.img") as made:
        yield made


def read_ahead(disk: Loop) -> str:
    """Return its present read-ahead, in KiB."""
    return Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").read_text().strip()


@table.promise("start")
def test_it_starts_and_says_what_it_is(form: InstalledForm) -> None:
    done = form.run(f"{form.command} --version && {form.command} --version --json && {form.command} devices --json")
    version, *documents = done.stdout.splitlines()
    assert version == f"raidbench {VERSION}", done.stderr
    assert f'"form": "{form.form.kind}"' in "\n".join(documents)
    assert done.returncode == 0


@table.promise("workbench over SSH")
@needs("ssh", "ssh-keygen")
def test_the_workbench_is_used_by_keys_over_ssh(form: InstalledForm) -> None:
    if why := sshd.get() or sshd.lacking():
        pytest.skip(why)
    (form.work / "sshd").mkdir()

    def places(ports: tuple[int, ...]) -> str:
        return f"Match LocalPort {ports[0]}\n  SetEnv PATH={PLACES} HOME={form.home} LANG=C.UTF-8\n"

    with sshd.server(form.work / "sshd", more=places, root=form.within) as server:
        words = (
            *("ssh", "-tt", "-F", "none", "-p", str(server.port), "-i", server.folder / "key"),
            *("-o", f"UserKnownHostsFile={server.folder}/known", "-o", "GlobalKnownHostsFile=none"),
            *("root@127.0.0.1", f"{form.command} {journey.WORDS}"),
        )
        with terminal(form.work, tuple(map(str, words))) as shown:
            journey.walk(shown)


@table.promise("benchmark of a file")
@needs("fio")
def test_a_file_is_measured(form: InstalledForm) -> None:
    done = form.run(f"mkdir -p {form.work}/scratch && {form.command} bench {form.work}/scratch {JOB} --json")
    run = json.loads(done.stdout)["run"]
    assert (run["status"], run["read"]["total_ios"] > 0) == ("ok", True), done.stderr


@table.promise("trial that reverts")
@needs_loops()
def test_a_trial_reverts(form: InstalledForm, disk: Loop) -> None:
    try_trial(form.command, disk, form.run)


@table.promise("root helper through sudo")
@needs_loops()
@needs("sudo", "setpriv")
def test_a_user_sets_and_undoes_through_the_helper(
    form: InstalledForm, disk: Loop, record_property: RecordProperty
) -> None:
    """Root does not run what a user has unpacked: that is refused with the reason, and nothing is set."""
    before = read_ahead(disk)
    rule = f"nobody ALL=(root) NOPASSWD: {form.form.rule.format(work=form.work)}"
    form.run(f"echo {shlex.quote(rule)} >/etc/sudoers.d/raidbench && chmod 440 /etc/sudoers.d/raidbench")
    done = form.as_user(f"{form.command} set block:{disk.name} read_ahead_kb=512 --yes")
    there = read_ahead(disk)
    if form.form.own_files:
        record_property(table.OUTCOME, "none: each user has own files, and the refusal says so")
        assert (there, "is not owned by root" in done.stderr) == (before, True), done.stderr
        return
    undone = form.as_user(f"{form.command} undo --yes")
    assert (there, read_ahead(disk)) == ("512", before), done.stderr + undone.stderr


@table.promise("report")
def test_a_session_becomes_a_report(form: InstalledForm) -> None:
    bench = f"{form.command} --demo --demo-speed 8 bench megaraid:/c0/v1 {JOB}"
    done = form.run(f"{bench} >&2 && {form.command} --demo report -o {form.work}/report.html")
    assert (done.returncode, "<html" in (form.work / "report.html").read_text()) == (0, True), done.stderr


@table.promise("completion")
@needs("bash")
def test_bash_completes_a_command(form: InstalledForm) -> None:
    load = f'eval "$(_RAIDBENCH_COMPLETE=bash_source {form.command})"'
    if form.form.manual:
        load = ". /usr/share/bash-completion/completions/raidbench"
    done = form.run(f"bash -c {shlex.quote(COMPLETE.format(load=load, command=form.command))}")
    assert done.stdout == "devices\n", done.stderr


@table.promise("manual page")
def test_the_manual_is_there(form: InstalledForm, record_property: RecordProperty) -> None:
    """A form that is not a package has the same text as `--help` only."""
    if not form.form.manual:
        record_property(table.OUTCOME, "none: `--help` only")
    done = form.run("man raidbench-set | cat" if form.form.manual else f"{form.command} set --help")
    assert "--trial SECONDS" in done.stdout, done.stderr
