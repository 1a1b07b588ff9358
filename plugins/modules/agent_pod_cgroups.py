#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that compares the cgroup values of a pod with those that the Volcano agent should write."""

from __future__ import annotations

DOCUMENTATION = r"""
module: agent_pod_cgroups
short_description: Verify a pod's cgroup values (internal)
version_added: 0.1.0
description:
  - Finds the cgroups of a pod and its container by their ids, and compares values in their files with expected ones.
  - Internal to the collection. M(volcano.colocation.agent_smoke_test) returns its options. It does not fail if a value
    differs; RV(verified) is then V(false).
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  root:
    description: Prefix of all paths, to examine a recorded tree.
    type: path
    default: /
  uid:
    description: The pod's UID.
    type: str
    required: true
  container:
    description: The id of the pod's container.
    type: str
    required: true
  runtime:
    description: The container runtime, which determines the name of a container's cgroup.
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
    description: The pod's QoS class.
    type: str
    choices: [guaranteed, burstable, besteffort]
    default: burstable
  expected:
    description: The expected values.
    type: list
    elements: dict
    required: true
    suboptions:
      feature:
        description: The feature of the agent that writes the value.
        type: str
        required: true
      level:
        description: Whether the value is in the cgroup of the pod or of its container.
        type: str
        choices: [pod, container]
        required: true
      controller:
        description: The controller, which selects the hierarchy on cgroup v1.
        type: str
        required: true
      file:
        description: Name of the file.
        type: str
        required: true
      value:
        description: Expected text of the file.
        type: str
        required: true
        aliases: [wanted]
  timeout:
    description: Seconds to wait until all values are verified.
    type: int
    default: 0
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
    - The elements of O(expected), each with its C(value), its C(path), the C(actual) text, whether both are equal in
      C(verified), and in C(reason) why the file cannot be read.
  returned: success
  type: list
  elements: dict
verified:
  description: Whether all values are verified.
  returned: success
  type: bool
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.agent.pod_probe import PodCgroups, compare_cgroup_values, wait_until_verified
from ..module_utils.cgroup.kubelet_names import Driver, QosClass
from ..module_utils.errors import ColocationError
from ..module_utils.host import Clock, Host
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
    "timeout": {"type": "int", "default": 0},
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
        host = Host.below(options["root"])
        compare = partial(compare_cgroup_values, host, cgroups, options["expected"])
        values = wait_until_verified(compare, options["timeout"], Clock())
    except ColocationError as error:
        module.fail_json(msg=printable(str(error)))
    result = {"changed": False, "settings": values, "verified": all(value["verified"] for value in values)}
    module.exit_json(**printable_result(result))


if __name__ == "__main__":
    main()
