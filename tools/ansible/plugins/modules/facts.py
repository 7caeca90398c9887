#!/usr/bin/python
# MIT licence: see LICENSE of raidbench.
"""What raidbench knows of a host's storage: devices, findings, and the settings as `settings` takes them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: facts
short_description: Storage of a host as raidbench sees it
description:
  - Controllers, arrays and drives with their states, what C(raidbench check) finds, and the settings as tables that
    M(raidbench.storage.settings) takes. Nothing is changed; each card is asked once for each of O(gather).
options:
  gather:
    description: What is asked.
    type: list
    elements: str
    choices: [devices, findings, settings]
    default: [devices, findings]
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
  facts:
    support: full
"""

EXAMPLES = r"""
- name: What is there, and what is wrong with it
  raidbench.storage.facts:

- name: No host with a failed battery
  ansible.builtin.assert:
    that: ansible_facts.raidbench.findings | selectattr('severity', 'equalto', 'fault') | list | length == 0
"""

RETURN = r"""
ansible_facts:
  description: C(raidbench), with a key for each of O(gather).
  type: dict
  returned: always
"""

import json

from ansible.module_utils.basic import AnsibleModule

ASKED = {"devices": (["devices"], (0,)), "findings": (["check"], (0, 5)), "settings": (["export"], (0,))}
"""By what is gathered: the command, and its exit statuses that come with an answer."""
KEPT = {
    "devices": ("controllers", "arrays", "drives", "problems"),
    "findings": ("findings",),
    "settings": ("targets",),
}
"""What of the answer is told; of several keys each under its own name."""


def main():
    """Ask, and tell."""
    module = AnsibleModule(
        argument_spec={
            "gather": {
                "type": "list",
                "elements": "str",
                "choices": sorted(ASKED),
                "default": ["devices", "findings"],
            },
            "program": {"type": "list", "elements": "str", "default": ["raidbench"]},
        },
        supports_check_mode=True,
    )
    found = {}
    for one in module.params["gather"]:
        words, well = ASKED[one]
        status, out, err = module.run_command(module.params["program"] + words + ["--json"])
        try:
            answer = json.loads(out)
        except ValueError:
            answer = None
        if answer is None or status not in well:
            module.fail_json(msg=(err or out or "raidbench gave no answer").strip()[-800:], rc=status)
        told = {key: answer[key] for key in KEPT[one]}
        found[one] = told[KEPT[one][0]] if len(told) == 1 else told
    module.exit_json(changed=False, ansible_facts={"raidbench": found})


if __name__ == "__main__":
    main()
