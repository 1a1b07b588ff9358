#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Set persistent resource limits on cgroups of pods, QoS classes and slices."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cgroup_qos
short_description: Set persistent resource limits of pods, QoS classes and slices
version_added: 0.1.0
description:
  - Sets knobs of cgroups with names and units that are the same on cgroup v1 and v2 and for the systemd and cgroupfs
    drivers. C(docs/qos.md) lists the knobs.
  - On a cgroup that is a systemd unit, knobs that systemd supports are set over D-Bus, because systemd eventually
    reverts other writes. All other knobs are written to the kernel's files.
  - Knobs that kubelet writes itself on a cgroup are refused, and so are knobs that would disrupt kubelet, such as
    C(cpu_idle) on a QoS class.
  - Verifies each setting by reading it back. If one of several settings fails, the previous ones are rolled back.
  - Values are compared after rounding by systemd and the kernel, so a second run writes nothing. A value that another
    program wrote past systemd is corrected.
  - Records the previous values in C(/var/lib/volcano-colocation/qos.json) for O(state=absent). While there are
    persistent settings, C(volcano-colocation-qos.service) is installed, which applies them again at boot and whenever
    kubelet starts.
  - In check mode RV(settings) shows which settings have drifted, and the likely cause.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
options:
  qos_class:
    description:
      - A QoS class of kubelet. Guaranteed pods have no cgroup for their class, so V(guaranteed) is that of all pods.
      - One of O(qos_class), O(slice), O(pod) and O(path) is required.
    type: str
    choices: [guaranteed, burstable, besteffort]
  level:
    description: With O(qos_class), whether to set the class's cgroup or the cgroup of each of its pods on the node now.
    type: str
    choices: [class, pods]
    default: class
  slice:
    description: A slice of systemd, such as V(system.slice).
    type: str
  pod:
    description: A pod on this node, by O(pod.uid) or by O(pod.namespace) and O(pod.name).
    type: dict
    suboptions:
      uid:
        description: The pod's UID. For a static pod, the hash of its manifest, which is in the names of its cgroups.
        type: str
      namespace:
        description: The pod's namespace. The module gets the UID from the runtime over CRI.
        type: str
      name:
        description: The pod's name.
        type: str
  path:
    description:
      - A cgroup as a path without a leading slash, below O(cgroup_root) or, on cgroup v1, below each hierarchy.
      - Symbolic links are never followed.
    type: str
  settings:
    description:
      - Values by the name of the knob, such as C(cpu_quota), C(memory_high) or C(pids_max).
      - Bytes such as V(4Gi), CPU time in CPUs such as V(2.5), both also as a percentage of the node such as V(50%).
        V(max) means no limit.
      - A knob without a value (C(null)) is restored to its value before this module first set it.
      - Required with O(state=present), ignored with O(state=absent).
    type: dict
  state:
    description:
      - V(present) sets the knobs in O(settings).
      - V(absent) restores all knobs of the target that this module has set to their previous values. For a target that
        no longer exists, only the record is deleted. Values that the kernel does not allow to be reset stay.
    type: str
    choices: [present, absent]
    default: present
  unsupported:
    description: Whether a knob that this node does not support is an error or is skipped, see RV(unsupported).
    type: str
    choices: [fail, skip]
    default: fail
  persistent:
    description: Whether the settings are applied again at boot and whenever kubelet starts.
    type: bool
    default: true
  cpus:
    description: The number of CPUs that is 100%. By default the number of online CPUs of the node.
    type: float
  memory:
    description: The amount of memory that is 100%, such as V(64Gi). By default the memory of the node.
    type: str
  cgroup_driver:
    description:
      - Kubelet's cgroup driver.
      - V(auto) detects the driver whose cgroup tree contains processes. It is an error if neither or both trees do.
    type: str
    choices: [auto, systemd, cgroupfs]
    default: auto
  kubelet_cgroup_root:
    description: The C(cgroupRoot) of kubelet's configuration.
    type: str
    default: /
  kubelet_root_dir:
    description: Kubelet's C(--root-dir). Its C(cpu_manager_state) shows whether pods are pinned to CPUs.
    type: path
    default: /var/lib/kubelet
    aliases: [kubelet_root]
  kubelet_version:
    description:
      - Kubelet's version, such as V(1.31). It determines which knobs kubelet writes itself.
      - If it is not set, knobs that any version writes are refused.
    type: str
  memory_qos:
    description:
      - Whether the feature gate C(MemoryQoS) is enabled, with which kubelet writes memory protection itself. From 1.37
        on kubelet does so with the gate enabled or disabled.
      - If it is not set, the default of O(kubelet_version) is used.
    type: bool
  cgroup_root:
    description: The cgroups' mount point. Directories other than the default are plain files, without systemd.
    type: path
    default: /sys/fs/cgroup
"""

EXAMPLES = r"""
- name: Cap offline pods at half of the node, and throttle them before they run out of memory
  volcano.colocation.cgroup_qos:
    qos_class: besteffort
    settings:
      cpu_quota: 50%
      memory_high: 40%
      pids_max: 20000

- name: Let offline pods use only idle CPU time
  volcano.colocation.cgroup_qos:
    qos_class: besteffort
    level: pods
    settings:
      cpu_idle: true
    unsupported: skip

- name: Let an online pod exceed its CPU quota for short bursts
  volcano.colocation.cgroup_qos:
    pod:
      namespace: shop
      name: checkout-0
    settings:
      cpu_burst: 200ms
    cgroup_driver: systemd

- name: Give system services the weight of their four reserved CPUs
  volcano.colocation.cgroup_qos:
    slice: system.slice
    settings:
      cpu_weight: 400

- name: Restore all settings of offline pods
  volcano.colocation.cgroup_qos:
    qos_class: besteffort
    state: absent
"""

RETURN = r"""
control_group:
  description: The target's cgroup in systemd's notation. With O(level=pods) the parent cgroup of the pods.
  returned: success
  type: str
  sample: /kubepods.slice/kubepods-besteffort.slice
settings:
  description: The knobs of all cgroups. In check mode the predicted result.
  returned: success
  type: list
  elements: dict
  contains:
    cgroup:
      description: The cgroup, as a path below the cgroup root.
      type: str
    knob:
      description: The name of the knob.
      type: str
    before:
      description: The kernel's value before the run. V(max) means no limit.
      type: str
    after:
      description: The kernel's value after the run, with its rounding.
      type: str
    backend:
      description: Whether the value was set by systemd over D-Bus or written to the kernel's file.
      type: str
      choices: [dbus, file]
    changed:
      description: Whether the value was changed.
      type: bool
    cause:
      description: The likely cause if a setting of this module has drifted, else empty.
      type: str
unsupported:
  description: The knobs that this node does not support and that were skipped because of O(unsupported=skip).
  returned: success
  type: list
  elements: dict
  contains:
    knob:
      description: The name of the knob.
      type: str
    reason:
      description: Why this node does not support it.
      type: str
"""

from typing import Callable

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.cgroup_qos import setting_run
from ..module_utils.cgroup_qos.setting_request import to_result, warnings
from ..module_utils.errors import ColocationError
from ..module_utils.host import Clock, Host
from ..module_utils.safe_text import one_line, printable, printable_result
from ..module_utils.snapshot.immutable_systems import SERVICES, UNTIL_BOOT, require_changeable

ARGUMENTS = {
    "qos_class": {"type": "str", "choices": ["guaranteed", "burstable", "besteffort"]},
    "level": {"type": "str", "choices": ["class", "pods"], "default": "class"},
    "slice": {"type": "str"},
    "pod": {
        "type": "dict",
        "options": {"uid": {"type": "str"}, "namespace": {"type": "str"}, "name": {"type": "str"}},
        "mutually_exclusive": [("uid", "namespace"), ("uid", "name")],
        "required_one_of": [("uid", "name")],
        "required_together": [("namespace", "name")],
    },
    "path": {"type": "str"},
    "settings": {"type": "dict"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "unsupported": {"type": "str", "choices": ["fail", "skip"], "default": "fail"},
    "persistent": {"type": "bool", "default": True},
    "cpus": {"type": "float"},
    "memory": {"type": "str"},
    "cgroup_driver": {"type": "str", "choices": ["auto", "systemd", "cgroupfs"], "default": "auto"},
    "kubelet_cgroup_root": {"type": "str", "default": "/"},
    "kubelet_root_dir": {"type": "path", "default": "/var/lib/kubelet", "aliases": ["kubelet_root"]},
    "kubelet_version": {"type": "str"},
    "memory_qos": {"type": "bool"},
    "cgroup_root": {"type": "path", "default": "/sys/fs/cgroup"},
}
TARGETS = ("qos_class", "slice", "pod", "path")


def engine() -> tuple[Callable[[list[str]], int], ...]:
    """Entry points of the engine that applies the record again.

    Not called. Naming them makes Ansible ship the engine; importing it would take as long as the module's own imports.
    """
    from ..module_utils.settings import reapply
    from ..module_utils.transaction import cli

    return cli.main, reapply.main


def main() -> None:
    module = AnsibleModule(
        ARGUMENTS,
        supports_check_mode=True,
        mutually_exclusive=[TARGETS],
        required_one_of=[TARGETS],
        required_if=[("state", "present", ["settings"])],
    )
    host = Host()
    try:
        if module.params["state"] == "present":
            require_changeable(host, SERVICES if module.params["persistent"] else UNTIL_BOOT)
        plan = (
            setting_run.predict(host, module.params)
            if module.check_mode
            else setting_run.execute(host, module.params, Clock())
        )
    except ColocationError as error:
        module.fail_json(msg=printable(str(error)))
    for warning in warnings(plan):
        module.warn(one_line(warning))
    module.exit_json(**printable_result(to_result(plan)))


if __name__ == "__main__":
    main()
