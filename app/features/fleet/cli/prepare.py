"""`hosts prepare`: copies the standalone binary to hosts without raidbench, and reports what each host still needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.command import command
from app.cli.exit_status import DONE, FOUND
from app.cli.options import current
from app.cli.output import lines, paint, print_json, say
from app.cli.shared_options import dry_run_option, json_option, yes_option
from app.features.fleet.cli.host_options import host_options
from app.features.fleet.ssh.command import SECONDS
from backends.sizes import size_words
from backends.text import clean
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.features.fleet.hosts.deployment import CopyState, InstalledCopy
    from app.features.fleet.hosts.failure_causes import MissingHost
    from app.features.fleet.hosts.grouping import HostResponses
    from app.features.fleet.hosts.readiness import Readiness
    from app.features.fleet.hosts.standalone_binary import StandaloneBinary

_NAMED, _TIMEOUT, _PROGRAM = host_options(required=True)


@command("prepare", "raidbench hosts prepare node[1-8] --dry-run")
@_NAMED
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Standalone binary to copy (default: the running one).",
)
@dry_run_option
@yes_option
@_TIMEOUT
@_PROGRAM
@json_option
def prepare_command(
    hosts: str,
    file: Path | None,
    dry_run: bool,
    yes: bool,
    host_timeout: float | None,
    host_program: str | None,
    as_json: bool,
) -> int:
    """Copy raidbench to hosts and show what each host lacks.

    The standalone binary goes to ~/.local/lib/raidbench of the SSH user. It is used on hosts without raidbench in the
    PATH. Its SHA-256 is verified before it is installed. Nothing else is changed. The exit status is 5 if something
    required is missing on a host, and 6 if a host is missing.
    """
    from app.features.fleet.cli.query import collect_into, combined_status, gather, print_losses
    from app.features.fleet.hosts.deployment import CopyState
    from app.features.fleet.hosts.grouping import HostResponses
    from app.features.fleet.hosts.readiness import readiness
    from app.features.fleet.hosts.standalone_binary import find_binary
    from app.features.fleet.ssh.nodesets import parse_hosts

    named = parse_hosts(hosts)
    simulated = bool(current().demo)
    if file is not None and (simulated or host_program is not None):
        raise click.UsageError("--file cannot be combined with --host-program.")
    states: dict[str, CopyState] = {}
    losses: list[MissingHost] = []
    sent = find_binary(file) if host_program is None and not simulated else None
    if host_program is None and not simulated:
        states, losses = _copy_to(named, sent, dry_run=dry_run, yes=yes, seconds=host_timeout)
    gone = {loss.host for loss in losses}
    ready = [host for host in named if host not in gone and states.get(host) is not CopyState.WANTED]
    needs: dict[str, Readiness] = {}
    host_responses = HostResponses(asked=tuple(ready))
    if ready:
        take = collect_into(host_responses, needs, lambda answer: readiness(answer.document))
        gather(host_responses, ("doctor", "--json"), seconds=host_timeout, program=host_program, take=take)
    responses = HostResponses(asked=named, missing=[*losses, *host_responses.missing])
    responses.answered = len(named) - len(responses.missing)
    _print_hosts(responses, needs, states, sent, as_json=as_json)
    print_losses(responses)
    if wanted := sum(state is CopyState.WANTED for state in states.values()):
        say(f"Dry run: nothing was copied to {plural(wanted, 'host')}.")
    return combined_status(responses, FOUND if wanted or any(need.lacking for need in needs.values()) else DONE)


def _print_hosts(
    responses: HostResponses,
    needs: Mapping[str, Readiness],
    states: Mapping[str, CopyState],
    file: StandaloneBinary | None,
    *,
    as_json: bool,
) -> None:
    from app.features.fleet.hosts.deployment import COPY_WORDS
    from app.features.fleet.hosts.grouping import counts_json, group_by_key, losses_json
    from app.features.fleet.ssh.nodesets import fold_names

    gone = {loss.host for loss in responses.missing}
    present = (host for host in responses.asked if host not in gone)
    same = group_by_key(present, lambda host: (states.get(host), needs.get(host)))
    if as_json:
        nothing: dict[str, Any] = {"program": None, "rights": None, "fio": None, "in_use": None, "lacking": []}
        listed = [
            {
                "hosts": fold_names(group),
                "names": group,
                "copy": None if (state := states.get(group[0])) is None else state.value,
                **(needs[group[0]].json() if group[0] in needs else nothing),
            }
            for group in same
        ]
        body = {"hosts": listed, "missing": losses_json(responses), "counts": counts_json(responses)}
        print_json(file=None if file is None else file.json(), **body)
        return
    for group in same:
        head = f"{fold_names(group)} ({plural(len(group), 'host')})"
        state = states.get(group[0])
        rows = [] if state is None else [f"copy    {COPY_WORDS[state]}"]
        rows += needs[group[0]].rows() if group[0] in needs else []
        lines([paint(clean(head, 2000), "bold"), *(f"  {row}" for row in rows)])


def _copy_to(
    named: tuple[str, ...], file: StandaloneBinary | None, *, dry_run: bool, yes: bool, seconds: float | None
) -> tuple[dict[str, CopyState], list[MissingHost]]:
    """Copy the binary to the hosts; return the state of the copy on each host, and the hosts that failed."""
    from app.cli.confirm import confirm_harmless
    from app.cli.session_context import refuse_read_only
    from app.features.fleet.cli.query import ask_all, collect_into
    from app.features.fleet.hosts.deployment import (
        LOOK,
        PLACE,
        SEND_S,
        CopyState,
        copy_precheck,
        install_copy_argv,
        is_copied,
        not_copied_reason,
        parse_installed_copy,
    )
    from app.features.fleet.hosts.failure_causes import missing_host
    from app.features.fleet.hosts.grouping import HostResponses
    from app.features.fleet.hosts.wire_format import HostsRequest, RawResponse
    from app.features.fleet.ssh.faults import Cause
    from app.features.fleet.ssh.nodesets import fold_names

    installed: dict[str, InstalledCopy] = {}
    checked = HostResponses(asked=named)
    order = HostsRequest(hosts=named, words=LOOK, seconds=seconds or SECONDS)
    ask_all(checked, order, collect_into(checked, installed, lambda answer: parse_installed_copy(answer.document)))
    losses = list(checked.missing)
    states: dict[str, CopyState] = {}
    for host in named:
        if host not in installed:
            continue
        state = copy_precheck(installed[host], file)
        if state is not None:
            states[host] = state
        else:
            message, hint = not_copied_reason(installed[host], file)
            losses.append(missing_host(RawResponse(host=host, status=0), Cause.ABSENT, message=message, hint=hint))
    wanting = tuple(host for host, state in states.items() if state is CopyState.WANTED)
    if not wanting or file is None:
        return states, losses
    say(f"{clean(str(file.path), 300)}: {size_words(file.size)} for {file.machine}, SHA-256 {file.sha256}")
    say(f"into {PLACE} of {plural(len(wanting), 'host')}: {fold_names(wanting)}")
    if dry_run:
        return states, losses
    refuse_read_only()
    confirm_harmless(f"Copy it to {plural(len(wanting), 'host')}", yes=yes)
    copies: dict[str, bool] = {}
    sending = HostResponses(asked=wanting)
    order = HostsRequest(
        hosts=wanting,
        words=install_copy_argv(file),
        seconds=max(seconds or 0.0, SEND_S),
        send=str(file.path.absolute()),
    )
    ask_all(sending, order, collect_into(sending, copies, lambda answer: is_copied(answer.document, file)))
    losses += sending.missing
    for host, is_whole in copies.items():
        if is_whole:
            states[host] = CopyState.COPIED
        else:
            losses.append(missing_host(RawResponse(host=host, status=0), Cause.NOT_JSON))
    for loss in losses:
        states.pop(loss.host, None)
    return states, losses
