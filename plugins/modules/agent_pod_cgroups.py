#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that reads back what the Volcano agent wrote for a pod."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_pod_cgroups
short_description: Read what the Volcano agent wrote for a pod (internal)
version_added: 0.1.0
description:
  - Finds the cgroups of a pod and its container by their ids, and holds what stands in their files against what should.
  - Internal to the collection; M(volcano.colocation.agent_smoke_test) returns its options. It does not fail for a value
    that differs; RV(verified) is then V(false).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  root:
    description: Take every path below this folder, to examine a recorded tree.
    type: path
    default: /
  uid:
    description: The pod's UID.
    type: str
    required: true
  container:
    description: The id of its container.
    type: str
    required: true
  runtime:
    description: The runtime, whose name is part of a container's cgroup.
    type: str
    choices: [containerd, cri-o, docker]
    required: true
  cgroup_driver:
    description: kubelet's cgroup driver.
    type: str
    aliases: [driver]
    choices: [systemd, cgroupfs]
    required: true
  cgroup_root:
    description: kubelet's C(cgroupRoot).
    type: str
    default: /
  qos_class:
    description: The pod's class.
    type: str
    choices: [guaranteed, burstable, besteffort]
    default: burstable
  expected:
    description: What should stand where.
    type: list
    elements: dict
    required: true
    suboptions:
      feature:
        description: The feature of the agent that writes it.
        type: str
        required: true
      level:
        description: Whose cgroup.
        type: str
        choices: [pod, container]
        required: true
      controller:
        description: The controller whose hierarchy it is in on v1.
        type: str
        required: true
      file:
        description: The file.
        type: str
        required: true
      value:
        description: Its text.
        type: str
        required: true
        aliases: [wanted]
attributes:
  check_mode:
    support: full
    details: [It never changes anything.]
  diff_mode:
    support: none
"""

EXAMPLES = r"""
- name: Read a pod's weight
  volcano.colocation.agent_pod_cgroups:
    uid: 66666666-7777-8888-9999-aaaaaaaaaaaa
    container: 2b1f6c1f1d0a1d3f4e5c6b7a8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e
    runtime: containerd
    cgroup_driver: systemd
    expected:
      - {feature: Resources, level: pod, controller: cpu, file: cpu.weight, value: "20"}
"""

RETURN = r"""
settings:
  description:
    - Each of O(expected) with its C(value), its C(path), the text that is there in C(actual), whether both are the same
      in C(verified), and in C(reason) why that is unknown.
  returned: success
  type: list
  elements: dict
verified:
  description: Whether all of them are verified.
  returned: success
  type: bool
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.agent.pod_probe import PodCgroups, compare_cgroup_values
from ..module_utils.cgroup.kubelet_names import Driver, QosClass
from ..module_utils.errors import ColocationError
from ..module_utils.host import Host
from ..module_utils.safe_text import printable, printable_result

EXPECTED = {
    "feature": {"type": "str", "required": True},
    "level": {"type": "str", "choices": ["pod", "container"], "required": True},
    "controller": {"type": "str", "required": True},
    "file": {"type": "str", "required": True},
    "value": {"type": "str", "required": True, "aliases": ["wanted"]},
}
ARGUMENTS = {
    "root": {"type": "path", "default": "/"},
    "uid": {"type": "str", "required": True},
    "container": {"type": "str", "required": True},
    "runtime": {"type": "str", "choices": ["containerd", "cri-o", "docker"], "required": True},
    "cgroup_driver": {
        "type": "str",
        "choices": ["systemd", "cgroupfs"],
        "required": True,
        "aliases": ["driver"],
    },
    "cgroup_root": {"type": "str", "default": "/"},
    "qos_class": {"type": "str", "choices": ["guaranteed", "burstable", "besteffort"], "default": "burstable"},
    "expected": {"type": "list", "elements": "dict", "required": True, "options": EXPECTED},
}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    options = module.params
    cgroups = PodCgroups(
        options["uid"],
        options["container"],
        options["runtime"],
        Driver(options["cgroup_driver"]),
        options["cgroup_root"],
        QosClass(options["qos_class"]),
    )
    try:
        values = compare_cgroup_values(Host.below(options["root"]), cgroups, options["expected"])
    except ColocationError as error:
        module.fail_json(msg=printable(str(error)))
    result = {"changed": False, "settings": values, "verified": all(value["verified"] for value in values)}
    module.exit_json(**printable_result(result))


if __name__ == "__main__":
    main()
