#!/usr/bin/python
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Create, change and remove systemd slices."""

from __future__ import annotations

DOCUMENTATION = r"""
module: systemd_slice
short_description: Create, change and remove systemd slices
version_added: 0.1.0
description:
  - Manages a slice and its resource-control settings on cgroup v1 and v2. The settings persist after
    C(systemctl daemon-reload), C(systemctl set-property) by another tool, a restart of kubelet and a reboot.
  - Values of an active slice are set in one D-Bus call with C(busctl), which ships with systemd. systemd reloads unit
    files (C(daemon-reload)) only if something other than values changes in a file that systemd has loaded, or if a
    slice is removed.
  - A slice that starts at boot gets a unit file, C(/etc/systemd/system/NAME.slice), and a link in
    C(slices.target.wants). A slice of another owner gets a drop-in,
    C(/etc/systemd/system/NAME.slice.d/50-volcano-colocation.conf), and this module neither starts nor stops it.
    These are the slices of kubelet (C(kubepods.slice) and those in it), transient slices, and slices with a unit file
    outside C(/etc/systemd/system), such as C(system.slice).
  - The first line of each file names this collection. A file without this line is never overwritten or removed.
  - A slice C(a-b.slice) is in C(a.slice). systemd creates the outer slices.
author:
  - The volcano.colocation authors (@volcano-sh)
extends_documentation_fragment:
  - volcano.colocation.attributes
options:
  name:
    description: The name of the slice, such as V(kube-reserved.slice). Each dash stands for one level.
    type: str
    required: true
  state:
    description:
      - V(present) starts the slice, now and at boot.
      - V(absent) stops and removes the slice, unless it contains a process or another unit. For a slice of another
        owner, only this module's drop-in is removed, and its properties return to the values in other files or to
        systemd's defaults.
    type: str
    choices: [present, absent]
    default: present
  properties:
    description:
      - Resource-control settings with the names and syntax of unit files, see C(systemd.resource-control(5\)).
      - V(null) or an empty string sets systemd's default explicitly. A property that an earlier run wrote to the unit
        file and that is no longer listed returns to its default too. Other properties are not changed.
      - V(CPUQuota) must be a whole percentage, because systemd does not store fractions.
      - Settings for devices take a list, such as V(["/dev/vda 10M"]).
      - V(AllowedCPUs), V(AllowedMemoryNodes), V(MemoryMin), V(MemoryLow), V(MemoryHigh) and V(MemoryZSwapMax) are also
        written on cgroup v1, but systemd applies them only on v2.
    type: dict
    default: {}
  description:
    description: The description in the unit file.
    type: str
  persistent:
    description:
      - Whether the slice persists after a reboot. With V(false) no file is written and the values are only set over
        D-Bus. A file of an earlier run is removed.
    type: bool
    default: true
  before:
    description: Units that start after the slice at boot.
    type: list
    elements: str
    default: [kubelet.service]
  controllers:
    description:
      - Controllers that the slice's cgroup must have, as kubelet requires for the cgroups of reservations. On cgroup v1
        these are the hierarchies in which the cgroup is created.
      - For controllers that systemd supports, a property without limit is set (V(CPUWeight=100), V(MemoryAccounting),
        V(TasksAccounting), V(IOAccounting), V(AllowedCPUs) with all CPUs), unless O(properties) sets one.
      - For all others, such as V(hugetlb) and on v1 V(cpuset), C(volcano-colocation-cgroups-NAME.service) creates the
        cgroup whenever the slice starts. A new v1 cpuset gets the CPUs and memory nodes of its parent.
      - A controller that the node does not have is an error.
    type: list
    elements: str
    default: []
  root:
    description:
      - Resolve all paths below this directory, to prepare an image of a node. Then only files are written and no
        program is run.
      - Symbolic links are resolved inside this directory, as with C(chroot). No other user may change links there
        during the run.
    type: path
    default: /
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
seealso:
  - name: systemd.resource-control(5)
    description: The properties.
    link: https://www.freedesktop.org/software/systemd/man/systemd.resource-control.html
"""

EXAMPLES = r"""
- name: Create a slice for the node's own services, with more CPU time than pods get by default
  volcano.colocation.systemd_slice:
    name: node-agents.slice
    properties:
      CPUWeight: 500
      MemoryHigh: 2G
      TasksMax: 4096

- name: Create the cgroup of kubelet's kubeReservedCgroup, which must exist before kubelet starts
  volcano.colocation.systemd_slice:
    name: kube-reserved.slice
    controllers: [cpu, cpuset, memory, pids, hugetlb]

- name: Limit the CPU time of all BestEffort pods, whose slice belongs to kubelet
  volcano.colocation.systemd_slice:
    name: kubepods-besteffort.slice
    properties:
      CPUQuota: 250%

- name: Reset a property to systemd's default
  volcano.colocation.systemd_slice:
    name: node-agents.slice
    properties:
      CPUWeight: 500
      MemoryHigh:

- name: Remove the slice
  volcano.colocation.systemd_slice:
    name: node-agents.slice
    state: absent
"""

RETURN = r"""
properties:
  description:
    - The effective resource-control properties from systemd over D-Bus, with the names of C(systemctl show).
      V(infinity) means no limit or a weight that is not set. CPUs and memory nodes are lists such as V(0-3).
    - In check mode the properties before the change. Empty with O(root).
  returned: success
  type: dict
  sample: {"CPUWeight": 500, "MemoryHigh": 2147483648, "TasksMax": 4096, "AllowedCPUs": ""}
first_boot:
  description: What the first boot of the image does with the slice, one line for each action. The same in check mode.
  returned: with O(root)
  type: list
  elements: str
status:
  description: State and usage of the slice. Values that are not measured are null.
  returned: success
  type: dict
  contains:
    active_state:
      description: V(active) or V(inactive).
      type: str
      returned: success
    sub_state:
      description: systemd's C(SubState).
      type: str
      returned: success
    tasks:
      description: Number of tasks in the slice, including its children.
      type: int
      returned: success
    memory:
      description: Bytes in use.
      type: int
      returned: success
    cpu_seconds:
      description: CPU time used so far, in seconds.
      type: float
      returned: success
    pressure:
      description: Pressure stall information by resource, on cgroup v2.
      type: dict
      returned: success
control_group:
  description: The path of the slice's cgroup, empty while it is inactive.
  returned: success
  type: str
  sample: /node.slice/node-agents.slice
parents:
  description: The slices that contain this one, the nearest last. systemd creates those without a unit file.
  returned: success
  type: list
  elements: str
  sample: [node.slice]
unit_file:
  description: The file with the settings of a persistent slice.
  returned: success
  type: str
  sample: /etc/systemd/system/node-agents.slice
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.errors import ColocationError
from ..module_utils.host import Host
from ..module_utils.safe_text import one_line, printable, printable_result
from ..module_utils.slices import unit_plan, unit_result
from ..module_utils.snapshot.immutable_systems import UNIT_FILES, UNTIL_BOOT, require_changeable

ARGUMENTS = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "properties": {"type": "dict", "default": {}},
    "description": {"type": "str"},
    "persistent": {"type": "bool", "default": True},
    "before": {"type": "list", "elements": "str", "default": ["kubelet.service"]},
    "controllers": {"type": "list", "elements": "str", "default": []},
    "root": {"type": "path", "default": "/"},
}


def main() -> None:
    module = AnsibleModule(ARGUMENTS, supports_check_mode=True)
    try:
        host = Host.below(module.params["root"])
        if module.params["state"] == "present":
            require_changeable(host, UNIT_FILES if module.params["persistent"] else UNTIL_BOOT)
        if module.check_mode:
            work = unit_result.prepare(host, module.params)
            unit = work.state.unit
        else:
            work, unit = unit_result.execute(host, module.params)
        result = unit_result.to_result(host, work, unit)
    except ColocationError as error:
        module.fail_json(msg=printable(str(error)))
    for warning in unit_result.warnings(work):
        module.warn(one_line(warning))
    difference = unit_plan.render_diff(work.request, work.state, work.plan)
    module.exit_json(**printable_result({"changed": work.plan.changed, "diff": difference, **result}))


if __name__ == "__main__":
    main()
