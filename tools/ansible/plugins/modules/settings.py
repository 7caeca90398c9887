#!/usr/bin/python
# MIT licence: see LICENSE of raidbench.
"""Bring settings of RAID controllers, software RAID and drives to a desired state with `raidbench apply`."""

from __future__ import annotations

DOCUMENTATION = r"""
module: settings
short_description: Manage settings of RAID controllers, software RAID and drives
description:
  - Runs C(raidbench apply) on the host. It plans all settings as one set, verifies each change by reading it, and
    records it in the journal of the host. C(raidbench undo) undoes the changes. If a change cannot be verified, the
    complete set is reverted.
  - The module never destroys data. The task fails for settings that only a re-created array can have, for settings that
    cannot be changed at present and for missing devices, unless O(remaining=report).
  - In check mode nothing is changed. O(trial) and O(persist) have the same meaning as in a settings file.
options:
  targets:
    description: Tables of a settings file, each with C(select), C(set), C(expect), C(confirm) and C(optional).
    type: list
    elements: dict
  src:
    description: Settings file on the host, such as C(raidbench export) writes.
    type: path
  trial:
    description: Seconds after which all changes are reverted unless C(raidbench keep) is run. Only with O(targets).
    type: int
  persist:
    description: Whether to write a file that restores volatile settings at boot. Only with O(targets).
    type: bool
    default: false
  remaining:
    description: Whether differences that C(raidbench apply) cannot set fail the task.
    type: str
    choices: [fail, report]
    default: fail
  program:
    description: Command that starts raidbench.
    type: list
    elements: str
    default: [raidbench]
author:
  - The raidbench authors
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
"""

EXAMPLES = r"""
- name: Set the read-ahead of all hard disks, persistent over a reboot
  raidbench.storage.settings:
    persist: true
    targets:
      - select: {media: hdd}
        set: {read_ahead_kb: 4096}
        optional: true

- name: Apply a settings file from a reference host
  raidbench.storage.settings:
    src: /etc/raidbench/good.toml
"""

RETURN = r"""
changes:
  description: Changes that were made, or would be made in check mode, with their results.
  type: list
  returned: always
commands:
  description: Commands of these changes.
  type: list
  returned: always
remaining:
  description: Differences that C(raidbench apply) cannot set.
  type: list
  returned: always
on_trial:
  description: Whether the changes are reverted automatically unless C(raidbench keep) is run.
  type: bool
  returned: always
"""

import json
import os
import tempfile

from ansible.module_utils.basic import AnsibleModule

VALID_STATUSES = (0, 5)
"""Exit statuses with which `apply` prints valid output: 0 if no difference remains, else 5."""
SETTABLE = ("settable", "not-kept")
"""Kinds of differences that `apply` can set."""
UNKNOWN = "?"
"""Placeholder for an unknown current value in the diff that Ansible shows."""


def toml_of(targets, trial, persist):
    """Return the text of a settings file for `raidbench apply`. Raises ValueError for a wrong key or value."""
    rows = ["format = 1"]
    if persist:
        rows.append("persist = true")
    if trial:
        rows.append("trial = %d" % trial)
    for table in targets:
        unknown = sorted(set(table) - {"select", "set", "expect", "confirm", "optional"})
        if unknown:
            raise ValueError("unknown key in an entry of settings: %s" % ", ".join(unknown))
        rows += ["", "[[target]]"]
        rows += ["%s = %s" % (key, _value(table[key])) for key in ("confirm", "optional") if table.get(key) is not None]
        for part in ("select", "set", "expect"):
            values = table.get(part) or {}
            if not isinstance(values, dict):
                raise ValueError("%s must be a dictionary of keys and values" % part)
            if values:
                rows.append("[target.%s]" % part)
                rows += ["%s = %s" % (_key(key), _value(value)) for key, value in values.items()]
    return "\n".join(rows) + "\n"


def _key(key):
    """Return a key in quotes, because TOML would split a bare key such as `write_mostly.sda` at its dot."""
    return json.dumps(str(key))


def _value(value):
    """Return a value as TOML, which is written like JSON for these types. Raises ValueError for other types."""
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(_value(item) for item in value)
    if isinstance(value, (bool, int, str)):
        return json.dumps(value, ensure_ascii=False)
    raise ValueError("%r is not a string, an integer, a boolean or a list of these" % (value,))


def main():
    """Entry point: plan the changes, and apply them unless in check mode."""
    module = AnsibleModule(
        argument_spec={
            "targets": {"type": "list", "elements": "dict"},
            "src": {"type": "path"},
            "trial": {"type": "int"},
            "persist": {"type": "bool", "default": False},
            "remaining": {"type": "str", "choices": ["fail", "report"], "default": "fail"},
            "program": {"type": "list", "elements": "str", "default": ["raidbench"]},
        },
        required_one_of=[("targets", "src")],
        mutually_exclusive=[("targets", "src"), ("src", "trial"), ("src", "persist")],
        supports_check_mode=True,
    )
    temporary = None
    try:
        file = module.params["src"]
        if file is None:
            text = toml_of(module.params["targets"], module.params["trial"], module.params["persist"])
            handle, temporary = tempfile.mkstemp(suffix=".toml", dir=module.tmpdir)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            file = temporary
        _apply(module, file)
    except ValueError as error:
        module.fail_json(msg="targets: %s" % error)
    finally:
        if temporary is not None:
            os.unlink(temporary)


def _apply(module, file):
    planned = _run(module, file, ["--dry-run"])
    wanted = [drift for drift in planned["drift"] if drift["kind"] in SETTABLE]
    diff = {
        "before": "".join(_row(drift, drift["now"] if drift["now"] is not None else UNKNOWN) for drift in wanted),
        "after": "".join(_row(drift, drift["wanted"]) for drift in wanted),
    }
    done = planned
    if not module.check_mode and (planned["changes"] or planned["files"]):
        done = _run(module, file, ["--yes"], diff=diff)
    changes = done["changes"]
    verified = [change for change in changes if _is_set(change)]
    remaining = [drift for drift in done["drift"] if drift["kind"] not in SETTABLE]
    result = {
        "changed": bool(verified or done["files"]),
        "diff": diff,
        "changes": changes,
        "commands": [command for change in changes for command in change["commands"]],
        "remaining": remaining,
        "on_trial": bool(module.params["trial"] and verified and not module.check_mode),
    }
    if remaining and module.params["remaining"] == "fail":
        module.fail_json(
            msg="raidbench apply cannot set: %s" % "; ".join(_drift_text(drift) for drift in remaining), **result
        )
    module.exit_json(**result)


def _is_set(change):
    """Return whether a change was made, or would be made in check mode.

    A change with an outcome but without an id was not necessary, and a change that was undone does not count.
    """
    outcome = change.get("outcome")
    if outcome is not None and outcome["id"] is None:
        return False
    return not (change.get("taken_back") or {}).get("taken_back")


def _run(module, file, options, **more):
    """Run `raidbench apply` on a settings file and return its parsed output.

    Fail the task with the message of `apply` if it prints no output or a change failed.
    """
    command = module.params["program"] + ["apply", file, "--json"] + options
    status, out, err = module.run_command(command)
    try:
        answer = json.loads(out)
    except ValueError:
        module.fail_json(
            msg=(err or out or "raidbench printed no output").strip()[-800:], rc=status, command=command, **more
        )
    if status not in VALID_STATUSES:
        error = answer.get("error")
        message = error.get("message") if isinstance(error, dict) else error
        module.fail_json(
            msg=message or _failures(answer) or (err or "raidbench failed with exit status %d" % status).strip()[-800:],
            rc=status,
            changed=bool([change for change in answer.get("changes", []) if not change.get("taken_back")]),
            changes=answer.get("changes", []),
            **more,
        )
    return answer


def _failures(answer):
    """Return a message that lists the changes whose new values could not be verified; "" if there are none."""
    outcomes = [(change, change.get("outcome") or {}) for change in answer.get("changes", [])]
    failed = [
        "%s of %s: %s" % (change["key"], change["target"], outcome.get("message") or outcome.get("result"))
        for change, outcome in outcomes
        if outcome.get("result") != "verified"
    ]
    return "; ".join(failed)


def _row(drift, value):
    return "%s %s = %s\n" % (drift["target"], drift["key"], value)


def _drift_text(drift):
    if not drift["key"]:
        return drift["why"]
    return "%s of %s is %s, should be %s: %s" % (
        drift["key"],
        drift["target"],
        drift["now"],
        drift["wanted"],
        drift["why"],
    )


if __name__ == "__main__":
    main()
