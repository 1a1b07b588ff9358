#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that gives cgroups of pods and slices settings that last."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cgroup_qos
short_description: Set CPU, memory, IO and other limits of pods, QoS classes and slices so that they last
version_added: 0.1.0
description:
  - Sets knobs of cgroups by neutral names and in people's units, on cgroup v1 and v2, under the systemd and the
    cgroupfs driver. The knobs are listed in C(docs/knobs.md).
  - A knob that systemd knows is set over D-Bus on a cgroup that is a systemd unit, because systemd sooner or later
    undoes what anyone else writes there. All other knobs are written into the kernel's files.
  - What kubelet writes itself on a cgroup is refused, and so is what would harm kubelet, such as C(cpu_idle) on a
    QoS class.
  - Reads back what was set. When one of several settings fails, those made before it are put back.
  - Values are compared after the rounding of systemd and the kernel, so that a second run writes nothing. A value that
    somebody wrote past systemd is repaired.
  - Remembers in C(/var/lib/volcano-colocation/qos.json) what was there before, for O(state=absent), and while there are
    persistent settings keeps C(volcano-colocation-qos.service) installed, which applies them again at boot and whenever
    kubelet starts.
  - In check mode RV(settings) tells what has drifted, and the likely cause.
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
      - A QoS class of kubelet's. Guaranteed pods have no cgroup of their own, so V(guaranteed) is that of all pods.
      - One of O(qos_class), O(slice), O(pod) and O(path) is required.
    type: str
    choices: [guaranteed, burstable, besteffort]
  level:
    description: With O(qos_class), whether the class itself is meant or each of its pods that is on the node now.
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
        description: The pod's UID; of a static pod the hash of its manifest, which is in the names of its cgroups.
        type: str
      namespace:
        description: The pod's namespace. The runtime is asked over CRI for the UID.
        type: str
      name:
        description: The pod's name.
        type: str
  path:
    description:
      - A cgroup as a path without a leading slash, below O(cgroup_root) or, on cgroup v1, below each hierarchy.
      - Never followed through a symbolic link.
    type: str
  settings:
    description:
      - Values by the name of the knob, such as C(cpu_quota), C(memory_high) or C(pids_max).
      - Bytes as V(4Gi), CPU time in CPUs as V(2.5), both also as a part of the node as V(50%); V(max) is no limit.
      - A knob without a value (C(null)) is put back to what it was before this module set it first.
      - Required, and of use, with O(state=present) only.
    type: dict
  state:
    description:
      - With V(absent) every knob of the target that this module has set goes back to what it was before.
        A target that is gone is forgotten, and what the kernel never takes back stays.
    type: str
    choices: [present, absent]
    default: present
  unsupported:
    description: Whether a knob that this node cannot have is an error or skipped, with the reason in RV(unsupported).
    type: str
    choices: [fail, skip]
    default: fail
  persistent:
    description: Whether the settings are applied again at the next boot and when kubelet starts.
    type: bool
    default: true
  cpus:
    description: The number of CPUs that a percentage is a part of. By default those of the node that are online.
    type: float
  memory:
    description: The memory that a percentage is a part of, such as V(64Gi). By default that of the node.
    type: str
  cgroup_driver:
    description:
      - Kubelet's cgroup driver.
      - With V(auto) the one in whose tree processes are; a node that shows neither or both is an error.
    type: str
    choices: [auto, systemd, cgroupfs]
    default: auto
  kubelet_cgroup_root:
    description: The C(cgroupRoot) of kubelet's configuration.
    type: str
    default: /
  kubelet_root_dir:
    description: Kubelet's C(--root-dir); its C(cpu_manager_state) tells whether pods are pinned to CPUs.
    type: path
    default: /var/lib/kubelet
    aliases: [kubelet_root]
  kubelet_version:
    description:
      - Kubelet's version, such as V(1.31). It decides what kubelet writes itself.
      - Unless it is given, a knob that any version writes is refused.
    type: str
  memory_qos:
    description:
      - Whether the feature gate C(MemoryQoS) is on, with which kubelet writes memory protection itself. From 1.37 on it
        does so with the gate on or off.
      - Unless it is given, the default of O(kubelet_version) counts.
    type: bool
  cgroup_root:
    description: Where the cgroups are. Another folder than the default is taken as plain files, without systemd.
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

- name: Let offline pods run only on CPUs that nobody else wants
  volcano.colocation.cgroup_qos:
    qos_class: besteffort
    level: pods
    settings:
      cpu_idle: true
    unsupported: skip

- name: Let an online pod use for a moment what it saved before
  volcano.colocation.cgroup_qos:
    pod:
      namespace: shop
      name: checkout-0
    settings:
      cpu_burst: 200ms
    cgroup_driver: systemd

- name: Give system services the weight of the four CPUs that are reserved for them
  volcano.colocation.cgroup_qos:
    slice: system.slice
    settings:
      cpu_weight: 400

- name: Put everything back that was set on offline pods
  volcano.colocation.cgroup_qos:
    qos_class: besteffort
    state: absent
"""

RETURN = r"""
control_group:
  description: The cgroup that was meant, as systemd writes it; with O(level=pods) the one that all of them are in.
  returned: success
  type: str
  sample: /kubepods.slice/kubepods-besteffort.slice
settings:
  description: Each knob of each cgroup. In check mode what would be.
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
      description: What the kernel said before; V(max) is no limit.
      type: str
    after:
      description: What the kernel says now, after rounding.
      type: str
    backend:
      description: Whether systemd was asked over D-Bus, or the kernel's file written.
      type: str
      choices: [dbus, file]
    changed:
      description: Whether it was not so already.
      type: bool
    cause:
      description: Why a setting of ours was not as we left it, as far as that shows; empty otherwise.
      type: str
unsupported:
  description: The knobs that this node cannot have and that were skipped, because O(unsupported=skip) says so.
  returned: success
  type: list
  elements: dict
  contains:
    knob:
      description: The name of the knob.
      type: str
    reason:
      description: Why this node cannot have it.
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
    """Where the engine that applies the record again begins.

    Not called: that it is named makes Ansible ship it, and to import it would take as long as the module's own imports.
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
