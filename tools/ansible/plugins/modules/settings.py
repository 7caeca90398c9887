#!/usr/bin/python
# MIT licence: see LICENSE of raidbench.
"""Settings of RAID controllers, software RAID and disks as a desired state, by `raidbench apply` on the host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: settings
short_description: Settings of RAID controllers, software RAID and disks as a desired state
description:
  - Runs C(raidbench apply) on the host. All settings are planned as one set, read back, and recorded in the journal of
    the host, where C(raidbench undo) takes them back. The first step that is not verified takes the set back.
  - Nothing that destroys data is ever done. What only a thing made anew has otherwise, what cannot be changed now and
    what is not there fails the task, unless O(remaining=report).
  - In check mode nothing is changed. O(trial) and O(persist) are those of a file of settings.
options:
  targets:
    description: Tables of a file of settings, each with C(select), C(set), C(expect), C(confirm) and C(optional).
    type: list
    elements: dict
  src:
    description: A file of settings on the host, as C(raidbench export) writes it.
    type: path
  trial:
    description: Seconds after which all of it comes back unless C(raidbench keep) is run. Only with O(targets).
    type: int
  persist:
    description: Whether what a reboot would lose is kept by a file besides. Only with O(targets).
    type: bool
    default: false
  remaining:
    description: What becomes of differences that no file sets.
    type: str
    choices: [fail, report]
    default: fail
  program:
    description: How raidbench is started.
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
- name: Read-ahead of all hard disks, kept over a reboot
  raidbench.storage.settings:
    persist: true
    targets:
      - select: {media: hdd}
        set: {read_ahead_kb: 4096}
        optional: true

- name: As a good machine is
  raidbench.storage.settings:
    src: /etc/raidbench/good.toml
"""

RETURN = r"""
changes:
  description: What was set, or in check mode would be, with what came of it.
  type: list
  returned: always
commands:
  description: The commands of all of that.
  type: list
  returned: always
remaining:
  description: Differences that no file sets.
  type: list
  returned: always
on_trial:
  description: Whether it comes back by itself unless it is kept.
  type: bool
  returned: always
"""

import json
import os
import tempfile

from ansible.module_utils.basic import AnsibleModule

WELL = (0, 5)
"""Exit statuses of `apply` that come with an answer: nothing differs, and something does still."""
SET = ("settable", "not-kept")
"""Differences that `apply` mends."""
UNKNOWN = "?"


def toml_of(targets, trial, persist):
    """A file of settings. Raises ValueError."""
    rows = ["format = 1"]
    if persist:
        rows.append("persist = true")
    if trial:
        rows.append("trial = %d" % trial)
    for one in targets:
        unknown = sorted(set(one) - {"select", "set", "expect", "confirm", "optional"})
        if unknown:
            raise ValueError("a table of settings has no %s" % ", ".join(unknown))
        rows += ["", "[[target]]"]
        rows += ["%s = %s" % (key, _value(one[key])) for key in ("confirm", "optional") if one.get(key) is not None]
        for part in ("select", "set", "expect"):
            values = one.get(part) or {}
            if not isinstance(values, dict):
                raise ValueError("%s of a table has keys and values" % part)
            if values:
                rows.append("[target.%s]" % part)
                rows += ["%s = %s" % (_key(key), _value(value)) for key, value in values.items()]
    return "\n".join(rows) + "\n"


def _key(key):
    """A key, quoted where it has to be: `write_mostly.sda` is one word."""
    return json.dumps(str(key))


def _value(value):
    """A value in TOML, whose words are those of JSON but for what has no place in such a file."""
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(_value(one) for one in value)
    if isinstance(value, (bool, int, str)):
        return json.dumps(value, ensure_ascii=False)
    raise ValueError("%r is neither a word nor a whole number" % (value,))


def main():
    """Plan, and set unless this is check mode."""
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
    own = None
    try:
        file = module.params["src"]
        if file is None:
            text = toml_of(module.params["targets"], module.params["trial"], module.params["persist"])
            handle, own = tempfile.mkstemp(suffix=".toml", dir=module.tmpdir)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            file = own
        _apply(module, file)
    except ValueError as error:
        module.fail_json(msg="targets: %s" % error)
    finally:
        if own is not None:
            os.unlink(own)


def _apply(module, file):
    planned = _run(module, file, ["--dry-run"])
    wanted = [one for one in planned["drift"] if one["kind"] in SET]
    diff = {
        "before": "".join(_row(one, one["now"] if one["now"] is not None else UNKNOWN) for one in wanted),
        "after": "".join(_row(one, one["wanted"]) for one in wanted),
    }
    done = planned
    if not module.check_mode and (planned["changes"] or planned["files"]):
        done = _run(module, file, ["--yes"], diff=diff)
    changes = done["changes"]
    verified = [one for one in changes if _was_set(one)]
    remaining = [one for one in done["drift"] if one["kind"] not in SET]
    result = {
        "changed": bool(verified or done["files"]),
        "diff": diff,
        "changes": changes,
        "commands": [command for one in changes for command in one["commands"]],
        "remaining": remaining,
        "on_trial": bool(module.params["trial"] and verified and not module.check_mode),
    }
    if remaining and module.params["remaining"] == "fail":
        module.fail_json(msg="Not set by a file: %s" % "; ".join(_sentence(one) for one in remaining), **result)
    module.exit_json(**result)


def _was_set(one):
    """Whether a step was, or in check mode would be, set: one without an id had its value already."""
    outcome = one.get("outcome")
    if outcome is not None and outcome["id"] is None:
        return False
    return not (one.get("taken_back") or {}).get("taken_back")


def _run(module, file, words, **more):
    """What `apply` answers; fails the task with its sentence where it gives none, or where a step failed."""
    command = module.params["program"] + ["apply", file, "--json"] + words
    status, out, err = module.run_command(command)
    try:
        answer = json.loads(out)
    except ValueError:
        module.fail_json(
            msg=(err or out or "raidbench gave no answer").strip()[-800:], rc=status, command=command, **more
        )
    if status not in WELL:
        error = answer.get("error")
        said = error.get("message") if isinstance(error, dict) else error
        module.fail_json(
            msg=said or _failures(answer) or (err or "raidbench ended with %d" % status).strip()[-800:],
            rc=status,
            changed=bool([one for one in answer.get("changes", []) if not one.get("taken_back")]),
            changes=answer.get("changes", []),
            **more,
        )
    return answer


def _failures(answer):
    """The steps that were not verified, in words."""
    steps = [(one, one.get("outcome") or {}) for one in answer.get("changes", [])]
    failed = [
        "%s of %s: %s" % (one["key"], one["target"], ended.get("message") or ended.get("result"))
        for one, ended in steps
        if ended.get("result") != "verified"
    ]
    return "; ".join(failed)


def _row(drift, value):
    return "%s %s = %s\n" % (drift["target"], drift["key"], value)


def _sentence(drift):
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
