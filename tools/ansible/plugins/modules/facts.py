#!/usr/bin/python
# MIT licence: see LICENSE of raidbench.
"""Facts about the storage of a host: devices, findings, and settings in the form that `settings` accepts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: facts
short_description: Gather facts about RAID controllers, arrays and drives
description:
  - Returns controllers, arrays and drives with their states, the findings of C(raidbench check), and the settings as
    tables that M(raidbench.storage.settings) accepts.
  - The module changes nothing. It queries each controller once for each element of O(gather).
options:
  gather:
    description: Facts to gather.
    type: list
    elements: str
    choices: [devices, findings, settings]
    default: [devices, findings]
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
  facts:
    support: full
"""

EXAMPLES = r"""
- name: Gather devices and findings
  raidbench.storage.facts:

- name: Fail for hosts with a fault
  ansible.builtin.assert:
    that: ansible_facts.raidbench.findings | selectattr('severity', 'equalto', 'fault') | list | length == 0
"""

RETURN = r"""
ansible_facts:
  description: Variable C(raidbench), with one key for each element of O(gather).
  type: dict
  returned: always
"""

import json

from ansible.module_utils.basic import AnsibleModule

COMMANDS = {"devices": (["devices"], (0,)), "findings": (["check"], (0, 5)), "settings": (["export"], (0,))}
"""Command of raidbench by kind of facts, and the exit statuses with which it prints valid output."""
OUTPUT_KEYS = {
    "devices": ("controllers", "arrays", "drives", "problems"),
    "findings": ("findings",),
    "settings": ("targets",),
}
"""Keys of the command's JSON output to return, by kind of facts. The value of a single key is returned directly."""


def main():
    """Run the commands and give the facts to Ansible."""
    module = AnsibleModule(
        argument_spec={
            "gather": {
                "type": "list",
                "elements": "str",
                "choices": sorted(COMMANDS),
                "default": ["devices", "findings"],
            },
            "program": {"type": "list", "elements": "str", "default": ["raidbench"]},
        },
        supports_check_mode=True,
    )
    facts = {}
    for kind in module.params["gather"]:
        argv, valid_statuses = COMMANDS[kind]
        status, out, err = module.run_command(module.params["program"] + argv + ["--json"])
        try:
            answer = json.loads(out)
        except ValueError:
            answer = None
        if answer is None or status not in valid_statuses:
            module.fail_json(msg=(err or out or "raidbench printed no output").strip()[-800:], rc=status)
        values = {key: answer[key] for key in OUTPUT_KEYS[kind]}
        facts[kind] = values[OUTPUT_KEYS[kind][0]] if len(values) == 1 else values
    module.exit_json(changed=False, ansible_facts={"raidbench": facts})


if __name__ == "__main__":
    main()
