# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All of a node that has to be the same again after a restore, by the node's own word. cgroup v1 and v2."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.volcano.colocation.tests.system.node import Node, lab

OURS = "ls -d /var/lib/volcano-colocation /usr/local/lib/volcano-colocation 2>/dev/null || true"
FOLDERS = "/etc /var/lib/kubelet"
# Of the pods only volumes and logs are there, made anew with them. The others are checkpoints that kubelet was writing
# when it was stopped; it reads no such file.
LEFT_OUT = "'(' -path /var/lib/kubelet/pods -o -regex '/var/lib/kubelet/[.][0-9]+' ')' -prune"
FILES = f"""find {FOLDERS} {LEFT_OUT} -o -printf '%y %m %U %G %p %l\\n' | sort
find {FOLDERS} {LEFT_OUT} -o -type f -exec sha256sum {{}} + | sort"""
ATTRIBUTES = f"""find {FOLDERS} {LEFT_OUT} -o -type f -print | sort | python3 -c '
import os, sys
for path in sys.stdin.read().splitlines():
    for name in os.listxattr(path):
        print(path, name, os.getxattr(path, name))'"""
UNITS = "kubelet containerd kubepods.slice kubepods-burstable.slice kubepods-besteffort.slice system.slice"
PROPERTIES = "CPUWeight,CPUQuotaPerSecUSec,MemoryMin,MemoryLow,MemoryHigh,MemoryMax,TasksMax,AllowedCPUs,ActiveState"
VALUES = (
    "cpu.weight cpu.max cpu.idle cpu.max.burst memory.min memory.low memory.high memory.max pids.max cpuset.cpus"
    " cpuset.mems cpu.shares cpu.cfs_quota_us cpu.cfs_period_us memory.limit_in_bytes memory.soft_limit_in_bytes"
)
CGROUPS = f"""find /sys/fs/cgroup -type d -regextype egrep \\
  -regex '.*/(system[.]slice|kubepods[.]slice(/kubepods-[a-z]+[.]slice)?|kubepods(/[a-z]+)?)' | sort |
while read folder; do
  for name in {VALUES}; do
    if [ -f $folder/$name ]; then echo $folder $name $(cat $folder/$name); fi
  done
done"""
AWAIT_KUBELET = Path(__file__).with_name("await_kubelet.py")


def settle(node: Node, driver: str) -> None:
    """Wait until kubelet has written all that it sets of its classes, which it does within a minute of its start."""
    lab("ssh", node.name, "--", f"python3 - {driver}", text=AWAIT_KUBELET.read_text())


def cgroups(node: Node) -> str:
    """One line a setting: its folder, its name, its value."""
    return node.shell(CGROUPS)


def state(node: Node) -> dict[str, str]:
    """What is compared, by what it is."""
    return {
        "files": node.shell(FILES),
        "attributes": node.shell(ATTRIBUTES),
        "units": node.shell(f"systemctl show --property {PROPERTIES} {UNITS}"),
        "cgroups": cgroups(node),
        "pods": node.shell("ctr -n k8s.io tasks ls -q | wc -l"),
    }
